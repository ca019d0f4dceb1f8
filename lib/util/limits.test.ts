import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bytesText, LIMITS } from './limits.ts'

test('docs/limits.md lists every limit with its value', () => {
  const rows = readFileSync('docs/limits.md', 'utf8').matchAll(/^\| .+ \| (.+) \| `(\w+)` \|$/gm)
  const documented = Object.fromEntries([...rows].map(([, value, name]) => [name, value]))
  expect(documented).toEqual(
    Object.fromEntries(
      Object.entries(LIMITS).map(([name, value]) => [
        name,
        name.endsWith('Bytes') ? bytesText(value) : value.toLocaleString('en-US'),
      ]),
    ),
  )
})

test.each([
  [2 * 2 ** 30, '2 GiB'],
  [128 * 2 ** 20, '128 MiB'],
  [40, '40 bytes'],
])('bytesText writes %i bytes as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text)
})
