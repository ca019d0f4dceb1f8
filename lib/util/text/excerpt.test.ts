import { expect, test } from 'vitest'
import { fromWordAt } from './excerpt.ts'

test.each([
  ['There are 13 files.', 11, '…13 files.'],
  ['There are 13 files.', 2, 'There are 13 files.'],
  ['There are 13 files. \n', 21, '…files. \n'],
  [`a ${'b'.repeat(30)}`, 32, `…${'b'.repeat(20)}`],
  // The cut does not split a surrogate pair.
  [`a 😀${'b'.repeat(19)}`, 23, `…😀${'b'.repeat(19)}`],
  ['', 0, ''],
])('fromWordAt returns %j from the word at %i on', (text, index, expected) => {
  expect(fromWordAt(text, index)).toBe(expected)
})
