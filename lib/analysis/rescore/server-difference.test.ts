/** Compares servers whose scores are drawn or chosen. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ScoresOfBoth } from './score-both.ts'
import { positionBins, type RepeatedScores, serverDifference } from './server-difference.ts'

const scoredBy = (left = '1', right = '1'): ScoresOfBoth => ({
  left: { server: { name: 'a' }, versions: [left], experts: undefined },
  right: { server: { name: 'b' }, versions: [right], experts: undefined },
})

/** Scores of two passes; `versions` are the weights of the right server in both. */
function repeatedOf(
  first: readonly [left: Float64Array, right: Float64Array],
  second: readonly [left: Float64Array, right: Float64Array],
  versions: readonly [string, string] = ['1', '1'],
): RepeatedScores {
  return {
    first: { left: first[0], right: first[1] },
    second: { left: second[0], right: second[1] },
    scored: { first: scoredBy('1', versions[0]), second: scoredBy('1', versions[1]) },
  }
}

const logprob = fc.double({ min: -9, max: 0, noNaN: true })
const score = fc.oneof({ weight: 6, arbitrary: logprob }, { weight: 1, arbitrary: fc.constant(Number.NaN) })
const scores = (length: number) =>
  fc.array(score, { minLength: length, maxLength: length }).map((values) => Float64Array.from(values))
const fourPasses = fc
  .integer({ min: 0, max: 60 })
  .chain((length) => fc.tuple(scores(length), scores(length), scores(length), scores(length)))

describe('properties of the difference between two servers', () => {
  test('Servers that give the same scores have no difference, no jump, and nothing above the floor', () => {
    fc.assert(
      fc.property(fourPasses, ([same, again]) => {
        const found = serverDifference({ left: same, right: same }, repeatedOf([same, same], [again, again]))
        expect(found?.spread.max ?? 0).toBe(0)
        expect(found?.jump).toBeUndefined()
        expect(found?.above ?? 0).toBe(0)
      }),
    )
  })

  test('Swapped servers have the same |Δ|, floor and place of the jump, and the opposite Δ', () => {
    fc.assert(
      fc.property(fourPasses, ([left, right, leftAgain, rightAgain]) => {
        const there = serverDifference({ left, right }, repeatedOf([left, right], [leftAgain, rightAgain]))
        const back = serverDifference({ left: right, right: left }, repeatedOf([right, left], [rightAgain, leftAgain]))
        expect(back?.spread).toEqual(there?.spread)
        expect([back?.floor, back?.above, back?.jump?.token]).toEqual([there?.floor, there?.above, there?.jump?.token])
        expect(Array.from(back?.deltas ?? [], (delta) => 0 - delta)).toEqual(
          Array.from(there?.deltas ?? [], (delta) => delta + 0),
        )
      }),
    )
  })

  test('A jump is above the floor, and a larger noise never adds tokens above it', () => {
    fc.assert(
      fc.property(fourPasses, fc.double({ min: 0, max: 3, noNaN: true }), ([left, right], noise) => {
        const shifted = (values: Float64Array, by: number) => values.map((value) => value + by)
        const at = (by: number) =>
          serverDifference({ left, right }, repeatedOf([left, right], [shifted(left, by), right]))
        const [quiet, noisy] = [at(0), at(noise)]
        if (quiet?.above === undefined || noisy?.above === undefined) return
        expect(noisy.above).toBeLessThanOrEqual(quiet.above)
        if (noisy.jump?.kind === 'token') expect(Math.abs(noisy.jump.delta)).toBeGreaterThan(noisy.floor ?? 0)
        if (noisy.jump?.kind === 'level') expect(noisy.jump.after).toBeGreaterThan(noisy.jump.before)
      }),
    )
  })

  test('The chart has every position once, and the largest difference of each part', () => {
    const drawn = fc
      .integer({ min: 1, max: 80 })
      .chain((length) => fc.tuple(fc.constant(length), scores(length), scores(length), fc.integer({ min: 1, max: 20 })))
    fc.assert(
      fc.property(drawn, ([length, left, right, most]) => {
        const found = serverDifference({ left, right }, undefined)
        const bins = positionBins(found ?? { tokens: new Int32Array(), deltas: new Float64Array() }, length, most)
        expect(bins.length).toBe(Math.min(length, most))
        expect(bins.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, at) => start + at))).toEqual(
          Array.from({ length }, (_, position) => position),
        )
        for (const { start, end, largest } of bins) {
          const own = Array.from(found?.tokens ?? []).flatMap((token, place) =>
            token >= start && token < end ? [Math.abs(found?.deltas[place] ?? 0)] : [],
          )
          expect(largest ? Math.abs(largest.delta) : undefined).toBe(own.length > 0 ? Math.max(...own) : undefined)
          if (largest) expect(largest.token >= start && largest.token < end).toBe(true)
        }
      }),
    )
  })
})

/** Returns 200 scores; from `start` on they are lower by `by`. */
const stepped = (start: number, by: number) =>
  Float64Array.from({ length: 200 }, (_, at) => -1 - (at >= start ? by : 0))

test('The first jump is where the level of |Δ| rises, if the rise is above the noise of both servers', () => {
  const [left, right] = [stepped(200, 0), stepped(120, 0.1)]
  const quiet = serverDifference({ left, right }, repeatedOf([left, right], [left, right]))
  expect(quiet).toMatchObject({ floor: 0, above: 80, jump: { kind: 'level', token: 120, before: 0 } })
  const noisy = serverDifference({ left, right }, repeatedOf([left, right], [left, right.map((value) => value + 0.2)]))
  expect(noisy).toMatchObject({ above: 0, jump: undefined })
  expect(noisy?.floor).toBeCloseTo(0.2)
  expect(noisy?.noise?.left).toMatchObject({ kind: 'measured', spread: { median: 0, p99: 0 } })
})

test('Without a rise of the level, the first jump is the first token whose probability doubles or halves', () => {
  const left = stepped(200, 0)
  const right = left.map((value, at) => value + (at === 30 ? 0.3 : at === 77 ? -1 : 0))
  expect(serverDifference({ left, right }, undefined)).toMatchObject({
    noise: undefined,
    floor: undefined,
    above: undefined,
    jump: { kind: 'token', token: 77, delta: -1 },
  })
})

test('The noise of a server whose weights changed between both passes is unknown, and so is the floor', () => {
  const left = stepped(200, 0)
  const found = serverDifference({ left, right: left }, repeatedOf([left, left], [left, left], ['7', '8']))
  expect(found?.noise?.right).toEqual({ kind: 'unknown', why: 'its weights changed between both passes: 7 → 8' })
  expect([found?.floor, found?.above]).toEqual([undefined, undefined])
  const nothing = new Float64Array(200).fill(Number.NaN)
  const unscored = serverDifference({ left, right: left }, repeatedOf([left, left], [left, nothing]))
  expect(unscored?.noise?.right.kind).toBe('unknown')
  expect(serverDifference({ left, right: nothing }, undefined)).toBeUndefined()
})
