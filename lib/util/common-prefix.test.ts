import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText } from '#testing/strings.ts'
import { commonIds, commonText } from './common-prefix.ts'

test('commonIds and commonText return the length of the common beginning', () => {
  fc.assert(
    fc.property(anyText(), fc.string(), fc.string(), (start, a, b) => {
      const [left, right] = [start + a, start + b]
      const length = commonText(left, right)
      expect(length).toBeGreaterThanOrEqual(start.length)
      expect(left.slice(0, length)).toBe(right.slice(0, length))
      expect(length === left.length || length === right.length || left[length] !== right[length]).toBe(true)
      const ids = (text: string) => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
      expect(commonIds(ids(left), Uint16Array.from(ids(right)))).toBe(length)
    }),
  )
})

test('commonText compares texts that are longer than one block', () => {
  for (const length of [4095, 4096, 10_000]) {
    const text = 'x'.repeat(length)
    expect([commonText(`${text}a`, `${text}b`), commonText(text, `${text}b`), commonText(text, text)]).toEqual([
      length,
      length,
      length,
    ])
  }
})
