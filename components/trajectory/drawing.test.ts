import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Segment } from '#lib/core/trajectory.ts'
import {
  breakLines,
  createLayoutCache,
  type Layout,
  layoutTrajectory,
  lineAtHeight,
  lineNumbered,
  lineOfToken,
  linesBetween,
  ROW_HEIGHT,
  SEGMENT_PADDING,
  tokenAtColumn,
} from './layout.ts'
import { countText, decimalText, durationText, percentText } from './numbers.ts'
import { outcomeText } from './outcome-text.ts'
import { createPieceTable } from './piece-table.ts'
import { pieceView } from './piece-view.ts'
import { joinStretches, rowBackground } from './row-background.ts'

describe('the text of a token', () => {
  test.each([
    [' the', ' the', '·', true, false],
    ['a\n', 'a ', ' ↵', true, true],
    ['\n\n', '  ', '↵↵', true, true],
    ['\t', ' ', '⇥', true, false],
    ['\r\n', '  ', '␍↵', true, true],
    ['日本', '日本', '', false, false],
    ['\u200B', '⟨U+200B⟩', '', false, false],
    ['\u202E', '⟨U+202E⟩', '', false, false],
    ['\u001b', '⟨U+001B⟩', '', false, false],
    ['\u00A0', '⟨U+00A0⟩', '', false, false],
    ['\u{E0041}', '⟨U+E0041⟩', '', false, false],
    ['', '⟨empty⟩', '', false, false],
  ])('%j', (entry, text, marks, isPlain, endsLine) => {
    const view = pieceView(entry)
    expect([view.text, view.marks.trimEnd(), view.isPlain, view.endsLine]).toEqual([text, marks, isPlain, endsLine])
  })

  test('bytes that are no text are digits', () => {
    expect(pieceView({ hex: 'e697' }).text).toBe('⟨E6 97⟩')
  })

  test('a very long one is cut, and says by how much', () => {
    expect(pieceView('x'.repeat(20_000)).text).toMatch(/^x{400}…⟨19,600 more⟩$/)
  })

  test('text and marks are equally wide, whatever the token', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (entry) => {
        const { text, marks } = pieceView(entry)
        expect([...marks].length).toBeLessThanOrEqual(text.length)
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }),
    )
  })
})

const vocab = { '0': 'ab', '1': ' ', '2': 'c\n', '3': '日', '4': 'x'.repeat(50) }
const table = createPieceTable((text) => 1.7 * text.length)
const segmentOf = (ids: number[]): Segment => ({ kind: 'prompt', ids, messages: [] })
const layoutOf = (lists: number[][], columns = 10): Layout =>
  layoutTrajectory(lists.map(segmentOf), vocab, table, columns, createLayoutCache())

