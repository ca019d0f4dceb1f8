/** Checks that the tests named in docs/divergences.md exist, and that every weakness has one. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const document = readFileSync('docs/divergences.md', 'utf8')

/** The tests in the notation `file`: “test”, “test”. */
const named = Array.from(document.matchAll(/`([\w./-]+)`: ((?:“[^”]+”(?:, )?)+)/g)).flatMap(
  ([, file = '', titles = '']) => Array.from(titles.matchAll(/“([^”]+)”/g), ([, title = '']) => ({ file, title })),
)

test('every test that docs/divergences.md names exists', () => {
  expect(named.filter(({ file, title }) => !isThere(file, title))).toEqual([])
  expect(named.length).toBeGreaterThan(25)
})

test('the divergences check notices a missing test', () => {
  expect(isThere('scripts/checks/divergences.test.ts', 'the divergences check notices a missing test')).toBe(true)
  expect(isThere('scripts/checks/divergences.test.ts', 'a test that is not')).toBe(false)
  expect(isThere('scripts/nowhere.test.ts', 'x')).toBe(false)
})

test('docs/divergences.md answers all sixteen weaknesses, fixed or kept, each with a test', () => {
  const rows = Array.from(document.matchAll(/^\| (\d+) \| .+ \| (Fixed|Kept)\b.+ \| (.+) \|$/gm))
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 16 }, (_, i) => i + 1))
  for (const [, number, , tests] of rows) expect([number, tests]).toEqual([number, expect.stringMatching(/“.+”/)])
})

/** Returns whether a file has a test with this title, or a scenario with this name. */
function isThere(file: string, title: string): boolean {
  if (!existsSync(file)) return false
  const source = readFileSync(file, 'utf8')
  return file.endsWith('.json') ? source.includes(`"name": "${title}"`) : source.includes(`('${title}', `)
}
