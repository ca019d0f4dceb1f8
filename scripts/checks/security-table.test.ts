/** Checks that docs/security.md names a test for every check, so that a renamed or removed test is noticed. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const page = readFileSync('docs/security.md', 'utf8')
const rows = Array.from(page.matchAll(/^\| ([A-Z]\d+) \|.*\|$/gm), ([line, id]) => ({ id, line }))

test('docs/security.md has every check once, each with a test', () => {
  const ids = rows.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.length).toBe(81)
  expect(rows.filter(({ line }) => testsIn(line).length === 0)).toEqual([])
})

test('every test that docs/security.md names exists', () => {
  const missing = rows.flatMap(({ id, line }) =>
    testsIn(line)
      .filter(({ file, title }) => !readFileSync(file, 'utf8').includes(title))
      .map(({ file, title }) => `${id}: ${file} has no ${JSON.stringify(title)}`),
  )
  expect(missing).toEqual([])
})

function testsIn(line: string): { readonly file: string; readonly title: string }[] {
  return Array.from(line.matchAll(/\[[^\]]+\]\(([^)]+)\): `([^`]+)`/g), ([, file = '', title = '']) => ({
    file: path.join('docs', file),
    title,
  }))
}
