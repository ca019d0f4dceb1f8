/** The image of a token view as data: position, text and marks of each token. Units are CSS pixels. */

import type { Colouring } from '#components/token-view/colour/colouring.ts'
import { type Line, lineNumbered, lineOfToken } from '#components/token-view/grid/layout.ts'
import { type BackgroundBar, backgroundBars } from '#components/token-view/grid/row-background.ts'
import type { TokenPicture } from '#components/token-view/grid/token-picture.ts'
import { lineMarks, type TokenInRow, tokensInLine } from '#components/token-view/grid/token-row.ts'
import { countText } from '#components/token-view/numbers.ts'
import { type Selection, selectedRange } from '#components/token-view/selection.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { spansOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { visibleText } from '../../ui/visible-text.ts'
import { type LegendPart, legendParts } from './legend-parts.ts'

/** Everything that the image contains. */
export interface GridImage {
  readonly width: number
  readonly height: number
  readonly rowHeight: number
  readonly fontSize: number
  readonly cell: number
  readonly title: string
  readonly legend: readonly LegendPart[]
  readonly rails: readonly ImageRail[]
  readonly rows: readonly ImageRow[]
  /** Number of lines that did not fit; 0 = none. */
  readonly left: number
}

/** Texts beside the first line of a segment. */
export interface ImageRail {
  readonly top: number
  readonly texts: readonly string[]
  readonly isResponse: boolean
}

/** A line of tokens. */
export interface ImageRow {
  readonly top: number
  readonly isThink: boolean
  readonly isCall: boolean
  /** Text of a line of folded tokens; undefined for other lines. */
  readonly folded: string | undefined
  /** Coloured areas below the texts, the first on top. */
  readonly bars: readonly BackgroundBar[]
  readonly tokens: readonly ImageToken[]
}

/** A token of a line and its text. */
export interface ImageToken extends TokenInRow {
  readonly text: string
  readonly marks: string
  readonly isPlain: boolean
}

/** Height of the title and the legend, in pixels. */
export const HEAD_HEIGHT = 64
/** Width of the rail, in pixels. */
export const RAIL_WIDTH = 92
const RIGHT_MARGIN = 16
const SEGMENT_GAP = 20
const RAIL_LINE = 15
/** Largest height in CSS pixels. Browsers draw canvases of up to 16,384 pixels, and the image is drawn at twice its size. */
const TALLEST = 8_000

/** Returns the image of the tokens in `range`, which is half-open. */
export function gridImage(picture: TokenPicture, colouring: Colouring, range: Span, name: string): GridImage {
  const { layout, reading, cell, options } = picture
  const lines = linesOf(picture, range)
  const rails: ImageRail[] = []
  const rows: ImageRow[] = []
  let top = HEAD_HEIGHT
  let lowest = top
  let drawn = 0
  for (const [index, line] of lines.entries()) {
    const isFirst = line.segmentIndex !== lines[index - 1]?.segmentIndex
    if (isFirst && index > 0) top = Math.max(top, lowest) + SEGMENT_GAP
    if (top + layout.rowHeight > TALLEST) break
    if (isFirst) {
      const { segment, firstToken } = line.layout
      const texts = [
        `#${line.segmentIndex} · ${firstToken}`,
        reading.title(segment, line.segmentIndex),
        reading.mask(segment, line.segmentIndex),
        `${countText(segment.ids.length)} tok`,
      ]
      rails.push({ top, texts, isResponse: segment.kind === 'response' })
      lowest = top + texts.length * RAIL_LINE
    }
    rows.push(rowOf(line, top, range, picture))
    top += layout.rowHeight
    drawn++
  }
  return {
    width: Math.ceil(RAIL_WIDTH + layout.columns * cell + RIGHT_MARGIN),
    height: Math.ceil(Math.max(top, lowest) + SEGMENT_GAP / 2),
    rowHeight: layout.rowHeight,
    fontSize: options.fontSize,
    cell,
    title: `${visibleText(name)} · tokens ${countText(range.start)} to ${countText(range.end - 1)} of ${countText(tokenCount(picture.trajectory))}`,
    legend: legendParts(colouring),
    rails,
    rows,
    left: lines.length - drawn,
  }
}

/** Returns the tokens of the image: the selection if it has more than one token, else the visible tokens. */
export const imageRange = (selection: Selection | undefined, inSight: Span | undefined): Span | undefined =>
  selection && selection.anchor !== selection.focus ? selectedRange(selection) : inSight

function linesOf({ layout }: TokenPicture, { start, end }: Span): readonly Line[] {
  const lines: Line[] = []
  for (let line = lineOfToken(layout, start); line; line = lineNumbered(layout, line.number + 1)) {
    if (line.layout.firstToken + line.start >= end) break
    // Lines below the name of an image have no tokens.
    if (!line.image || line.isFolded) lines.push(line)
  }
  return lines
}

function rowOf(line: Line, top: number, range: Span, picture: TokenPicture): ImageRow {
  const { layout, options } = picture
  const { segment, firstToken } = line.layout
  const stands = (kind: 'think' | 'tool-call') =>
    spansOf(segment).some((span) => span.kind === kind && span.span.start < line.end && span.span.end > line.start)
  const row = { top, isThink: stands('think'), isCall: stands('tool-call') }
  if (line.isFolded) return { ...row, folded: `▸ ${countText(line.end - line.start)} tok`, bars: [], tokens: [] }
  const tokens = tokensInLine(line, picture).filter(
    ({ index }) => firstToken + index >= range.start && firstToken + index < range.end,
  )
  return {
    ...row,
    folded: undefined,
    bars: backgroundBars(lineMarks(line, tokens, picture), layout.rowHeight),
    tokens: tokens.map((token) => {
      const { text, marks, isPlain } = layout.table.piece(segment.ids, token.index, layout.columns)
      return { ...token, text, marks: options.showsWhitespace ? marks : '', isPlain }
    }),
  }
}
