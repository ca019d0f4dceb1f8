/** Scroll position of the tree, and the drawing of its visible part. */
import { createScrollSpace, fitCanvas, type ScrollSpace } from '#components/token-view/grid/scroll-space.ts'
import { setStyle } from '#components/token-view/grid/token-picture.ts'
import { elementAt, float64At } from '#lib/util/element-at.ts'
import type { TreeSpot } from '../tree.ts'
import { itemIndexAtHeight, itemOfSpot, rowOfToken, type TreeRows, tokensOfItem } from './rows.ts'
import { createTreePainter } from './tree-painter.ts'
import type { TreePicture } from './tree-picture.ts'

/** Scrollable view of a tree. */
export interface TreeView {
  readonly space: ScrollSpace
  /** Draws another picture. What is at the top keeps its position if rows above it change. */
  readonly show: (picture: TreePicture) => void
  readonly draw: (picture: TreePicture) => void
  readonly scrollTo: (top: number) => void
  /** Scrolls to a token unless it is visible. */
  readonly reveal: (spot: TreeSpot) => void
}

/** Rows drawn above and below the visible part. */
const MARGIN_ROWS = 6
/** Time for which the view must rest before it reports the visible branches, and the longest time without a report, in milliseconds. */
const REST_MS = 90
const LONGEST_MS = 450

/** Returns the view of a scrolled element. `onVisible` is called with the branches that are visible when they change. */
export function createTreeView(
  viewport: HTMLElement,
  canvas: HTMLElement,
  layer: HTMLElement,
  onVisible: (branches: ReadonlySet<number>) => void,
): TreeView & { readonly end: () => void } {
  const space = createScrollSpace(viewport)
  const painter = createTreePainter(layer)
  let current: TreePicture | undefined
  let visible: ReadonlySet<number> = new Set()
  let reported = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  let reportedAt = 0
  const report = () => {
    timer = undefined
    reportedAt = performance.now()
    const text = [...visible].join(' ')
    if (text === reported) return
    reported = text
    onVisible(visible)
  }

  const draw = (picture: TreePicture) => {
    current = picture
    const { rows, fontSize } = picture
    fitCanvas(canvas, space, rows.height)
    // All positions are read before anything is written: a read after a write would force a layout.
    const [top, viewHeight, shift] = [space.top(), space.viewHeight(), `translateY(${space.shift()}px)`]
    setStyle(canvas, '--token-size', `${fontSize}px`)
    setStyle(canvas, '--token-row', `${rows.rowHeight}px`)
    setStyle(layer, 'transform', shift)
    const margin = MARGIN_ROWS * rows.rowHeight
    visible = painter.draw(picture, top - margin, top + viewHeight + margin)
    if (reported === '') report()
    else if (performance.now() - reportedAt < LONGEST_MS || timer === undefined) {
      // Branches that only pass by are not loaded.
      clearTimeout(timer)
      timer = setTimeout(report, REST_MS)
    }
  }
  return {
    space,
    show: (picture) => {
      const anchor = current && current.rows !== picture.rows ? anchorAt(current.rows, space.top()) : undefined
      draw(picture)
      const top = anchor && topOfSpot(picture.rows, anchor.spot)
      if (anchor === undefined || top === undefined || top - anchor.below === space.top()) return
      space.scrollTo(top - anchor.below)
      draw(picture)
    },
    draw,
    scrollTo: (top) => space.scrollTo(top),
    reveal: (spot) => {
      const top = current && topOfSpot(current.rows, spot)
      if (!current || top === undefined) return
      const { rowHeight } = current.rows
      const bottom = space.top() + space.viewHeight()
      if (top < space.top() + rowHeight) space.scrollTo(top - 3 * rowHeight)
      else if (top > bottom - 3 * rowHeight) space.scrollTo(top - space.viewHeight() / 3)
    },
    end: () => clearTimeout(timer),
  }
}

/** Returns the top of the line that shows a token, in pixels; undefined if no item does. */
function topOfSpot(rows: TreeRows, spot: TreeSpot): number | undefined {
  const index = itemOfSpot(rows, spot)
  const item = rows.items[index]
  if (!item) return undefined
  const row = item.branch === spot.branch ? rowOfToken(item, spot.token) : 0
  return float64At(rows.tops, index) + row * rows.rowHeight
}

/** Returns a token near the top of the visible part, and how far its line is below the top, in pixels. */
function anchorAt(rows: TreeRows, top: number): { readonly spot: TreeSpot; readonly below: number } | undefined {
  // At the very top the first item stays there.
  if (top <= 0) return undefined
  for (let index = Math.max(0, itemIndexAtHeight(rows, top)); index < rows.items.length; index++) {
    const item = elementAt(rows.items, index)
    const tokens = tokensOfItem(rows, index)
    if (!tokens || float64At(rows.tops, index + 1) <= top) continue
    const row =
      item.kind === 'tokens' ? Math.max(0, Math.ceil((top - float64At(rows.tops, index)) / rows.rowHeight)) : 0
    if (item.kind === 'tokens' && row >= item.rows) continue
    const token = item.kind === 'tokens' ? (item.lines.starts[item.from + row] ?? tokens.start) : tokens.start
    return { spot: { branch: item.branch, token }, below: float64At(rows.tops, index) + row * rows.rowHeight - top }
  }
  return undefined
}
