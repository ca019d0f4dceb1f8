/**
 * Selects the mounted rows of a list of any number of rows of one height. `useRowWindow` is for rows of several heights;
 * it is a module of its own, because every page loads it.
 */
import { type RefObject, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useIsPrinting } from '../use-printing.ts'
import { MOST_PRINTED } from './unprinted-rows.tsx'

/** The mounted rows of a list whose rows have one height. */
interface EqualRows {
  /** Ref of the scrollable box. */
  readonly viewport: RefObject<HTMLDivElement | null>
  /** Rows that must be mounted, half-open, and the position of the first of them in pixels. */
  readonly first: number
  readonly end: number
  readonly top: number
  /** Heights of the scrolled element and of the box, in pixels. */
  readonly height: number
  readonly viewHeight: number
  /** Number of rows that are missing on the paper. */
  readonly unprinted: number
  /** Scrolls a row to the middle, unless it is visible. */
  readonly reveal: (row: number) => void
}

interface EqualRowsOptions {
  readonly count: number
  readonly rowHeight: number
  /** Rows mounted above and below the visible ones. */
  readonly margin: number
  /** Height in pixels that covers rows at the top. If omitted, nothing does. */
  readonly header?: number
  /** Height of the box in pixels until it is known. */
  readonly usualHeight: number
}

/** Returns the mounted rows of a scrollable list of any number of rows, updated on scrolling and resizing. */
export function useEqualRows({ count, rowHeight, margin, header = 0, usualHeight }: EqualRowsOptions): EqualRows {
  const viewport = useRef<HTMLDivElement>(null)
  const [place, setPlace] = useState({ scrollTop: 0, viewHeight: usualHeight })
  const scroller = { count, rowHeight, viewHeight: place.viewHeight }
  const look = useEffectEvent(({ scrollTop, clientHeight }: HTMLElement) =>
    setPlace({ scrollTop, viewHeight: clientHeight || usualHeight }),
  )
  useEffect(() => {
    const element = viewport.current
    if (!element) return
    const onScroll = () => look(element)
    const observer = new ResizeObserver(onScroll)
    observer.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [])
  const isPrinting = useIsPrinting()
  const printed = { ...scroller, count: Math.min(count, MOST_PRINTED), viewHeight: count * rowHeight }
  return {
    viewport,
    ...(isPrinting ? visibleRowsOf(printed, 0, 0) : visibleRowsOf(scroller, place.scrollTop, margin)),
    height: scrolledHeight(isPrinting ? printed : scroller),
    unprinted: isPrinting ? count - printed.count : 0,
    viewHeight: place.viewHeight,
    reveal: (row) => {
      const element = viewport.current
      if (!element) return
      const seen = { ...scroller, viewHeight: element.clientHeight || usualHeight }
      const wanted = scrollTopFor(seen, element.scrollTop, row, header)
      if (wanted !== undefined) element.scrollTop = wanted
    },
  }
}

/**
 * A list of any number of rows of one height. Browsers limit the height of an element to some 17 million pixels; in a taller
 * list, one pixel of the scroll bar moves several pixels.
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
export function visibleRowsOf(
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
