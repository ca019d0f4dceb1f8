import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { createLayoutMaker, UNFOLDED } from '#components/token-view/grid/layout.ts'
import { createPieceTable } from '#components/token-view/pieces/piece-table.ts'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import { forcedRanges, minimapPicture, rowFinder } from './picture.ts'
import { heatPixels } from './raster.ts'

const vocab = { '0': 'ab', '1': 'c\n' }
const table = createPieceTable((text) => text.length)

function pictureOf(segments: readonly Segment[], height: number, density = 1) {
  const colouring = colouringOf({ segments, model: { tools: [] } }, 'logprob', 1)
  const layout = createLayoutMaker(table)(segments, vocab, { ...UNFOLDED, columns: 20 })
  return { colouring, picture: minimapPicture(layout, colouring, height, density) }
}

const response = (logprobs: readonly number[], ids: readonly number[] = logprobs.map(() => 0)): Segment => ({
  kind: 'response',
  ids: [...ids],
  logprobs: [...logprobs],
  thinks: [],
  toolCalls: [],
})

const sum = (numbers: Uint32Array) => numbers.reduce((a, b) => a + b, 0)

test('the minimap counts every token once, in the row that is found for the token', () => {
  const segment = fc.record({
    kind: fc.constantFrom('prompt', 'response'),
    ids: fc.array(fc.constantFrom(0, 1), { maxLength: 60 }),
  })
  fc.assert(
    fc.property(
      fc.array(segment, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 300 }),
      fc.constantFrom(1, 2),
      (parts, height, density) => {
        const segments = parts.map(
          ({ kind, ids }): Segment =>
            kind === 'response'
              ? response(
                  ids.map(() => -1),
                  ids,
                )
              : { kind: 'prompt', ids, messages: [] },
        )
        const { picture } = pictureOf(segments, height, density)
        const all = segments.flatMap(({ ids }) => ids)
        expect(picture.rows).toBeLessThanOrEqual(height)
        expect(sum(picture.counts)).toBe(all.length)
        expect(sum(picture.trained)).toBe(segments.flatMap(({ kind, ids }) => (kind === 'response' ? ids : [])).length)
        const rowOf = rowFinder(picture)
        const rows = all.map((_, token) => rowOf(token))
        const anyOrder = all.map((_, token) => (token * 7) % all.length)
        expect(anyOrder.map(rowOf)).toEqual(anyOrder.map((token) => rows[token]))
        expect(rows).toEqual([...rows].sort((a, b) => a - b))
        const counted = new Uint32Array(picture.rows)
        for (const row of rows) counted[row] = (counted[row] as number) + 1
        for (let row = 0; row < picture.rows; row++)
          expect(sum(picture.counts.subarray(row * picture.levels, (row + 1) * picture.levels))).toBe(counted[row])
      },
    ),
  )
})

describe('pixels of the minimap', () => {
  const ORDER = [8, 7, 6, 5, 4, 3, 2, 1]
  const COLOURS = Uint32Array.from({ length: 18 }, (_, level) => (level >= 1 && level <= 8 ? level : 0))

  test('a single hot token among thousands is one CSS pixel wide, at the left', () => {
    const logprobs = Array.from({ length: 5000 }, (_, index) => (index === 2500 ? -9 : index % 2 === 0 ? -0.5 : 0))
    const { picture } = pictureOf([response(logprobs)], 3, 2)
    expect(picture.rows).toBe(3)
    const pixels = heatPixels(picture, COLOURS, ORDER, 88, 2)
    const row = rowFinder(picture)(2500)
    const hot = Array.from({ length: 3 }, (_, at) =>
      pixels.subarray(at * 88, (at + 1) * 88).filter((pixel) => pixel === 8),
    )
    expect(hot.map(({ length }) => length)).toEqual([0, 1, 2].map((at) => (at === row ? 2 : 0)))
    expect([pixels[row * 88], pixels[row * 88 + 1], pixels[row * 88 + 2]]).toEqual([8, 8, 4])
  })

  test('the widest bar fills the width, and tokens without a colour are not drawn', () => {
    const { picture } = pictureOf(
      [{ kind: 'prompt', ids: Array(40).fill(0), messages: [] }, response(Array(10).fill(-1))],
      2,
    )
    const pixels = heatPixels(picture, COLOURS, ORDER, 40, 1)
    expect([...pixels.subarray(0, 40)].every((pixel) => pixel === 0)).toBe(true)
    expect([...pixels.subarray(40)].every((pixel) => pixel === 8)).toBe(true)
  })

  test('an empty trajectory has no coloured pixels', () => {
    const { picture } = pictureOf([], 10)
    expect([...heatPixels(picture, COLOURS, ORDER, 4, 1)]).toEqual([0, 0, 0, 0])
    expect(rowFinder(picture)(5)).toBe(0)
  })
})

test('the minimap marks the tokens that a branch inserted, at their positions in the trajectory', () => {
  const forced = [
    { start: 1, end: 2, as: 'ids' as const },
    { start: 3, end: 5, as: 'text' as const },
  ]
  const segments: Segment[] = [
    { kind: 'prompt', ids: [0, 0, 0], messages: [] },
    { ...response([-1, -1, -1, -1, -1]), forced } as Segment,
    response([-1]),
  ]
  const layout = createLayoutMaker(table)(segments, vocab, { ...UNFOLDED, columns: 20 })
  expect([...forcedRanges(layout)]).toEqual([4, 5, 6, 8])
})
