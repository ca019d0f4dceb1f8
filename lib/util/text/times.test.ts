import { expect, test } from 'vitest'
import { timeText, whenText } from './times.ts'

test('A short time leaves out what it has in common with now', () => {
  const now = new Date(2026, 5, 1, 12)
  const short = (when: Date) => whenText(when.toISOString(), now)
  expect(short(new Date(2026, 5, 1, 9))).toMatch(/9/)
  expect(short(new Date(2026, 5, 1, 9))).not.toMatch(/2026/)
  expect(short(new Date(2026, 4, 7, 9))).toMatch(/7.*9/)
  expect(short(new Date(2025, 5, 1, 9))).toMatch(/2025/)
})

test('A text that is no time is not called an invalid date', () => {
  expect(whenText('yesterday', new Date())).toBe('—')
  expect(timeText('yesterday')).toBe('yesterday')
  expect(timeText(new Date(2026, 5, 1, 9).toISOString())).toBe(new Date(2026, 5, 1, 9).toLocaleString())
})
