import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPieceTable } from '#components/token-view/pieces/piece-table.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { type AlignedRun, alignTokens } from '#lib/trajectory/drift/align.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { runs } from '#testing/property-runs.ts'
import { FEWEST_FOLDED, makeRows } from './make-rows.ts'
import {
  drawnLine,
  type Item,
  itemAt,
  itemAtHeight,
  itemOfRow,
  itemOfToken,
  itemsBetween,
  type RowSide,
  type Rows,
  rowInItem,
  SIDES,
} from './rows.ts'

const PIECES = ['a', 'bb', 'cc\n', 'dddd', '\n', 'ab', 'b', 'f'.repeat(9)] as const
const vocab = Object.fromEntries(PIECES.map((piece, id) => [id, piece]))
const encoder = new TextEncoder()
const bytes = (id: number) => encoder.encode(PIECES[id])

/** Returns a side with segments of these ids; every other one is a response. */
function sideOf(parts: readonly (readonly number[])[]): RowSide {
  const segments = parts.map(
    (ids, index): SegmentView =>
      index % 2 === 0 ? { kind: 'prompt', ids, messages: [] } : { kind: 'response', ids, thinks: [], toolCalls: [] },
  )
  const table = createPieceTable((text) => text.length)
  table.takeVocab(vocab)
  return { segments, starts: segmentStarts({ segments }), table }
}

type Settings = Parameters<typeof makeRows>[2] & { readonly isHalved?: boolean }
const lanes: Settings = {
  arrangement: 'lanes',
  onlyDifferences: false,
  open: new Set(),
  columns: 20,
  rowHeight: 24,
}

function rowsOf(left: readonly (readonly number[])[], right: readonly (readonly number[])[], settings: Settings): Rows {
  const alignedRuns = alignTokens(left.flat(), right.flat(), bytes)
  return makeRows(
    { left: sideOf(left), right: sideOf(right) },
    settings.isHalved ? alignedRuns.flatMap(halved) : alignedRuns,
    settings,
  )
}

/** Splits a long drift run into two with different causes, because a comparison also has such neighbours. */
function halved(alignedRun: AlignedRun): readonly AlignedRun[] {
  const { left, right } = alignedRun
  if (alignedRun.kind === 'equal' || left.end - left.start < 4) return [alignedRun]
  const [l, r] = [left.start + 2, Math.min(right.end, right.start + 1)]
  return [
    { ...alignedRun, left: { start: left.start, end: l }, right: { start: right.start, end: r } },
    { ...alignedRun, left: { start: l, end: left.end }, right: { start: r, end: right.end } },
  ]
}

const allItems = (rows: Rows): Item[] => Array.from({ length: rows.itemCount }, (_, number) => itemAt(rows, number))

const textOf = (ids: ArrayLike<number>): string => Array.from(ids, (id) => PIECES[id]).join('')

/** Returns a side's tokens in the order of the rows, with folds as their lengths. */
function drawn(rows: Rows, side: SideName): readonly (number | string)[] {
  return allItems(rows).flatMap((item) => {
    if (item.kind !== 'tokens') return [`${item.kind} ${item[side].end - item[side].start}`]
    return Array.from({ length: item.rows }, (_, row) => {
      const line = drawnLine(rows, item, row, side)
      return line ? [textOf(Array.from(line.layout.segment.ids).slice(line.start, line.end))] : []
    }).flat()
  })
}

const repeated = (id: number, count: number): number[] => Array(count).fill(id)

