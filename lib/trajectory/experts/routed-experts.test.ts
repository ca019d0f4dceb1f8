import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawRouting } from '#testing/routing.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { RoutedExperts, Segment } from '../format/trajectory.ts'
import { expertAgreement } from './agreement.ts'
import {
  expertShape,
  expertsSoFar,
  int32Base64,
  joinedExperts,
  joinRoutedExperts,
  packExperts,
  readExperts,
  unpackExperts,
} from './routed-experts.ts'

const anyEntries = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 5 }), fc.constantFrom(7, 300, 70_000, -1))
  .chain(([perToken, rows, most]) =>
    fc.record({
      perToken: fc.constant(perToken),
      start: fc.nat(100),
      entries: fc
        .array(fc.integer({ min: Math.min(0, most), max: Math.abs(most) }), {
          minLength: rows * perToken,
          maxLength: rows * perToken,
        })
        .map((list) => Int32Array.from(list)),
    }),
  )

describe('Routed experts', () => {
  test('are unpacked as they were packed, whatever integers hold them', () => {
    fc.assert(
      fc.property(anyEntries, (rows) => {
        expect(unpackExperts(packExperts(rows))).toEqual(rows)
      }),
    )
  })

  test.each([
    [[0, 255], 1],
    [[0, 256], 2],
    [[0, 65_536], 4],
    [[0, -1], 4],
  ])('%j are stored in integers of %i bytes', (entries, bytes) => {
    expect(packExperts({ start: 0, perToken: 1, entries: Int32Array.from(entries) }).bytes).toBe(bytes)
  })

  test('of a server are read for their tokens, and written as the server wrote them', () => {
    fc.assert(
      fc.property(anyEntries, (rows) => {
        fc.pre(rows.entries.length > 0)
        const base64 = Buffer.from(rows.entries.buffer).toString('base64')
        expect(int32Base64(rows.entries)).toBe(base64)
        const wanted = { start: rows.start, rows: rows.entries.length / rows.perToken }
        for (const perToken of [undefined, rows.perToken])
          expect(readExperts(base64, { ...wanted, perToken })).toEqual({ ok: true, experts: packExperts(rows) })
      }),
    )
  })

  const four = int32Base64(Int32Array.of(1, 2, 3, 4))
  test.each([
    ['§', 2, undefined, /^The server returned routed experts that are not base64 for 2 tokens: which belongs/],
    ['AAAA', 2, undefined, /^The server returned 3 bytes of routed experts, not a multiple of 4, for 2 tokens/],
    [four, 3, undefined, /^The server returned 4 routed experts for 3 tokens: .+ so none is kept\.$/],
    [four, 2, 1, /^The server returned 4 routed experts \(1 for each token before\) for 2 tokens/],
    [four, 0, undefined, /for 0 tokens/],
    ['', 2, undefined, /^The server returned 0 routed experts for 2 tokens/],
  ])('that do not belong to the tokens are refused with both numbers (%s for %i)', (base64, rows, perToken, why) => {
    expect(readExperts(base64, { start: 0, rows, perToken })).toEqual({ ok: false, why: expect.stringMatching(why) })
  })

  test('with a part of a row at their end lose this part', () => {
    const packed = { ...packExperts({ start: 1, perToken: 2, entries: Int32Array.of(1, 2, 3) }) }
    expect(unpackExperts(packed)).toEqual({ start: 1, perToken: 2, entries: Int32Array.of(1, 2) })
  })
})

const withRows = (...all: readonly (RoutedExperts | undefined)[]): { readonly segments: readonly Segment[] } => ({
  segments: all.map((routedExperts) => ({
    kind: 'response',
    ids: [],
    thinks: [],
    toolCalls: [],
    ...(routedExperts && { routedExperts }),
  })),
})
const rowsAt = (start: number, ...entries: readonly number[]) =>
  packExperts({ start, perToken: 1, entries: Int32Array.from(entries) })

