/** Draws one column of the lanes into its layer; only the visible part is drawn. */

import { createElementPool } from '#components/token-view/grid/element-pool.ts'
import type { DrawnLine } from '#components/token-view/grid/layout.ts'
import { createTokenBox } from '#components/token-view/grid/token-box.ts'
import {
  createPart,
  type PooledElement,
  setData,
  setStyle,
  setText,
} from '#components/token-view/grid/token-picture.ts'
import { makeRow, paintRow } from '#components/token-view/grid/token-row.ts'
import { countText } from '#components/token-view/numbers.ts'
import { segmentIndexAt } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { foldText, missingText, noteTexts, titleOf } from './lane-words.ts'
import type { LanesPicture } from './lanes-picture.ts'
import type { Spot } from './pairing.ts'
import { drawnLine, itemOfToken, type Rows, rowInItem } from './rows/rows.ts'
import {
  type DriftMarker,
  type FoldedLines,
  type GapRect,
  type LaneColumn,
  type LaneRun,
  visibleRangeOf,
} from './rows/visible-range.ts'

/** Painter of one column of the lanes. */
export interface LanePainter {
  /** Draws the rows between two heights, in pixels. */
  draw(picture: LanesPicture, top: number, bottom: number): void
}

/** Returns the id of the chosen token's element, which is the active descendant while the lanes have the focus. */
export const chosenId = (column: LaneColumn): string => `${column}-chosen-token`

/** Creates a painter that draws one column into the layer and reuses its elements. */
export function createLanePainter(layer: HTMLElement, column: LaneColumn): LanePainter {
  const gapRects = createElementPool(layer, makeGapRect)
  const borders = createElementPool(layer, makeBorder)
  const runs = createElementPool(layer, makeRun)
  const rows = createElementPool(layer, makeRow)
  const notes = createElementPool(layer, makeNote)
  const folds = createElementPool(layer, makeFold)
  const pointed = createTokenBox(layer, 'token-pointed', undefined)
  const partner = createTokenBox(layer, 'token-partner', undefined)
  const chosen = createTokenBox(layer, 'token-selected', chosenId(column))
  return {
    draw(picture, top, bottom) {
      const visible = visibleRangeOf(picture.rows, picture.pairing, column, top, bottom)
      gapRects.show(keysOf(visible.gapRects), (drawn, index) =>
        paintGapRect(drawn, elementAt(visible.gapRects, index), picture, column),
      )
      borders.show(keysOf(visible.borders), ({ element }, index) => setTop(element, visible.borders[index]?.top ?? 0))
      runs.show(keysOf(visible.runs), (drawn, index) => paintRun(drawn, elementAt(visible.runs, index), picture))
      rows.show(keysOf(visible.lines), (row, index) => {
        const { side, line, isSigned } = elementAt(visible.lines, index)
        paintRow(row, line, picture.pictures[side])
        const name = isSigned ? `${side}: ${row.text.textContent}` : null
        if (row.element.ariaLabel !== name) row.element.ariaLabel = name
      })
      notes.show(keysOf(visible.notes), (drawn, index) =>
        paintNote(drawn, elementAt(visible.notes, index), picture, column),
      )
      folds.show(keysOf(visible.folds), (drawn, index) => paintFold(drawn, elementAt(visible.folds, index), picture))
      const around = (box: typeof pointed, spots: readonly (Spot | undefined)[]) => {
        const found = spots
          .map((spot) => spot && findDrawnLine(picture.rows, spot, column))
          .find((place) => place !== undefined)
        const side = found?.side ?? 'left'
        box.place(found?.token, found?.line, picture.pictures[side])
      }
      around(pointed, [picture.pointed, picture.pointedPartner])
      around(partner, [picture.partner])
      around(chosen, [picture.chosen && { side: picture.chosen.side, token: picture.chosen.focus }])
    },
  }
}

/** Returns the line that contains a token in a column; undefined if the column does not show it. */
export function findDrawnLine(
  rows: Rows,
  spot: Spot,
  column: LaneColumn,
): (Spot & { readonly line: DrawnLine }) | undefined {
  if (column !== 'both' && column !== spot.side) return undefined
  const item = itemOfToken(rows, spot.side, spot.token)
  if (!item) return undefined
  if (item.kind === 'tokens') {
    const place = rowInItem(rows, item, spot.side, spot.token)
    const line = drawnLine(rows, item, place.row, place.side)
    return line && { ...place, line }
  }
  const { segments, starts } = rows.sides[spot.side]
  const segmentIndex = segmentIndexAt(starts, item[spot.side].start)
  const segment = segments[segmentIndex]
  if (!segment) return undefined
  const line: DrawnLine = {
    number: item.firstRow,
    segmentIndex,
    layout: { segment, firstToken: elementAt(starts, segmentIndex), folds: undefined },
    start: 0,
    end: 0,
    top: item.rowTop,
    isFolded: true,
  }
  return { ...spot, line }
}

