import fc from 'fast-check'
import { expect, test } from 'vitest'
import { selectedRange, single } from '#components/token-view/selection.ts'
import { chosenHit, currentHit, selectionOfHit, stepFrom, withCurrentHit } from './hit-steps.ts'

const HITS = Int32Array.of(2, 4, 4, 5, 9, 12)

test('a hit is selected if the selection is exactly the hit', () => {
  expect(chosenHit(HITS, selectionOfHit(HITS, 0))).toBe(0)
  expect(chosenHit(HITS, single(4))).toBe(1)
  expect(chosenHit(HITS, single(9))).toBeUndefined()
  expect(chosenHit(HITS, { anchor: 2, focus: 3 })).toBe(0)
  expect(chosenHit(HITS, undefined)).toBeUndefined()
  expect(selectionOfHit(HITS, 2)).toEqual({ anchor: 11, focus: 9 })
})

test('the marked hit that equals the selection is the current one', () => {
  const marks = [
    { kind: 'current' as const, ranges: Int32Array.of(0, 1) },
    { kind: 'hit' as const, ranges: HITS },
  ]
  expect(withCurrentHit(marks, currentHit(marks, single(4)))).toEqual([
    { kind: 'hit', ranges: HITS },
    { kind: 'current', ranges: Int32Array.of(4, 5) },
  ])
  expect(withCurrentHit(marks, currentHit(marks, single(5)))).toEqual([{ kind: 'hit', ranges: HITS }])
  expect(currentHit([], single(4))).toBeUndefined()
})

test('steps continue from the selection or the visible tokens, and around at the ends', () => {
  const step = (from: number | undefined, direction: 1 | -1, visible?: number) => {
    const to = stepFrom(
      HITS,
      from === undefined ? undefined : single(from),
      visible === undefined ? undefined : { start: visible, end: visible + 50 },
      direction,
    )
    return to && `${to.hit}${to.isAround ? ' around' : ''}`
  }
  expect([0, 2, 3, 4, 9, 10, 20].map((from) => step(from, 1))).toEqual([
    '0',
    '1',
    '1',
    '2',
    '0 around',
    '0 around',
    '0 around',
  ])
  expect([20, 10, 9, 4, 3, 2, 0].map((from) => step(from, -1))).toEqual([
    '2',
    '2',
    '1',
    '0',
    '0',
    '2 around',
    '2 around',
  ])
  expect([step(undefined, 1), step(undefined, 1, 2), step(undefined, 1, 5), step(undefined, 1, 13)]).toEqual([
    '0',
    '0',
    '2',
    '0 around',
  ])
  expect(stepFrom(new Int32Array(0), single(1), undefined, 1)).toBeUndefined()
})

test('stepping through the hits visits each of them once, in both directions', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(200), { minLength: 2, maxLength: 20 }), (places) => {
      const sorted = places.sort((a, b) => a - b)
      const hits = Int32Array.from(sorted.slice(0, 2 * (sorted.length >> 1)))
      const count = hits.length >> 1
      for (const direction of [1, -1] as const) {
        let selection = selectionOfHit(hits, 0)
        const seen = [0]
        for (let i = 1; i < count; i++) {
          const step = stepFrom(hits, selection, undefined, direction)
          selection = selectionOfHit(hits, step?.hit ?? 0)
          expect(selectedRange(selection)).toEqual({
            start: hits[2 * (step?.hit ?? 0)],
            end: hits[2 * (step?.hit ?? 0) + 1],
          })
          seen.push(step?.hit ?? -1)
        }
        const order = Array.from({ length: count }, (_, i) => (direction === 1 ? i : (count - i) % count))
        expect(seen).toEqual(order)
      }
    }),
  )
})