describe('rows of two sides', () => {
  test('fold equal tokens and show a drift span with the text around it', () => {
    const before = [...repeated(4, 20), 0, 0]
    const after = [1, 2, ...repeated(4, 20)]
    const rows = rowsOf([[...before, 0, 6, ...after]], [[...before, 5, ...after]], lanes)
    expect(drawn(rows, 'left')).toEqual(['fold 20', 'aaabbbcc\n', 'fold 20'])
    expect(drawn(rows, 'right')).toEqual(['fold 20', 'aaabbbcc\n', 'fold 20'])
  })

  test('are empty where a side has no tokens, and both sides continue in the same row', () => {
    const call = [3, 3, 2]
    const rows = rowsOf([[0, 2, 1, 1, 2, 1, 2, ...call]], [[0, 2, ...call]], lanes)
    const apart = allItems(rows).map(({ rows: count, startsBlock, lines }) => [
      count,
      startsBlock,
      lines.left.end - lines.left.start,
      lines.right.end - lines.right.start,
    ])
    expect(apart).toEqual([
      [1, true, 1, 1],
      [2, true, 2, 0],
      [1, true, 1, 1],
    ])
  })

  test('begin a block where a segment begins', () => {
    const rows = rowsOf(
      [
        [0, 0],
        [1, 1],
      ],
      [
        [0, 0],
        [1, 1],
      ],
      lanes,
    )
    expect(allItems(rows).map(({ startsBlock, left }) => [startsBlock, left.start])).toEqual([
      [true, 0],
      [true, 2],
    ])
  })

  test('contain a divider for each equal run if only differences are shown', () => {
    const equal = repeated(0, 30)
    const rows = rowsOf([[...equal, 1, ...equal]], [[...equal, 3, ...equal]], { ...lanes, onlyDifferences: true })
    expect(drawn(rows, 'left')).toEqual(['divider 30', 'bb', 'divider 30'])
    expect(drawn(rows, 'right')).toEqual(['divider 30', 'dddd', 'divider 30'])
  })

  test('of one column show equal tokens once, then those of the left, then those of the right', () => {
    const rows = rowsOf([[0, 0, 1, 2, 0]], [[0, 0, 3, 2, 0]], { ...lanes, arrangement: 'unified' })
    const [first, drift, last] = allItems(rows)
    expect([first?.rows, drift?.rows, last?.rows]).toEqual([1, 2, 2])
    expect(drawn(rows, 'left')).toEqual(['aa', 'bb', 'cc\n', 'a'])
    expect(drawn(rows, 'right')).toEqual(['dddd'])
  })

  test('are none if both sides are empty', () => {
    const rows = rowsOf([], [[]], lanes)
    expect([rows.itemCount, rows.height, itemAtHeight(rows, 0)]).toEqual([0, 0, undefined])
  })
})

const id = fc.nat({ max: PIECES.length - 1 })
const part = fc.array(id, { maxLength: 40 })
/** Two sides that share most of their tokens, each with its own segments. */
const pair = fc
  .record({
    common: fc.array(part, { maxLength: 6 }),
    changes: fc.array(
      fc.record({ at: fc.nat({ max: 99 }), drop: fc.nat({ max: 9 }), put: fc.array(id, { maxLength: 30 }) }),
      {
        maxLength: 4,
      },
    ),
    cuts: fc.array(fc.nat({ max: 200 }), { maxLength: 4 }),
  })
  .map(({ common, changes, cuts }) => {
    const right = common.flat()
    for (const { at, drop, put } of changes) right.splice(Math.min(at, right.length), drop, ...put)
    const places = [0, ...cuts.filter((at) => at <= right.length).sort((a, b) => a - b), right.length]
    return [common, places.slice(1).map((end, index) => right.slice(places[index], end))] as const
  })
const settings: fc.Arbitrary<Settings> = fc.record({
  arrangement: fc.constantFrom('lanes' as const, 'unified' as const),
  onlyDifferences: fc.boolean(),
  open: fc.uniqueArray(fc.nat({ max: 6 }), { maxLength: 7 }).map((all) => new Set(all)),
  columns: fc.integer({ min: 8, max: 40 }),
  rowHeight: fc.constantFrom(20, 24),
  isHalved: fc.boolean(),
})
const OPEN = new Set(Array.from({ length: 500 }, (_, index) => index))

