import { describe, expect, test } from 'vitest'
import { createPieceTable } from '#components/token-view/pieces/piece-table.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { DriftSpan } from '#lib/trajectory/drift/report.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { DRIFT_VOCABULARY } from '../drift/drift-words.ts'
import { driftMap } from './drift-strip.tsx'
import { driftSentence, missingText, noteTexts } from './lane-words.ts'
import { driftMarks, marksOfDrift } from './marks.ts'
import { driftOfToken, matchOf, pairingOf } from './pairing.ts'
import { makeRows } from './rows/make-rows.ts'
import type { RowSide } from './rows/rows.ts'

const equal = (left: number, right: number, length: number): AlignedRun => ({
  kind: 'equal',
  left: { start: left, end: left + length },
  right: { start: right, end: right + length },
})
const drift = (left: readonly [number, number], right: readonly [number, number]): AlignedRun => ({
  kind: 'drift',
  left: { start: left[0], end: left[1] },
  right: { start: right[0], end: right[1] },
  sameBytes: false,
})
/** Two adjacent drift spans in the middle, and one at the end. */
const pairing = pairingOf([
  equal(0, 0, 10),
  drift([10, 13], [10, 11]),
  drift([13, 15], [11, 11]),
  equal(15, 11, 20),
  drift([35, 35], [31, 33]),
])

const spans = [
  { kind: 'split', detail: 'merge', severity: 'trained' },
  { kind: 'think-stripped', severity: 'context' },
  { kind: 'truncation', severity: 'tail' },
].map(
  (span, index): DriftSpan => ({
    ...(span as Pick<DriftSpan, 'kind' | 'detail' | 'severity'>),
    left: pairing.alignedRuns[pairing.driftRuns[index] as number]?.left ?? { start: 0, end: 0 },
    right: pairing.alignedRuns[pairing.driftRuns[index] as number]?.right ?? { start: 0, end: 0 },
    cause: 'Because.',
    remedy: 'Do.',
    layer: 'content',
    trained: { left: 0, right: 0 },
  }),
)

describe('pairing of two sides', () => {
  test('matches equal tokens, tokens in drift by their distance from its start, and gaps with a token beside them', () => {
    const match = (side: 'left' | 'right', token: number) => matchOf(pairing, { side, token })?.token
    expect([match('left', 4), match('left', 11), match('left', 13), match('left', 20)]).toEqual([4, 10, 11, 16])
    expect([match('right', 10), match('right', 16), match('right', 32)]).toEqual([10, 20, 34])
    expect(matchOf(pairingOf([drift([0, 2], [0, 0])]), { side: 'left', token: 0 })).toBeUndefined()
    expect(matchOf(pairingOf([]), { side: 'left', token: 0 })).toBeUndefined()
  })

  test('returns the drift span that contains a token', () => {
    const at = (side: 'left' | 'right', token: number) => driftOfToken(pairing, { side, token })
    expect([at('left', 9), at('left', 10), at('left', 14), at('right', 11), at('right', 31)]).toEqual([
      undefined,
      0,
      1,
      undefined,
      2,
    ])
  })
})

test('driftMarks outlines every token in drift, and each gap once, after the token before it', () => {
  const [tokens, gaps] = driftMarks(pairing, 'right')
  expect([...(tokens?.ranges ?? [])]).toEqual([10, 11, 31, 32, 32, 33])
  expect([...(gaps?.ranges ?? [])]).toEqual([10, 11])
  expect([...(driftMarks(pairing, 'left')[1]?.ranges ?? [])]).toEqual([34, 35])
  const twice = pairingOf([equal(0, 0, 1), drift([1, 1], [1, 2]), drift([1, 1], [2, 3])])
  expect([...(driftMarks(twice, 'left')[1]?.ranges ?? [])]).toEqual([0, 1])
  expect(marksOfDrift(pairing, 'left', 0, 'current')[0]?.ranges).toEqual(Int32Array.of(10, 13))
  expect(marksOfDrift(pairing, 'right', 1, 'current')).toEqual([])
  expect(marksOfDrift(pairing, 'right', undefined, 'linked')).toEqual([])
})

test('driftMap returns the most serious drift of each row of pixels, in the order of the rows', () => {
  const side = (count: number): RowSide => {
    const segments = [{ kind: 'prompt' as const, ids: Array(count).fill(0), messages: [] }]
    const table = createPieceTable((text) => text.length)
    table.takeVocab({ '0': 'a' })
    return { segments, starts: segmentStarts({ segments }), table }
  }
  const rows = makeRows({ left: side(35), right: side(33) }, pairing.alignedRuns, {
    arrangement: 'lanes',
    onlyDifferences: false,
    open: new Set(),
    columns: 10,
    rowHeight: 24,
  })
  const map = [...driftMap(rows, pairing, spans, 12)]
  expect(map.filter((grave) => grave > 0)).toEqual([3, 2, 1])
  expect([...driftMap(rows, pairing, spans, 1)]).toEqual([3])
})

test('texts of the lanes name the kind of drift, what is missing and on which side', () => {
  const [split, think, truncation] = spans as [DriftSpan, DriftSpan, DriftSpan]
  const note = (count: number, column: 'left' | 'right' | 'both') =>
    Object.values(noteTexts(split, count, column, DRIFT_VOCABULARY)).join(' ')
  const picture = { pairing, spans, vocabulary: DRIFT_VOCABULARY }
  expect([note(1, 'left'), note(3, 'right'), note(3, 'both')]).toEqual(['split · merge ', 'split +2', 'split +2'])
  expect(missingText(think, 'right', DRIFT_VOCABULARY)).toBe(
    'think block dropped by the template · 2 tokens on the left',
  )
  expect(missingText(truncation, 'left', DRIFT_VOCABULARY)).toBe('this side has ended · 2 tokens on the right')
  expect(driftSentence(picture, 0, 'left')).toBe('drift 1 of 3: split · merge; 1 token on the right. Because.')
  expect(driftSentence(picture, 1, 'left')).toBe('drift 2 of 3: think stripped; nothing on the right. Because.')
})
