import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { parseTrajectory } from './parse-trajectory.ts'
import { trajectorySchema } from './trajectory.ts'

const example = JSON.parse(readFileSync('public/examples/parallel-calls.json', 'utf8'))
const [prompt, response] = example.segments
const value = {
  ...example,
  segments: [
    { ...prompt, mask: prompt.ids.map(() => 0), columns: { a: prompt.ids, b: [null, -1.5] } },
    { ...response, foreignField: [1, 'x'], topLogprobs: { k: 1, ids: [-1, 3], logprobs: [null, -1], more: true } },
  ],
}

/** Returns the value with the part at a path replaced. */
function changed(whole: unknown, path: readonly string[], to: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return to
  const copy: Record<string, unknown> = Array.isArray(whole) ? ([...whole] as never) : { ...(whole as object) }
  Object.defineProperty(copy, first, {
    value: changed(copy[first] ?? {}, rest, to),
    configurable: true,
    enumerable: true,
    writable: true,
  })
  return copy
}

const segment = fc.constantFrom('0', '1')
const places = fc.oneof(
  fc.constantFrom([], ['segments'], ['id'], ['vocab', '1']),
  fc.tuple(fc.constant('segments'), segment),
  fc.tuple(fc.constant('segments'), segment, fc.constantFrom('ids', 'logprobs', 'mask', 'topLogprobs', 'columns', 'x')),
  fc.tuple(fc.constant('segments'), segment, fc.constantFrom('ids', 'logprobs', 'mask'), fc.constantFrom('0', '1')),
  fc.tuple(
    fc.constant('segments'),
    segment,
    fc.constantFrom('topLogprobs', 'columns'),
    fc.constantFrom('ids', 'logprobs', 'k', 'a', '__proto__'),
  ),
  fc.tuple(
    fc.constant('segments'),
    segment,
    fc.constantFrom('topLogprobs', 'columns'),
    fc.constantFrom('ids', 'logprobs', 'a'),
    fc.constantFrom('0', '1'),
  ),
)
const values = fc.oneof(
  fc.constantFrom<unknown>(null, 0, 1, -1, -2, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '1', true, [], {}),
  fc.constantFrom<unknown>([1, 2], [null], [-1], ['x'], [[1]], { ids: [1], logprobs: [null] }, { a: [1], b: 2 }),
)

test('parseTrajectory accepts, refuses and returns the same as the schema for any value', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(places, values), { maxLength: 3 }), (changes) => {
      const tried = changes.reduce<unknown>((whole, [path, to]) => changed(whole, path, to), value)
      const [fast, slow] = [parseTrajectory(tried), trajectorySchema.safeParse(tried)]
      expect(fast.success).toBe(slow.success)
      expect(fast.error?.issues).toEqual(slow.error?.issues)
      expect(JSON.stringify(fast.data)).toBe(JSON.stringify(slow.data))
      expect(fast.data).toEqual(slow.data)
    }),
    { numRuns: runs(500) },
  )
})

test('parseTrajectory returns the given columns without a copy', () => {
  const { data } = parseTrajectory(value)
  expect(data?.segments[0]?.ids).toBe(value.segments[0].ids)
  expect(data?.segments[1]?.topLogprobs?.logprobs).toBe(value.segments[1].topLogprobs.logprobs)
})