describe('the layout', () => {
  test('breaks lines where a token no longer fits, and after a line break', () => {
    expect(breakLines([0, 1, 2, 0, 0, 0, 0, 0, 0], vocab, table, 6)).toEqual({
      starts: [0, 3, 6, 9],
      columns: [0, 2, 3, 0, 2, 4, 0, 2, 4],
    })
  })

  test('wide glyphs take as many cells as they measure, rounded up', () => {
    expect(table.piece(3, vocab).cells).toBe(2)
    expect(table.piece(99, vocab).text).toBe('⟨99⟩')
  })

  test('an empty segment has a place too', () => {
    const layout = layoutOf([[0], [], [1]])
    expect(layout.segments.map(({ top, firstToken }) => [top, firstToken])).toEqual([
      [0, 0],
      [3 * ROW_HEIGHT + 2 * SEGMENT_PADDING, 1],
      [2 * (3 * ROW_HEIGHT + 2 * SEGMENT_PADDING), 1],
    ])
  })

  test('lines of a closed segment are laid out once', () => {
    const cache = createLayoutCache()
    const segments = [segmentOf([0, 1])]
    const first = layoutTrajectory(segments, vocab, table, 10, cache)
    const second = layoutTrajectory([...segments, segmentOf([2])], vocab, table, 10, cache)
    expect(second.segments[0]?.starts).toBe(first.segments[0]?.starts)
  })

  test('every token is on the line that is found for it, by index, by number and by place', () => {
    const lists = fc.array(fc.array(fc.constantFrom(0, 1, 2, 3, 4), { maxLength: 40 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(lists, fc.integer({ min: 4, max: 30 }), (ids, columns) => {
        const layout = layoutOf(ids, columns)
        const count = ids.flat().length
        const seen: number[] = []
        for (const line of linesBetween(layout, 0, layout.height)) {
          expect(lineNumbered(layout, line.number)).toEqual(line)
          expect(lineAtHeight(layout, line.top + 1)).toEqual(line)
          for (let index = line.start; index < line.end; index++) {
            const token = line.layout.firstToken + index
            seen.push(token)
            expect(lineOfToken(layout, token)).toEqual(line)
            expect(tokenAtColumn(line, line.layout.columns[index] ?? 0)).toBe(token)
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

  test('only what is in sight is listed', () => {
    const layout = layoutOf([Array(400).fill(2)])
    expect(linesBetween(layout, 100 * ROW_HEIGHT, 110 * ROW_HEIGHT).length).toBeLessThan(13)
  })

  test('a place beside the tokens means the nearest one, a place between segments none', () => {
    const layout = layoutOf([[0, 1], []])
    const [line] = linesBetween(layout, 0, 20)
    expect(line && [tokenAtColumn(line, 99), tokenAtColumn(line, -5)]).toEqual([1, 0])
    expect(lineAtHeight(layout, layout.height - 1)).toBeUndefined()
    const empty = linesBetween(layout, 0, layout.height).at(-1)
    expect(empty && tokenAtColumn(empty, 0)).toBe(-1)
  })
})

describe('the background of a row', () => {
  test('neighbours of one colour are one stretch', () => {
    const part = (from: number, to: number, colour: string) => ({ from, to, colour })
    expect(joinStretches([part(0, 1, 'a'), part(1, 2, 'a'), part(2, 3, 'b'), part(4, 5, 'b')])).toEqual([
      part(0, 2, 'a'),
      part(2, 3, 'b'),
      part(4, 5, 'b'),
    ])
  })

  test('is drawn as hard stops, a layer for each meaning', () => {
    const style = rowBackground({
      heat: [{ from: 8, to: 16, colour: 'red' }],
      trained: [{ from: 0, to: 16, colour: 'green' }],
      special: [],
    })
    expect(style.backgroundImage).toBe(
      'linear-gradient(90deg, green 0px 16px, transparent 16px), linear-gradient(90deg, transparent 0px 8px, red 8px 16px, transparent 16px)',
    )
    expect(style.backgroundSize.split(', ')).toHaveLength(2)
    expect(rowBackground({ heat: [], trained: [], special: [] }).backgroundImage).toBe('')
    const band = [{ from: 0, to: 8, colour: 'teal' }]
    expect(rowBackground({ heat: [], trained: [], special: [], bands: [band, [], band, band] })).toMatchObject({
      backgroundSize: '100% 2px, 100% 2px, 100% 2px',
      backgroundPosition: '0 1px, 0 19px, 0 22px',
    })
    expect(
      rowBackground({ heat: [], trained: [], special: [{ from: 0, to: 8, colour: 'grey' }] }).backgroundImage.split(
        'linear-gradient',
      ),
    ).toHaveLength(4)
  })
})

test('numbers are written for people', () => {
  expect([
    countText(1234567),
    decimalText(-0.1234),
    decimalText(null),
    decimalText(-0.00001234),
    decimalText(0, 4),
  ]).toEqual(['1,234,567', '−0.123', '—', '−1.2e−5', '0.0000'])
  expect([
    percentText(0),
    percentText(0.00001),
    percentText(0.5),
    percentText(0.99999),
    percentText(1),
    percentText(0.123),
  ]).toEqual(['0 %', '< 0.1 %', '50 %', '> 99.9 %', '100 %', '12.3 %'])
  expect([durationText(1.23), durationText(999), durationText(1500), durationText(61_000)]).toEqual([
    '1.2 ms',
    '999 ms',
    '1.5 s',
    '1 min 1 s',
  ])
})

test('outcomes say what happened and what to do', () => {
  expect(outcomeText({ kind: 'running' })).toBeUndefined()
  expect(outcomeText({ kind: 'ended', reason: 'end_turn' })).toBeUndefined()
  expect(outcomeText({ kind: 'ended', reason: 'length' })).toMatchObject({
    tone: 'note',
    hint: expect.stringContaining('max_new_tokens'),
  })
  expect(outcomeText({ kind: 'failed', code: 'X', message: 'it broke', hint: 'mend it' })).toEqual({
    tone: 'bad',
    title: 'It broke (X)',
    hint: 'mend it',
  })
})
