import { describe, expect, test } from 'vitest'
import type { Message, PromptSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { spansAround } from '../card/spans-around.ts'
import { trajectoryReading } from '../card/token-reading.ts'
import { colouringOf } from '../colour/colouring.ts'
import { selectionOfKey } from '../grid/grid-keys.ts'
import {
  columnOfToken,
  createLayoutMaker,
  type Layout,
  type Line,
  lineOfToken,
  linesBetween,
  tokenAtColumn,
  UNFOLDED,
} from '../grid/layout.ts'
import type { TokenPicture } from '../grid/token-picture.ts'
import { makeRow, paintRow } from '../grid/token-row.ts'
import { DEFAULT_GRID_OPTIONS, type Folds, NO_FOLDS } from '../grid-options.ts'
import { allToggled, foldToggled, foldToggledAt, unfoldedAt } from '../pieces/folding.ts'
import { createPieceTable } from '../pieces/piece-table.ts'
import { boxedImages } from './image-line.ts'

const [START, PAD, END, TEXT] = [1, 2, 3, 4]
const vocab = { [START]: '<|vision_start|>', [PAD]: '<|image_pad|>', [END]: '<|vision_end|>', [TEXT]: 'look' }
const image = (url: string) => ({ type: 'image', image: url })
const message: Message = { role: 'user', content: [image(PNG_URL), { type: 'text', text: 'look' }, image(JPEG_URL)] }
const svg = image(`data:image/png;base64,${btoa('<svg onload="alert(1)"/>')}`)
const withSvg: Message = { role: 'user', content: [svg] }
const prompt = (ids: readonly number[], ...messages: readonly Message[]): PromptSegment => ({
  kind: 'prompt',
  ids,
  messages,
})
const trajectory: Trajectory = {
  ...sample,
  vocab,
  model: { ...sample.model, tokenizer: { name: 't', specialIds: [START, PAD, END] } },
  segments: [prompt([START, PAD, PAD, PAD, END, TEXT, START, PAD], message), prompt([START, PAD, PAD, END], withSvg)],
}

const layoutOf = (folds: Folds = NO_FOLDS, shown = trajectory): Layout =>
  createLayoutMaker(createPieceTable((text) => text.length))(shown.segments, shown.vocab, {
    ...UNFOLDED,
    columns: 40,
    folds,
    images: (index) => boxedImages(shown, index),
  })
const allLines = (layout: Layout): Line[] => linesBetween(layout, 0, layout.height)
/** Draws lines as the range of their tokens, with a * for the name of an image and a + for a line of its picture. */
const drawn = (layout: Layout): string[] =>
  allLines(layout).map(({ start, end, isFolded, image }) => `${start}-${end}${isFolded ? '*' : image ? '+' : ''}`)
const PICTURE = (end: number) => Array.from({ length: 5 }, () => `${end}-${end}+`)

describe('Images in the token view', () => {
  test('are boxes: one line with the tokens, and lines for the picture where there is one', () => {
    expect(drawn(layoutOf())).toEqual([
      '0-1',
      '1-4*',
      ...PICTURE(4),
      '4-5',
      '5-7',
      '7-8*',
      ...PICTURE(8),
      '0-1',
      '1-3*',
      '3-4',
    ])
  })

  test('keep every token in exactly one line, which is found by the token', () => {
    const layout = layoutOf()
    const tokens = allLines(layout).flatMap(({ layout: { firstToken }, start, end }) =>
      Array.from({ length: end - start }, (_, offset) => firstToken + start + offset),
    )
    expect(tokens).toEqual(Array.from({ length: 12 }, (_, index) => index))
    for (const token of tokens) {
      const line = lineOfToken(layout, token) as Line
      expect(line.layout.firstToken + line.start).toBeLessThanOrEqual(token)
      expect(token).toBeLessThan(line.layout.firstToken + line.end)
      if (!line.isFolded) expect(tokenAtColumn(layout, line, columnOfToken(layout, line, token))).toBe(token)
    }
  })

  test('show their tokens one by one, and are boxes again, by click and by key', () => {
    const open = foldToggled(NO_FOLDS, { kind: 'image', at: 1 })
    expect(drawn(layoutOf(open)).slice(0, 4)).toEqual(['0-2', '2-5', '5-7', '7-8*'])
    expect(foldToggledAt(NO_FOLDS, trajectory, 2)).toEqual(open)
    expect(foldToggledAt(open, trajectory, 3).openImages?.size).toBe(0)
    expect(foldToggledAt(NO_FOLDS, trajectory, 5)).toEqual({ ...NO_FOLDS, segments: new Set([0]) })
    // An image in a folded segment is hidden, so the segment is unfolded.
    expect(foldToggledAt({ ...NO_FOLDS, segments: new Set([0]) }, trajectory, 2)).toEqual(NO_FOLDS)
  })

  test('stay open while segments are folded and unfolded', () => {
    const open = foldToggled(NO_FOLDS, { kind: 'image', at: 1 })
    const folded = allToggled(open, trajectory)
    expect(drawn(layoutOf(folded))).toEqual(['0-8*', '0-4*'])
    expect(allToggled(folded, trajectory)).toEqual(open)
    expect(unfoldedAt(folded, trajectory, 1).openImages).toBe(open.openImages)
  })

  test('are passed by key in one step, and selected as a whole', () => {
    const layout = layoutOf()
    const press = (key: string, focus: number) =>
      selectionOfKey(key, { layout, count: 12, selection: { anchor: focus, focus }, pageLines: 3 })?.selection?.focus
    expect([press('ArrowDown', 0), press('ArrowDown', 1), press('ArrowUp', 4), press('ArrowUp', 1)]).toEqual([
      1, 4, 1, 0,
    ])
    expect(spansAround(trajectory, 2)).toEqual([
      { start: 1, end: 4 },
      { start: 0, end: 8 },
    ])
  })
})

describe('The row of an image', () => {
  const pictureOf = (folds: Folds = NO_FOLDS, canFold = true): TokenPicture => ({
    trajectory,
    layout: layoutOf(folds),
    reading: trajectoryReading(colouringOf(trajectory, 'mask')),
    cell: 8,
    specialIds: new Set(),
    pointed: undefined,
    selection: undefined,
    marks: [],
    options: DEFAULT_GRID_OPTIONS,
    canFold,
  })
  const paint = (picture: TokenPicture, number: number, row = makeRow()) => {
    paintRow(row, allLines(picture.layout)[number] as Line, picture)
    return row.element
  }
  const buttons = (element: HTMLElement) =>
    Array.from(element.querySelectorAll<HTMLElement>('[data-fold]'), ({ dataset, title }) => [dataset.fold, title])

  test('has its name, which opens its tokens, and its picture', () => {
    const element = paint(pictureOf(), 1)
    expect(element.querySelector('.token-image-name')?.textContent).toBe('▸ image 1 · PNG, 6 × 4 · 3 tokens')
    expect(buttons(element)).toEqual([['image 1', 'Show its tokens']])
    const picture = element.querySelector('img')
    expect([picture?.getAttribute('src'), picture?.alt, picture?.style.height]).toEqual([PNG_URL, 'Image 1', '114px'])
  })

  test('says how many tokens the server read, if they are others than those that were sent', () => {
    const request = { server: '', samplingParams: {}, inputLength: 0, inputHash: '', streamed: false }
    const textOf = (tokens: readonly number[]) => {
      const read = {
        kind: 'response',
        ids: [],
        thinks: [],
        toolCalls: [],
        request: { ...request, images: { count: 3, tokens } },
      }
      const shown = { ...trajectory, segments: [...trajectory.segments, read] } as Trajectory
      return paint({ ...pictureOf(), trajectory: shown }, 1).textContent
    }
    expect(textOf([1024, 3, 1])).toBe('▸ image 1 · PNG, 6 × 4 · 3 tokens, read as 1,024')
    expect(textOf([3, 3, 1])).toBe('▸ image 1 · PNG, 6 × 4 · 3 tokens')
  })

  test('has the reason in words where the image cannot be shown, and loads nothing', () => {
    const element = paint(pictureOf(), 16)
    expect(element.textContent).toBe('▸ image 3 · Its bytes are no PNG, JPEG, WebP or GIF image · 2 tokens')
    expect(element.querySelector('img')).toBeNull()
  })

  test('has no button in a view that folds nothing', () => {
    const element = paint(pictureOf(NO_FOLDS, false), 1)
    expect(element.textContent).toBe('image 1 · PNG, 6 × 4 · 3 tokens')
    expect(buttons(element).filter(([fold]) => fold !== '')).toEqual([])
  })

  test('whose tokens are shown has a button that shows the image', () => {
    const picture = pictureOf(foldToggled(NO_FOLDS, { kind: 'image', at: 1 }))
    expect(buttons(paint(picture, 0))).toEqual([['image 1', 'Show the image']])
    expect(buttons(paint(picture, 1))).toEqual([])
  })

  test('is used again for other tokens without the picture, and keeps a picture that it has', () => {
    const row = makeRow()
    const first = pictureOf()
    const loaded = paint(first, 1, row).querySelector('img')
    const marked = { ...first, marks: [{ kind: 'hit', ranges: Int32Array.of(2, 4) }] } as const
    expect(paint(marked, 1, row).querySelector('img')).toBe(loaded)
    expect(row.element.textContent).toContain('3 tokens · 1 hit')
    expect(paint(first, 0, row).querySelector('img')).toBeNull()
    expect(row.element.textContent).toContain('<|vision_start|>')
    expect(paint(first, 3, row).querySelector('img, [data-fold="image 1"]')).toBeNull()
  })
})
