import { expect, test } from 'vitest'
import * as z from 'zod'
import { readJson } from './route.ts'

const anything = z.record(z.string(), z.unknown())
const read = (body: string) => readJson(new Request('http://127.0.0.1/', { method: 'POST', body }), anything)
const nested = (levels: number, opening = '[', closing = ']') =>
  `{"a":${opening.repeat(levels - 1)}1${closing.repeat(levels - 1)}}`

test('a body of 100 levels is read', async () => {
  expect(await read(nested(100))).toEqual(JSON.parse(nested(100)))
})

test.each([
  [101, '[', ']', 105],
  [20_000, '[', ']', 105],
  [20_000, '{"b":', '}', 501],
])('one of %d levels of %s is refused, not thrown over', async (levels, opening, closing, character) => {
  await expect(read(nested(levels, opening, closing))).rejects.toMatchObject({
    details: {
      status: 422,
      code: 'TOO_DEEP',
      detail: `the body is nested deeper than 100 levels, from character ${character} on`,
    },
  })
})
