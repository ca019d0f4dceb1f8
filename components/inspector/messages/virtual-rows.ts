/** Which rows of a long list are in sight. Browsers end an element at some 17 million pixels: beyond that a pixel of the scrollbar is more than one row's. */
export interface Scroller {
  readonly count: number
  /** In pixels. */
  readonly rowHeight: number
  readonly viewHeight: number
}

/** Of the element that is scrolled, in pixels: Firefox ends at 17.9 million, others later. */
const TALLEST = 12_000_000

export const scrolledHeight = ({ count, rowHeight }: Scroller): number => Math.min(count * rowHeight, TALLEST)

/** How far the rows move for each pixel that is scrolled. */
function ratioOf(scroller: Scroller): number {
  const room = scrolledHeight(scroller) - scroller.viewHeight
  return room <= 0 ? 1 : (scroller.count * scroller.rowHeight - scroller.viewHeight) / room
}

/** Rows in sight, half-open, with some before and behind; `top`: where the first of them stands in the scrolled element. */
export function rowsInSight(
  scroller: Scroller,
  scrollTop: number,
  margin: number,
): { readonly first: number; readonly end: number; readonly top: number } {
  const { count, rowHeight, viewHeight } = scroller
  const from = scrollTop * ratioOf(scroller)
  const first = Math.max(0, Math.floor(from / rowHeight) - margin)
  const end = Math.min(count, Math.ceil((from + viewHeight) / rowHeight) + margin)
  return { first, end, top: scrollTop + first * rowHeight - from }
}

/** Where to scroll so that the row is in sight, in the middle if it was not; undefined: it is. `header` covers the upper edge. */
export function scrollTopFor(scroller: Scroller, scrollTop: number, row: number, header: number): number | undefined {
  const { rowHeight, viewHeight } = scroller
  const ratio = ratioOf(scroller)
  const from = scrollTop * ratio
  const top = row * rowHeight
  if (top >= from && top + rowHeight <= from + viewHeight - header) return undefined
  return Math.max(0, (top - (viewHeight - header - rowHeight) / 2) / ratio)
}