const keysOf = (boxes: readonly { readonly key: number }[]): readonly number[] => boxes.map(({ key }) => key)

function makeBorder(): PooledElement {
  return { element: createPart('div', 'lane-border') }
}

function makeGapRect() {
  const element = createPart('div', 'lane-gap')
  element.ariaHidden = 'true'
  const words = createPart('span', '')
  element.append(words)
  return { element, words }
}

function paintGapRect(
  { element, words }: ReturnType<typeof makeGapRect>,
  { top, height, drift }: GapRect,
  picture: LanesPicture,
  column: LaneColumn,
): void {
  setPlace(element, top, height)
  const span = drift === undefined ? undefined : picture.spans[drift]
  setText(words, span && column !== 'both' ? missingText(span, column, picture.vocabulary) : '')
  setData(element, 'drift', drift === undefined ? '' : String(drift))
  setData(element, 'chosen', String(drift !== undefined && drift === picture.drift))
}

function makeRun() {
  const element = createPart('div', 'lane-run')
  element.ariaHidden = 'true'
  const label = createPart('div', 'lane-label')
  const fold = createPart('button', 'lane-unfold')
  fold.tabIndex = -1
  fold.title = 'Fold the identical tokens'
  fold.textContent = '▾'
  const position = createPart('span', 'lane-position')
  const title = createPart('span', 'lane-title')
  const sign = createPart('div', 'lane-sign')
  label.append(fold, position, title)
  element.append(label, sign)
  return { element, label, fold, position, title, sign }
}

function paintRun(
  { element, label, fold, position, title, sign }: ReturnType<typeof makeRun>,
  { top, height, side, segmentIndex, token, isLabelled, isTight, isSigned, opened }: LaneRun,
  { rows }: LanesPicture,
): void {
  setPlace(element, top, height)
  setData(element, 'kind', rows.sides[side].segments[segmentIndex]?.kind ?? 'prompt')
  label.hidden = !isLabelled
  setData(label, 'tight', String(isTight))
  fold.hidden = opened === undefined
  setData(fold, 'run', opened === undefined ? '' : String(opened))
  setText(position, isLabelled ? countText(token) : '')
  setText(title, isLabelled ? titleOf(rows.sides[side], segmentIndex) : '')
  setText(sign, isSigned ? (side === 'left' ? '−' : '+') : '')
  setData(element, 'signed', isSigned ? side : '')
}

function makeNote() {
  // Screen readers get this text with the chosen token and from the drift list.
  const element = createPart('button', 'lane-note')
  element.tabIndex = -1
  element.ariaHidden = 'true'
  const kind = createPart('span', 'lane-note-kind')
  const more = createPart('span', '')
  element.append(kind, more)
  return { element, kind, more }
}

function paintNote(
  { element, kind, more }: ReturnType<typeof makeNote>,
  { top, drift, count }: DriftMarker,
  { spans, vocabulary, drift: chosen }: LanesPicture,
  column: LaneColumn,
): void {
  const span = spans[drift]
  setTop(element, top)
  const texts = noteTexts(span, count, column, vocabulary)
  setText(kind, texts.kind)
  setText(more, texts.more)
  setData(element, 'drift', String(drift))
  setData(element, 'severity', span && vocabulary.costs ? span.severity : '')
  setData(element, 'chosen', String(chosen !== undefined && chosen >= drift && chosen < drift + count))
  const title = span ? vocabulary.causeText(span) : ''
  if (element.title !== title) element.title = title
}

function makeFold() {
  const element = createPart('div', 'lane-fold')
  element.role = 'row'
  const label = createPart('div', 'lane-label')
  label.ariaHidden = 'true'
  const position = createPart('span', 'lane-position')
  const text = createPart('div', 'lane-fold-text')
  text.role = 'gridcell'
  label.append(position)
  element.append(label, text)
  return { element, position, text }
}

function paintFold(
  { element, position, text }: ReturnType<typeof makeFold>,
  fold: FoldedLines,
  { rows }: LanesPicture,
): void {
  setPlace(element, fold.top, fold.height)
  setData(element, 'divider', String(fold.isDivider))
  setData(element, 'run', String(fold.run))
  setText(position, fold.isDivider ? '' : countText(fold.tokens.start))
  setText(text, `${fold.isDivider ? '' : '▸ '}${foldText(fold, rows.sides[fold.side])}`)
}

function setTop(element: HTMLElement, top: number): void {
  setStyle(element, 'transform', `translateY(${top}px)`)
}

/** Sets top and height without a transform, because `position: sticky` within the element follows the layout position. */
function setPlace(element: HTMLElement, top: number, height: number): void {
  setStyle(element, 'top', `${top}px`)
  setStyle(element, 'height', `${height}px`)
}
