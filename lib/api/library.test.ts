import { expect, test } from 'vitest'
import { firstOrder } from './library.ts'

test('The first order of titles is ascending, and that of other columns is descending', () => {
  expect(firstOrder('title')).toBe('asc')
  expect(firstOrder('added')).toBe('desc')
})
