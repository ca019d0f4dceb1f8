import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EXAMPLES } from './examples.ts'

test('the list of examples has the name, title and note of each file in public/examples', () => {
  const files = readdirSync('public/examples').filter((file) => file.endsWith('.json'))
  const stored = files.map((file) => {
    const { title, note } = JSON.parse(readFileSync(`public/examples/${file}`, 'utf8'))
    return { name: file.slice(0, -'.json'.length), title, note }
  })
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
  expect(EXAMPLES.toSorted(byName)).toEqual(stored.toSorted(byName))
})
