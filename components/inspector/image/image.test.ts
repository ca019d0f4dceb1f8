import { describe, expect, test } from 'vitest'
import { trajectoryReading } from '#components/token-view/card/token-reading.ts'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { createLayoutMaker } from '#components/token-view/grid/layout.ts'
import type { TokenPicture } from '#components/token-view/grid/token-picture.ts'
import { DEFAULT_GRID_OPTIONS, NO_FOLDS } from '#components/token-view/grid-options.ts'
import { createPieceTable } from '#components/token-view/pieces/piece-table.ts'
import { single } from '#components/token-view/selection.ts'
import { segmentStarts, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { gridImage, imageRange } from './grid-image.ts'
import { legendParts } from './legend-parts.ts'

function pictureOf(trajectory: TrajectoryView, folds = NO_FOLDS): TokenPicture {
  const layout = createLayoutMaker(createPieceTable((text) => text.length))(trajectory.segments, trajectory.vocab, {
    columns: 40,
    rowHeight: 24,
    folds,
  })
  return {
    trajectory,
    layout,
    reading: trajectoryReading(colouringOf(trajectory, 'mask')),
    cell: 8,
    specialIds: new Set(trajectory.model.tokenizer?.specialIds),
    pointed: undefined,
    selection: undefined,
    marks: [],
    options: DEFAULT_GRID_OPTIONS,
    canFold: false,
  }
}

const imageOf = (start: number, end: number, picture = pictureOf(sample)) =>
  gridImage(picture, colouringOf(picture.trajectory, 'mask'), { start, end }, 'sample')

test('the image contains the tokens of its range, each once, in order', () => {
  const all = imageOf(0, tokenCount(sample))
  expect(all.rows.flatMap(({ tokens }) => tokens)).toHaveLength(tokenCount(sample))
  expect(all.rails.map(({ texts }) => texts[0])).toEqual(
    sample.segments.map((_, index) => `#${index} · ${segmentStarts(sample)[index]}`),
  )
  const some = imageOf(2, 5).rows.flatMap(({ tokens }) => tokens)
  expect(some.map(({ text }) => text.trim())).toEqual(['<end>', '<think>', expect.stringContaining('E6 97')])
  expect(some.map(({ trained }) => trained)).toEqual([false, true, true])
})

test('the image has the background bars of the token view, for the tokens of its range only', () => {
  const coloured = (range: readonly [number, number], colour: RegExp, picture = pictureOf(sample)) =>
    imageOf(...range, picture).rows.map(({ bars }) =>
      bars.flatMap(({ runs, top, height }) =>
        runs.flatMap(({ from, to, colour: own }) => (colour.test(own) ? [{ from, to, top, height }] : [])),
      ),
    )
  const [prompt, response] = imageOf(2, 5).rows.map(({ tokens }) => tokens.map(({ from, to }) => [from, to] as const))
  const underline = { from: 0, to: response?.at(-1)?.[1], top: 22, height: 2 }
  expect(coloured([2, 5], /--trained/)).toEqual([[], [underline]])
  const forced = {
    ...sample,
    segments: sample.segments.map((segment) =>
      segment.kind === 'response' ? { ...segment, forced: [{ start: 0, end: 1, as: 'ids' as const }] } : segment,
    ),
  }
  expect(coloured([2, 5], /--warn/)).toEqual([[], []])
  expect(coloured([2, 5], /--warn/, pictureOf(forced))[1]).not.toEqual([])
  const edge = { from: prompt?.[0]?.[0], to: prompt?.[0]?.[1], height: 1 }
  expect(coloured([2, 3], /--special-edge/)[0]).toEqual(
    expect.arrayContaining([
      { ...edge, top: 3 },
      { ...edge, top: 20 },
    ]),
  )
  const boundaries = { ...pictureOf(sample), options: { ...DEFAULT_GRID_OPTIONS, showsBoundaries: true } }
  expect(coloured([0, 3], /--token-boundary/)).toEqual([[]])
  expect(coloured([0, 3], /--token-boundary/, boundaries)[0]).toHaveLength(3)
})

test('rows of the image do not overlap, and all are inside the image', () => {
  const { rows, rails, width, height, rowHeight } = imageOf(0, tokenCount(sample))
  for (const [index, { top }] of rows.entries())
    if (index > 0) expect(top).toBeGreaterThanOrEqual((rows[index - 1]?.top ?? 0) + rowHeight)
  expect((rows.at(-1)?.top ?? 0) + rowHeight).toBeLessThanOrEqual(height)
  expect((rails.at(-1)?.top ?? 0) + 4 * 15).toBeLessThanOrEqual(height)
  for (const { to } of rows.flatMap(({ tokens }) => tokens)) expect(to).toBeLessThanOrEqual(width)
})

test('the image has a largest height, and reports how many lines it leaves out', () => {
  const [prompt] = sample.segments
  const long = {
    ...sample,
    segments: [{ ...prompt, ids: Array(3_000).fill(8), logprobs: undefined }],
  } as TrajectoryView
  const { rows, left, height } = imageOf(0, 3_000, pictureOf(long))
  expect(rows.length + left).toBe(3_000)
  expect(left).toBeGreaterThan(2_000)
  expect(height).toBeLessThanOrEqual(8_100)
})

test('the image shows a folded segment as one line', () => {
  const folded = pictureOf(sample, { segments: new Set([1]), thinks: new Set() })
  const { rows } = imageOf(0, tokenCount(sample), folded)
  expect(rows.filter((row) => row.folded !== undefined).map((row) => row.folded)).toEqual(['▸ 5 tok'])
})

test('the image shows the selection if it has several tokens, else the visible tokens', () => {
  const inSight = { start: 0, end: 8 }
  expect(imageRange({ anchor: 4, focus: 2 }, inSight)).toEqual({ start: 2, end: 5 })
  expect(imageRange(single(3), inSight)).toBe(inSight)
  expect(imageRange(undefined, undefined)).toBeUndefined()
})

describe('legend of the image', () => {
  const partsOf = (name: string) => legendParts(colouringOf(sample, name))
  test('shows the ends of a number scale, the names of categories, and nothing without colours', () => {
    const surprise = partsOf('logprob')
    expect(surprise[0]).toEqual({ kind: 'text', text: 'surprisal 0' })
    expect(surprise[1]?.kind === 'colours' && surprise[1].colours).toHaveLength(8)
    expect(partsOf('mask').some((part) => part.kind === 'text' && /trained/.test(part.text))).toBe(true)
    expect(partsOf('none')).toEqual([])
  })
})
