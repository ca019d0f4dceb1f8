import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Segment, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { type Folds, NO_FOLDS } from '../grid-options.ts'
import { createPieceTable } from '../pieces/piece-table.ts'
import {
  cellsOf,
  columnOfToken,
  createLayoutMaker,
  DEFAULT_ROW_HEIGHT,
  type Layout,
  type Line,
  lineAtHeight,
  lineNumbered,
  lineOfToken,
  linesBetween,
  SEGMENT_PADDING,
  segmentsBetween,
  tokenAtColumn,
  tokensBetween,
  UNFOLDED,
} from './layout.ts'
import { breakLines } from './line-store.ts'

/** Ids 5 and 6 are the bytes of 日; id 7 begins a character that nothing completes. */
const vocab: Vocab = {
  '0': 'ab',
  '1': ' ',
  '2': 'c\n',
  '3': '日',
  '4': 'x'.repeat(50),
  '5': { hex: 'e697' },
  '6': { hex: 'a5' },
  '7': { hex: 'f0' },
}
const IDS = [0, 1, 2, 3, 4, 5, 6, 7]
const newTable = () => createPieceTable((text) => 1.7 * text.length)
const tableOf = (words: Vocab) => {
  const table = newTable()
  table.takeVocab(words)
  return table
}
const promptOf = (ids: readonly number[]): Segment => ({ kind: 'prompt', ids, messages: [] })
const responseOf = (ids: readonly number[], thinks: readonly (readonly [number, number])[] = []): Segment => ({
  kind: 'response',
  ids,
  thinks: thinks.map(([start, end]) => ({ start, end, closed: true })),
  toolCalls: [],
})
const layoutOf = (segments: readonly SegmentView[], columns = 10, folds: Folds = NO_FOLDS): Layout =>
  createLayoutMaker(newTable())(segments, vocab, { ...UNFOLDED, columns, folds })
const allLines = (layout: Layout): Line[] => linesBetween(layout, 0, layout.height)
/** Returns the tokens of each line of a segment. */
const broken = (ids: readonly number[], columns: number): number[][] => {
  const { starts, lineCount } = breakLines(ids, tableOf(vocab), columns)
  return Array.from({ length: lineCount }, (_, line) =>
    Array.from(ids.slice(starts[line], line + 1 < lineCount ? starts[line + 1] : ids.length)),
  )
}

const idList = fc.array(fc.constantFrom(...IDS), { maxLength: 40 })
const columnCount = fc.integer({ min: 4, max: 30 })