describe('The experts of all responses', () => {
  test('are joined, and a later call replaces rows of the same tokens', () => {
    expect(joinedExperts(withRows(rowsAt(0, 1, 2, 3), undefined, rowsAt(2, 9, 8)))).toEqual({
      start: 0,
      perToken: 1,
      entries: Int32Array.of(1, 2, 9, 8),
    })
  })

  test.each([
    ['a gap', rowsAt(4, 9)],
    ['rows that begin before them', rowsAt(0, 9)],
    ['rows of another length', packExperts({ start: 3, perToken: 2, entries: Int32Array.of(9, 9) })],
  ])('end before %s', (_, odd) => {
    expect(joinedExperts(withRows(rowsAt(1, 1, 2), odd))?.entries).toEqual(Int32Array.of(1, 2))
  })

  test('end before a gap that is as short as the entries of a token are many', () => {
    const rowsOfTwo = (start: number) => packExperts({ start, perToken: 2, entries: Int32Array.of(1, 2, 3, 4) })
    expect(joinRoutedExperts([rowsOfTwo(1), rowsOfTwo(4)])).toEqual(rowsOfTwo(1))
    expect(joinedExperts(withRows(rowsOfTwo(1), rowsOfTwo(2)))?.entries).toEqual(Int32Array.of(1, 2, 1, 2, 3, 4))
  })

  test('are unknown without a response that has some', () => {
    expect(joinedExperts(withRows(undefined))).toBeUndefined()
    expect(joinedExperts(sampleTrajectory)).toBeUndefined()
    expect(expertsSoFar(sampleTrajectory)).toEqual({ end: 0, perToken: undefined })
  })

  test('of a response that was resumed are joined, and those of one call stay', () => {
    expect(joinRoutedExperts([rowsAt(0, 1, 2), rowsAt(2, 3)])).toEqual(rowsAt(0, 1, 2, 3))
    expect(joinRoutedExperts([undefined, rowsAt(2, 3)])).toEqual(rowsAt(2, 3))
    expect(joinRoutedExperts([undefined, undefined])).toBeUndefined()
  })

  test('tell from which token the next call requests them, at most from the last one', () => {
    const { segments } = withRows(rowsAt(0, 1, 2, 3), undefined)
    const long = segments.map((segment) => ({ ...segment, ids: [1, 2, 3, 4] }))
    expect(expertsSoFar({ segments: long })).toEqual({ end: 3, perToken: 1 })
    expect(expertsSoFar({ segments: [{ ...(segments[0] as Segment), ids: [1, 2] }] })).toEqual({ end: 1, perToken: 1 })
  })
})

describe('The number of experts of a layer', () => {
  test.each([
    [2, 6, 8],
    [8, 48, 128],
    [1, 4, 16],
    [6, 27, 64],
  ])('is found: %i in each of %i layers, of %i experts', (perLayer, layers, experts) => {
    const rows = drawRouting({ rows: 40, layers, perLayer, experts, seed: 1 })
    expect(expertShape(rows)).toEqual({ layers, perLayer })
  })

  test('is that of the rows if they say it, unless it does not divide their entries', () => {
    const rows = { start: 0, perToken: 6, entries: Int32Array.of(1, 2, 3, 4, 5, 6) }
    expect(expertShape({ ...rows, perLayer: 2 })).toEqual({ layers: 3, perLayer: 2 })
    expect(expertShape({ ...rows, perLayer: 4 })).toEqual({ layers: 1, perLayer: 6 })
    const packed = packExperts({ ...rows, perLayer: 2 })
    expect(unpackExperts(packed)).toEqual({ ...rows, perLayer: 2 })
  })

  test('is found beside layers without experts, which have zeros', () => {
    const rows = drawRouting({ rows: 40, layers: 5, perLayer: 4, experts: 32, seed: 2, dense: 1 })
    expect(expertShape(rows)).toEqual({ layers: 5, perLayer: 4 })
  })
})

describe('The agreement of two passes', () => {
  const ours = drawRouting({ rows: 30, layers: 3, perLayer: 2, experts: 8, seed: 3, dense: 1 })

  test('is 1 for the same experts in any order, and the mean share of equal choices otherwise', () => {
    const theirs = { ...ours, entries: ours.entries.slice() }
    const [a = 0, b = 0] = theirs.entries.slice(2)
    // The first token has its experts in another order; the second has another expert in one of its two layers.
    theirs.entries.set([b, a], 2)
    theirs.entries[2 + 6] = 99
    const found = expertAgreement(ours, theirs, 32)
    expect(found).toMatchObject({ layers: 2, perLayer: 2, tokens: 30, equal: 29 })
    expect(Array.from(found?.shares.slice(0, 3) ?? [])).toEqual([1, 0.75, 1])
    expect(found?.mean).toBeCloseTo((29 + 0.75) / 30)
    expect(Array.from(found?.shares.slice(30) ?? [])).toEqual([Number.NaN, Number.NaN])
  })

  test('counts an expert once that the other pass has twice, such as 0 in a row that it did not fill', () => {
    const theirs = { ...ours, entries: ours.entries.slice() }
    theirs.entries.set([0, 0], 2)
    const own = { ...ours, entries: ours.entries.slice() }
    own.entries.set([0, 1], 2)
    expect(expertAgreement(own, theirs, 30)?.shares[0]).toBe(0.75)
  })

  test('is known only for tokens that both passes have', () => {
    const theirs = { ...ours, start: 5, entries: ours.entries.slice(5 * 6, 8 * 6) }
    for (const found of [expertAgreement(ours, theirs, 9), expertAgreement(theirs, ours, 9)]) {
      expect(Array.from(found?.shares ?? [])).toEqual([...Array(5).fill(Number.NaN), 1, 1, 1, Number.NaN])
      expect(found).toMatchObject({ tokens: 3, equal: 3, mean: 1 })
    }
  })

  test('is unknown for passes of different models, without common tokens, and without layers of experts', () => {
    expect(expertAgreement(ours, { ...ours, perToken: 5 }, 30)).toBeUndefined()
    expect(expertAgreement(ours, { ...ours, start: 30 }, 60)).toBeUndefined()
    const dense = { ...ours, entries: new Int32Array(ours.entries.length) }
    expect(expertAgreement(dense, dense, 30)).toBeUndefined()
  })
})
