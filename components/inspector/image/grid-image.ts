/** The token view as a picture, as data: where each token stands, what it says and how it is marked. In CSS pixels. */

import type { Colouring } from '#components/token-view/colour/colouring.ts'
import { cellsOf, type Line, lineNumbered, lineOfToken } from '#components/token-view/grid/layout.ts'
import type { TokenPicture } from '#components/token-view/grid/token-picture.ts'
import { countText } from '#components/token-view/numbers.ts'
import { rangeOf, type Selection } from '#components/token-view/selection.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { isTrained, spansOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { visibleText } from '../../ui/visible-text.ts'
import { type LegendPart, legendParts } from './legend-parts.ts'

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
  /** A thin line after each token. */
  readonly showsBoundaries: boolean
  /** Lines left out, since pictures have an end; 0: none. */
  readonly left: number
}

/** What stands beside the first line of a segment. */
export interface ImageRail {
  readonly top: number
  readonly texts: readonly string[]
  readonly isResponse: boolean
}

export interface ImageRow {
  readonly top: number
  readonly isThink: boolean
  readonly isCall: boolean
  /** Undefined where the line stands for folded tokens: then it is this text. */
  readonly folded: string | undefined
  readonly tokens: readonly ImageToken[]
}

export interface ImageToken {
  /** From the left edge of the picture, half-open. */
  readonly from: number
  readonly to: number
  readonly text: string
  readonly marks: string
  readonly isPlain: boolean
  readonly colour: string | undefined
  readonly isTrained: boolean
  readonly isSpecial: boolean
}

export const HEAD_HEIGHT = 64
export const RAIL_WIDTH = 92
const RIGHT_MARGIN = 16
const SEGMENT_GAP = 20
const RAIL_LINE = 15
/** Browsers draw pictures of up to 16,384 pixels, and this one at twice its size. */
const TALLEST = 8_000

/** `range`: the tokens that are drawn, half-open. */
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
    showsBoundaries: options.showsBoundaries,
    cell,
    title: `${visibleText(name)} · tokens ${countText(range.start)} to ${countText(range.end - 1)} of ${countText(tokenCount(picture.trajectory))}`,
    legend: legendParts(colouring),
    rails,
    rows,
    left: lines.length - drawn,
  }
}

/** What a picture is taken of: what is chosen, where that is more than one token, else what is in sight. */
export const imageRange = (selection: Selection | undefined, inSight: Span | undefined): Span | undefined =>
  selection && selection.anchor !== selection.focus ? rangeOf(selection) : inSight

function linesOf({ layout }: TokenPicture, { start, end }: Span): readonly Line[] {
  const lines: Line[] = []
  for (let line = lineOfToken(layout, start); line; line = lineNumbered(layout, line.number + 1)) {
    if (line.layout.firstToken + line.start >= end) break
    lines.push(line)
  }
  return lines
}

function rowOf(line: Line, top: number, range: Span, picture: TokenPicture): ImageRow {
  const { layout, options, reading, specialIds, cell } = picture
  const { segment, firstToken } = line.layout
  const stands = (kind: 'think' | 'tool-call') =>
    spansOf(segment).some((span) => span.kind === kind && span.span.start < line.end && span.span.end > line.start)
  const row = { top, isThink: stands('think'), isCall: stands('tool-call') }
  if (line.isFolded) return { ...row, folded: `▸ ${countText(line.end - line.start)} tok`, tokens: [] }
  const tokens: ImageToken[] = []
  let column = 0
  for (let index = line.start; index < line.end; index++) {
    const next = column + cellsOf(layout, segment.ids, index)
    const token = firstToken + index
    if (token >= range.start && token < range.end) {
      const { text, marks, isPlain } = layout.table.piece(segment.ids, index, layout.columns)
      tokens.push({
        from: RAIL_WIDTH + column * cell,
        to: RAIL_WIDTH + next * cell,
        text,
        marks: options.showsWhitespace ? marks : '',
        isPlain,
        colour: reading.colour(token, segment, index),
        isTrained: isTrained(segment, index),
        isSpecial: specialIds.has(elementAt(segment.ids, index)),
      })
    }
    column = next
  }
  return { ...row, folded: undefined, tokens }
}