describe('lines of a segment', () => {
  test('break where a token does not fit, and after a line break', () => {
    expect(broken([0, 1, 2, 0, 0, 0, 0, 0, 0], 6)).toEqual([
      [0, 1, 2],
      [0, 0, 0],
      [0, 0, 0],
    ])
  })

  test('contain every token once, and fit the width', () => {
    fc.assert(
      fc.property(idList, columnCount, (ids, columns) => {
        const layout = layoutOf([promptOf(ids)], columns)
        const seen: number[] = []
        for (const line of allLines(layout)) {
          let column = 0
          for (let index = line.start; index < line.end; index++) {
            seen.push(index)
            expect(columnOfToken(layout, line, index)).toBe(column)
            column += cellsOf(layout, ids, index)
          }
          expect(column).toBeLessThanOrEqual(columns)
        }
        expect(seen).toEqual(ids.map((_, index) => index))
      }),
    )
  })

  test('are the same for a growing segment as for the whole segment', () => {
    fc.assert(
      fc.property(fc.array(idList, { maxLength: 6 }), columnCount, fc.boolean(), (parts, columns, isPacked) => {
        const growing = createLayoutMaker(newTable())
        const buffer = new Int32Array(300)
        const settings = { ...UNFOLDED, columns }
        let ids: number[] = []
        let grown = growing([], vocab, settings)
        for (const part of parts) {
          ids = [...ids, ...part]
          buffer.set(part, ids.length - part.length)
          const open = responseOf(ids)
          grown = growing(
            [promptOf([0]), isPacked ? { ...open, ids: buffer.subarray(0, ids.length) } : open],
            vocab,
            settings,
          )
        }
        const whole = layoutOf([promptOf([0]), responseOf(ids)], columns)
        if (parts.length > 0) expect(allLines(grown).map(placeOf)).toEqual(allLines(whole).map(placeOf))
      }),
    )
  })

  test('are not computed again for tokens that have lines', () => {
    const table = newTable()
    let asked = 0
    const counted = {
      ...table,
      widths: () => new Uint16Array(0),
      widthOf: (id: number) => {
        asked++
        return table.widthOf(id)
      },
    }
    const make = createLayoutMaker(counted)
    const settings = { ...UNFOLDED, columns: 10 }
    const ids = Array(1000).fill(0)
    const prompt = promptOf(ids)
    make([prompt, responseOf(ids)], vocab, settings)
    asked = 0
    make([prompt, responseOf([...ids, 1, 2])], vocab, settings)
    expect(asked).toBe(2)
    make([prompt, responseOf([...ids, 1, 2, 3]), promptOf([1])], vocab, settings)
    expect(asked).toBe(4)
  })

  test('are computed again for another response', () => {
    const make = createLayoutMaker(newTable())
    const settings = { ...UNFOLDED, columns: 10 }
    make([responseOf([4, 4, 4])], vocab, settings)
    expect(make([responseOf([0, 0, 0, 0])], vocab, settings).lineCount).toBe(1)
  })

  test('follow texts that change', () => {
    const make = createLayoutMaker(newTable())
    const settings = { ...UNFOLDED, columns: 10 }
    const segments = [promptOf([0, 0, 0])]
    expect(make(segments, vocab, settings).lineCount).toBe(1)
    expect(make(segments, { '0': 'seven.7' }, settings).lineCount).toBe(3)
    const growing: Record<string, string> = {}
    expect(make([promptOf([9, 9])], growing, settings).lineCount).toBe(1)
    growing['9'] = 'nine nine'
    expect(make([promptOf([9, 9])], growing, settings).lineCount).toBe(2)
  })
})

const placeOf = ({ number, segmentIndex, start, end, top, isFolded }: Line) => ({
  number,
  segmentIndex,
  start,
  end,
  top,
  isFolded,
})

describe('layout of segments', () => {
  const space = 3 * DEFAULT_ROW_HEIGHT + 2 * SEGMENT_PADDING

  test('an empty segment has a position too', () => {
    const layout = layoutOf([promptOf([0]), promptOf([]), promptOf([1])])
    expect(layout.segments.map(({ top, firstToken }) => [top, firstToken])).toEqual([
      [0, 0],
      [space, 1],
      [2 * space, 1],
    ])
  })

  test('is the same for packed columns as for JSON arrays', () => {
    const segments = [promptOf([0, 1, 2, 3, 4, 5, 6]), responseOf([4, 4, 0, 2, 2])]
    const packed = pack({ ...sampleTrajectory, segments }).trajectory.segments
    expect(allLines(layoutOf(packed)).map(placeOf)).toEqual(allLines(layoutOf(segments)).map(placeOf))
  })

  test('every token is on the line that is found by index, by number and by height', () => {
    fc.assert(
      fc.property(fc.array(idList, { minLength: 1, maxLength: 5 }), columnCount, (lists, columns) => {
        const layout = layoutOf(lists.map(promptOf), columns)
        const count = lists.flat().length
        const seen: number[] = []
        for (const line of allLines(layout)) {
          expect(lineNumbered(layout, line.number)).toEqual(line)
          expect(lineAtHeight(layout, line.top + 1)).toEqual(line)
          for (let index = line.start; index < line.end; index++) {
            const token = line.layout.firstToken + index
            seen.push(token)
            expect(lineOfToken(layout, token)).toEqual(line)
            expect(tokenAtColumn(layout, line, columnOfToken(layout, line, token))).toBe(token)
          }
        }
        expect(seen).toEqual(Array.from({ length: count }, (_, index) => index))
        expect([
          lineOfToken(layout, count),
          lineOfToken(layout, -1),
          lineNumbered(layout, layout.lineCount),
          lineNumbered(layout, -1),
        ]).toEqual([undefined, undefined, undefined, undefined])
      }),
    )
  })

  test('only visible lines, segments and tokens are listed', () => {
    const layout = layoutOf([promptOf(Array(400).fill(2)), promptOf([0])])
    const [top, bottom] = [100 * DEFAULT_ROW_HEIGHT, 110 * DEFAULT_ROW_HEIGHT]
    expect(linesBetween(layout, top, bottom).length).toBeLessThan(13)
    expect(segmentsBetween(layout, top, bottom)).toEqual({ start: 0, end: 1 })
    expect(tokensBetween(layout, top, bottom)).toEqual({ start: 99, end: 110 })
    expect(tokensBetween(layoutOf([]), 0, 10)).toEqual({ start: 0, end: 0 })
  })

  test('a position beside the tokens gives the nearest token, and one between segments gives none', () => {
    const layout = layoutOf([promptOf([0, 1]), promptOf([])])
    const [line] = linesBetween(layout, 0, 20)
    expect(line && [tokenAtColumn(layout, line, 99), tokenAtColumn(layout, line, -5)]).toEqual([1, 0])
    expect(lineAtHeight(layout, layout.height - 1)).toBeUndefined()
    const empty = allLines(layout).at(-1)
    expect(empty && tokenAtColumn(layout, empty, 0)).toBe(-1)
  })
})

