import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { formats } from './registry.ts'

test('docs/formats.md lists every file format in the order in which a file is tried, and says which are written', () => {
  const [, rows = ''] = readFileSync('docs/formats.md', 'utf8').split(
    '| format | opens | writes |\n| --- | --- | --- |',
  )
  const [table = ''] = rows.split('\n\n')
  const listed = Array.from(table.matchAll(/^\| `([\w-]+)` \| .+ \| (.+) \|$/gm), ([, name, writes]) => ({
    name,
    isWritten: writes !== '–',
  }))
  expect(listed).toEqual(formats.map(({ name, write }) => ({ name, isWritten: write !== undefined })))
})