describe('rows of any two sides', () => {
  test('contain every token of both sides once, in order, when all runs are unfolded', () => {
    fc.assert(
      fc.property(pair, settings, ([left, right], given) => {
        const rows = rowsOf(left, right, { ...given, open: OPEN })
        const shown = (side: SideName) =>
          allItems(rows).flatMap((item) =>
            Array.from({ length: item.rows }, (_, row) => drawnLine(rows, item, row, side)).flatMap((line) =>
              line
                ? Array.from({ length: line.end - line.start }, (_, at) => line.layout.firstToken + line.start + at)
                : [],
            ),
          )
        const every = (count: number) => Array.from({ length: count }, (_, token) => token)
        expect(shown('left')).toEqual(every(left.flat().length))
        if (given.arrangement === 'lanes') expect(shown('right')).toEqual(every(right.flat().length))
        else {
          const drift = rows.alignedRuns.filter(({ kind }) => kind === 'drift')
          expect(shown('right').length).toBe(drift.reduce((sum, { right: { start, end } }) => sum + end - start, 0))
        }
      }),
      { numRuns: runs(300) },
    )
  })

  test('consist of items that cover both sides, and folds that are long enough', () => {
    fc.assert(
      fc.property(pair, settings, ([left, right], given) => {
        const rows = rowsOf(left, right, given)
        const items = allItems(rows)
        for (const side of SIDES) {
          expect(items.map((item) => item[side].start)).toEqual(
            [0, ...items.map((item) => item[side].end)].slice(0, items.length),
          )
          expect(items.at(-1)?.[side].end ?? 0).toBe((side === 'left' ? left : right).flat().length)
        }
        for (const [number, item] of items.entries()) {
          expect(item.top).toBe(
            number === 0 ? 0 : elementAt(items, number - 1).top + elementAt(items, number - 1).height,
          )
          if (item.kind === 'tokens') continue
          expect(item.left.end - item.left.start).toBe(item.right.end - item.right.start)
          expect(item.left.end - item.left.start).toBeGreaterThanOrEqual(FEWEST_FOLDED)
          expect(given.open.has(item.runNumbers.start)).toBe(false)
        }
      }),
      { numRuns: runs(300) },
    )
  })

  test('can be found by a token, by their number and by their height', () => {
    fc.assert(
      fc.property(pair, settings, ([left, right], given) => {
        const rows = rowsOf(left, right, given)
        for (const side of SIDES)
          for (let token = 0; token < (side === 'left' ? left : right).flat().length; token++) {
            const item = itemOfToken(rows, side, token) as Item
            expect(token >= item[side].start && token < item[side].end).toBe(true)
            if (item.kind !== 'tokens') continue
            const place = rowInItem(rows, item, side, token)
            const line = drawnLine(rows, item, place.row, place.side)
            expect(line && place.token - line.layout.firstToken >= line.start).toBe(true)
            expect(line && place.token - line.layout.firstToken < line.end).toBe(true)
            expect(itemOfRow(rows, item.firstRow + place.row)?.number).toBe(item.number)
            expect(itemAtHeight(rows, line?.top ?? 0)?.number).toBe(item.number)
          }
        expect(itemsBetween(rows, 0, rows.height).map(({ number }) => number)).toEqual(
          allItems(rows).map(({ number }) => number),
        )
      }),
      { numRuns: runs(200) },
    )
  })

  test('contain unfolded tokens in the same lines on both sides', () => {
    fc.assert(
      fc.property(pair, settings, ([left, right], given) => {
        const rows = rowsOf(left, right, { ...given, arrangement: 'lanes', open: OPEN })
        for (const item of allItems(rows)) {
          if (!item.isOpened) continue
          for (let row = 0; row < item.rows; row++) {
            const [ours, theirs] = SIDES.map((side) => drawnLine(rows, item, row, side))
            expect(ours && theirs && textOf(Array.from(ours.layout.segment.ids).slice(ours.start, ours.end))).toBe(
              theirs && textOf(Array.from(theirs.layout.segment.ids).slice(theirs.start, theirs.end)),
            )
          }
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