describe('layout with folds', () => {
  const think = fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)

  test('keeps every line that no fold touches, and every token', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...IDS), { minLength: 1, maxLength: 60 }),
        think,
        columnCount,
        (ids, [start, last], columns) => {
          const end = Math.min(ids.length, last + 1)
          fc.pre(start < end)
          const segments = [promptOf([0, 0]), responseOf(ids, [[start, end]]), promptOf([1])]
          const open = layoutOf(segments, columns)
          const folded = layoutOf(segments, columns, { segments: new Set(), thinks: new Set([2 + start]) })
          const tokensOf = (line: Line) => [line.layout.firstToken + line.start, line.layout.firstToken + line.end]
          const untouched = (line: Line) => line.segmentIndex !== 1 || line.end <= start || line.start >= end
          const kept = allLines(folded).map(tokensOf)
          for (const line of allLines(open).filter(untouched)) expect(kept).toContainEqual(tokensOf(line))
          expect(
            allLines(folded)
              .filter(({ isFolded }) => isFolded)
              .map(tokensOf),
          ).toEqual([[2 + start, 2 + end]])
          expect(
            kept.flatMap(([from = 0, to = 0]) => Array.from({ length: to - from }, (_, index) => from + index)),
          ).toEqual(Array.from({ length: ids.length + 3 }, (_, index) => index))
        },
      ),
    )
  })

  test('two adjacent think blocks fold to two lines', () => {
    const segments = [
      responseOf(
        [0, 1, 2, 3, 0, 1],
        [
          [0, 2],
          [2, 4],
        ],
      ),
    ]
    const folded = layoutOf(segments, 10, { segments: new Set(), thinks: new Set([0, 2]) })
    expect(allLines(folded).map(({ start, end, isFolded }) => [start, end, isFolded])).toEqual([
      [0, 2, true],
      [2, 4, true],
      [4, 6, false],
    ])
  })

  test('a folded segment is one line', () => {
    const layout = layoutOf([promptOf(Array(50).fill(2)), promptOf([0])], 10, {
      segments: new Set([0]),
      thinks: new Set(),
    })
    expect(layout.lineCount).toBe(2)
    expect(lineOfToken(layout, 30)).toMatchObject({ number: 0, isFolded: true, start: 0, end: 50 })
    const line = lineOfToken(layout, 30)
    expect(line && tokenAtColumn(layout, line, 9)).toBe(0)
    expect(layout.segments[0]?.height).toBeLessThan(layout.segments[1]?.height ?? 0)
  })

  test('takes lines that no fold changed from the layout before', () => {
    const make = createLayoutMaker(newTable())
    const segments = [promptOf([0]), responseOf([0, 1, 2], [[0, 2]])]
    const settings = { ...UNFOLDED, columns: 10 }
    const first = make(segments, vocab, settings)
    expect(make(segments, vocab, settings).segments[1]).toBe(first.segments[1])
    const folded = make(segments, vocab, { ...settings, folds: { segments: new Set(), thinks: new Set([1]) } })
    expect(folded.segments[1]?.lineCount).toBe(2)
    expect(make(segments, vocab, settings).segments[1]?.lineCount).toBe(1)
  })
})
