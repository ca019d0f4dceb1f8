import { expect, test } from 'vitest'
import { readAt, refuse } from './record-error.ts'

test('A refusal inside of a value gets the path of the value', () => {
  const violation = { path: 'samples[2].ids', expected: 'a list', found: '7' }
  expect(() => readAt('samples', () => refuse('[2].ids', 'a list', 7))).toThrow(expect.objectContaining({ violation }))
})

test('An error that is not a refusal is thrown as it is', () => {
  const error = new TypeError('a bug')
  const fail = () => {
    throw error
  }
  expect(() => readAt('samples', fail)).toThrow(error)
})
