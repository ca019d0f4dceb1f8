import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import type { CommonRun } from './box.ts'
import { commonRuns, type SearchOptions } from './common-runs.ts'

const whole = (left: Int32Array, right: Int32Array, ways: SearchOptions): readonly CommonRun[] =>
  commonRuns(left, right, { left: { start: 0, end: left.length }, right: { start: 0, end: right.length } }, ways)

const numbers = fc
  .oneof(fc.array(fc.nat({ max: 2 }), { maxLength: 40 }), fc.array(fc.nat({ max: 20 }), { maxLength: 40 }))
  .map((all) => Int32Array.from(all))
const ways = fc.record({
  rows: fc.constantFrom([], [1], [2], [4, 2], [5, 3, 1]),
  mostEdits: fc.constantFrom(0, 1, 2, 7, 1000),
})

/** Returns the length of the longest common subsequence, by the table of all prefixes. */
function mostInCommon(left: Int32Array, right: Int32Array): number {
  let row = new Array<number>(right.length + 1).fill(0)
  for (const number of left) {
    const next = [0]
    for (const [index, other] of right.entries())
      next.push(
        number === other ? (row[index] as number) + 1 : Math.max(row[index + 1] as number, next[index] as number),
      )
    row = next
  }
  return row.at(-1) as number
}

const lengthOf = (runs: readonly CommonRun[]): number => runs.reduce((sum, { length }) => sum + length, 0)

describe('commonRuns', () => {
  test('returns equal runs that are in order on both sides and as long as possible', () => {
    fc.assert(
      fc.property(numbers, numbers, ways, (left, right, ways) => {
        let next = { left: 0, right: 0 }
        for (const run of whole(left, right, ways)) {
          expect(run.length).toBeGreaterThan(0)
          expect(run.left).toBeGreaterThanOrEqual(next.left)
          expect(run.right).toBeGreaterThanOrEqual(next.right)
          expect(left.slice(run.left, run.left + run.length)).toEqual(right.slice(run.right, run.right + run.length))
          next = { left: run.left + run.length, right: run.right + run.length }
        }
      }),
      { numRuns: runs(500) },
    )
  })

  test('returns the longest common subsequence if the edit length is not limited', () => {
    fc.assert(
      fc.property(numbers, numbers, (left, right) => {
        expect(lengthOf(whole(left, right, { rows: [], mostEdits: 1000 }))).toBe(mostInCommon(left, right))
      }),
      { numRuns: runs(500) },
    )
  })

  test('finds anchors where an edit would be too long', () => {
    const passage = (first: number) => Array.from({ length: 50 }, (_, index) => first + index)
    const [a, b, c, d] = [passage(100), passage(200), passage(300), passage(400)]
    const runs = whole(Int32Array.from([0, ...a, ...b, ...c, 1]), Int32Array.from([2, ...b, ...d, ...c, 3]), {
      rows: [8],
      mostEdits: 0,
    })
    expect(runs).toEqual([
      { left: 51, right: 1, length: 50 },
      { left: 101, right: 101, length: 50 },
    ])
  })

  test('pairs runs that occur equally often in order and ignores frequent ones', () => {
    const times = (count: number, fill: number) =>
      Int32Array.from(Array.from({ length: count }, (_, index) => [fill + index, 7, 8, 9]).flat())
    // The last run is the common end.
    expect(lengthOf(whole(times(17, 100), times(17, 200), { rows: [3], mostEdits: 0 }))).toBe(51)
    expect(lengthOf(whole(times(18, 100), times(18, 200), { rows: [3], mostEdits: 0 }))).toBe(3)
  })

  test('of long sequences considers only every eighth run and misses nothing', () => {
    const all = Array.from({ length: 20_000 }, (_, index) => (index * index) % 7919)
    const edited = all.flatMap((number, index) => (index % 1000 === 500 ? [-1, -2] : [number]))
    const runs = whole(Int32Array.from(all), Int32Array.from(edited), { rows: [32, 8], mostEdits: 9 })
    expect(lengthOf(runs)).toBe(all.length - 20)
  })
})
