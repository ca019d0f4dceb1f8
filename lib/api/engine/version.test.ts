import { expect, test } from 'vitest'
import { isOlderThan } from './version.ts'

test.each([
  ['0.4.9', '0.4.10', true],
  ['0.4.10.post2', '0.4.10', false],
  ['0.5.5rc1', '0.5.5', false],
  ['0.5', '0.5.1', true],
  ['1.0.0', '0.9.9', false],
  ['unknown', '0.4.10', true],
])('isOlderThan compares %s with %s: %j', (version, other, isOlder) => {
  expect(isOlderThan(version, other)).toBe(isOlder)
})
