/** Scroll position of the lanes, and the drawing of the visible part. One scrollbar moves both lanes. */
import { createScrollSpace, type ScrollSpace } from '#components/token-view/grid/scroll-space.ts'
import { setStyle } from '#components/token-view/grid/token-picture.ts'
import { createLanePainter, findDrawnLine } from './lane-painter.ts'
import type { LanesPicture } from './lanes-picture.ts'
import { runOfDrift, type Spot } from './pairing.ts'
import { itemAt, itemAtHeight, itemOfToken, type Rows, SIDES } from './rows/rows.ts'
import { type LaneColumn, rowOfDrift } from './rows/visible-range.ts'

/** Scrollable view of the lanes. */
export interface LanesView {
  readonly space: ScrollSpace
  /** Draws new data. If the rows of the same sides change, the token at the top keeps its position. */
  readonly show: (picture: LanesPicture) => void
  readonly draw: (picture: LanesPicture) => void
  readonly scrollTo: (top: number) => void
  /** Returns the range that was visible in the last drawing, as shares of the height of all rows. */
  readonly visible: () => { readonly start: number; readonly end: number }
  /** Scrolls to a token unless it is visible already. */
  readonly reveal: (spot: Spot) => void
  /** Scrolls the first row of a drift span to the upper third of the view. */
  readonly revealDrift: (drift: number) => void
}

/** Rows drawn above and below what is visible. */
const MARGIN_ROWS = 6

/** Creates the view of the lanes in a viewport; `layers` are the elements of its columns. */
export function createLanesView(
  viewport: HTMLElement,
  canvas: HTMLElement,
  layers: readonly { readonly column: LaneColumn; readonly element: HTMLElement }[],
): LanesView {
  const space = createScrollSpace(viewport)
  const lanes = layers.map(({ column, element }) => ({ column, element, painter: createLanePainter(element, column) }))
  let current: LanesPicture | undefined
  let drawnHeight = ''
  let drawn = { top: 0, viewHeight: 0 }

  const draw = (picture: LanesPicture) => {
    current = picture
    const { rows, pictures } = picture
    const height = `${space.setHeight(rows.height)}px`
    if (height !== drawnHeight) canvas.style.height = drawnHeight = height
    // All positions are read before anything is written: a read after a write would force a layout.
    const [top, viewHeight, shift] = [space.top(), space.viewHeight(), `translateY(${space.shift()}px)`]
    drawn = { top, viewHeight }
    setStyle(canvas, '--token-size', `${pictures.left.options.fontSize}px`)
    setStyle(canvas, '--token-row', `${rows.rowHeight}px`)
    const margin = MARGIN_ROWS * rows.rowHeight
    for (const { element, painter } of lanes) {
      setStyle(element, 'transform', shift)
      painter.draw(picture, top - margin, top + viewHeight + margin)
    }
  }
  const scrollTo = (top: number) => space.scrollTo(top)
  return {
    space,
    show: (picture) => {
      const anchor =
        current && current.rows !== picture.rows && current.pairing === picture.pairing
          ? anchorAt(current.rows, space.top())
          : undefined
      draw(picture)
      const top = anchor && placeTop(picture.rows, anchor.spot)
      if (top === undefined || anchor === undefined) return
      space.scrollTo(top - anchor.below)
      draw(picture)
    },
    draw,
    scrollTo,
    visible: () => {
      const height = current?.rows.height ?? 0
      if (height === 0) return { start: 0, end: 1 }
      return { start: drawn.top / height, end: Math.min(1, (drawn.top + drawn.viewHeight) / height) }
    },
    reveal: (spot) => {
      const top = current && placeTop(current.rows, spot)
      if (!current || top === undefined) return
      const { rowHeight } = current.rows
      const bottom = space.top() + space.viewHeight()
      if (top < space.top() + rowHeight) scrollTo(top - 3 * rowHeight)
      else if (top > bottom - 2 * rowHeight) scrollTo(top - space.viewHeight() + 4 * rowHeight)
    },
    revealDrift: (drift) => {
      const top = current && driftTop(current, drift)
      if (top !== undefined) scrollTo(top - space.viewHeight() / 3)
    },
  }
}

/** Returns the top of the first row of a drift span, in pixels. */
function driftTop({ rows, pairing }: Pick<LanesPicture, 'rows' | 'pairing'>, drift: number): number | undefined {
  const alignedRun = runOfDrift(pairing, drift)
  const side = alignedRun && SIDES.find((name) => alignedRun[name].end > alignedRun[name].start)
  const item = side && itemOfToken(rows, side, alignedRun[side].start)
  return item && item.rowTop + rowOfDrift(rows, item, alignedRun, side) * rows.rowHeight
}

function placeTop(rows: Rows, spot: Spot): number | undefined {
  return findDrawnLine(rows, spot, rows.arrangement === 'lanes' ? spot.side : 'both')?.line.top
}

/** Returns a token of the topmost visible row, and how far below the top that row begins, in pixels. */
function anchorAt(rows: Rows, top: number): { readonly spot: Spot; readonly below: number } | undefined {
  for (
    let item = itemAtHeight(rows, top);
    item;
    item = item.number + 1 < rows.itemCount ? itemAt(rows, item.number + 1) : undefined
  ) {
    const row = Math.max(0, Math.ceil((top - item.rowTop) / rows.rowHeight))
    for (const side of SIDES) {
      const line = row < item.rows ? item.lines[side].start + row : item.lines[side].end
      const spot =
        item.kind === 'tokens'
          ? line < item.lines[side].end && { side, token: rows.lines[side][line] as number }
          : { side, token: item[side].start }
      if (spot) return { spot, below: (placeTop(rows, spot) ?? top) - top }
    }
  }
  return undefined
}
