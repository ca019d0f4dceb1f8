/**
 * A list of rows of one height, of which only the visible ones are drawn. Browsers limit the height of an element to some 17
 * million pixels; in a taller list, one pixel of the scroll bar moves several pixels.
 */
export interface Scroller {
  readonly count: number
  /** Height of a row and of the view, in pixels. */
  readonly rowHeight: number
  readonly viewHeight: number
}

/** Tallest scrolled element, in pixels: the limit of Firefox is 17.9 million, and that of others is higher. */
const TALLEST = 12_000_000

/** Returns the height of the scrolled element, in pixels. */
export const scrolledHeight = ({ count, rowHeight }: Scroller): number => Math.min(count * rowHeight, TALLEST)

/** Returns how many pixels the rows move for each scrolled pixel. */
function ratioOf(scroller: Scroller): number {
  const room = scrolledHeight(scroller) - scroller.viewHeight
  return room <= 0 ? 1 : (scroller.count * scroller.rowHeight - scroller.viewHeight) / room
}

/**
 * Returns the visible rows, half-open, with `margin` more on both sides. `top` is the position of the first of them in the
 * scrolled element.
 */
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

/**
 * Returns the scroll position that shows the row in the middle; undefined if it is visible. `header` is the height in pixels
 * that covers rows at the top.
 */
export function scrollTopFor(scroller: Scroller, scrollTop: number, row: number, header: number): number | undefined {
  const { rowHeight, viewHeight } = scroller
  const ratio = ratioOf(scroller)
  const from = scrollTop * ratio
  const top = row * rowHeight
  if (top >= from && top + rowHeight <= from + viewHeight - header) return undefined
  return Math.max(0, (top - (viewHeight - header - rowHeight) / 2) / ratio)
}
