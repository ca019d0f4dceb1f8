/**
 * Maps the scroll bar to the layout. Browsers draw elements up to some 17 to 33 million pixels tall. The bar of a taller
 * layout is scaled to cover all of it, while the wheel still moves by single pixels.
 */
import { setStyle } from './token-picture.ts'

/** Tallest scrolled element in pixels, below the limit of every browser (Firefox draws up to 17.8 million). */
export const TALLEST = 15_000_000

/** Height of the layout on paper, in pixels: about 50 pages. */
const PAPER_HEIGHT = 50_000

/** Scroll position in layouts of any height. */
export interface ScrollSpace {
  /** Height of the layout above the visible part, in pixels. */
  readonly top: () => number
  readonly viewHeight: () => number
  readonly scrollTo: (top: number) => void
  /** Sets the height of the layout and returns the height of the scrolled element, both in pixels. */
  readonly setHeight: (height: number) => number
  /** Returns how much lower than `top()` the content must be drawn in the scrolled element; 0 if the bar is not scaled. */
  readonly shift: () => number
  readonly isScaled: () => boolean
  /** Whether the last scroll event came from `scrollTo`. */
  readonly isOwnMove: () => boolean
  /** Makes the whole layout visible, up to PAPER_HEIGHT, until it is called with false. */
  readonly print: (isPrinting: boolean) => void
  /** Whether the end of the layout is missing on the paper. */
  readonly isCut: () => boolean
}

interface Scrolled {
  scrollTop: number
  readonly clientHeight: number
}

/** Returns the space of a viewport; its height is 0 until `setHeight`. */
export function createScrollSpace(viewport: Scrolled): ScrollSpace {
  let height = 0
  /** The last position set by `scrollTo`, valid until the bar moves away from it. */
  let wanted: { readonly top: number; readonly scrollTop: number } | undefined
  let isPrinted = false
  const scale = () => scrollScale(height, viewport.clientHeight)
  const top = () =>
    isPrinted
      ? 0
      : wanted && scale() > 1 && wanted.scrollTop === viewport.scrollTop
        ? wanted.top
        : viewport.scrollTop * scale()
  return {
    top,
    viewHeight: () => (isPrinted ? Math.min(height, PAPER_HEIGHT) : viewport.clientHeight),
    scrollTo: (next) => {
      const clamped = Math.max(0, Math.min(next, height - viewport.clientHeight))
      viewport.scrollTop = clamped / scale()
      wanted = { top: clamped, scrollTop: viewport.scrollTop }
    },
    setHeight: (next) => {
      height = next
      return Math.min(height, isPrinted ? PAPER_HEIGHT : TALLEST)
    },
    shift: () => (isPrinted ? 0 : viewport.scrollTop - top()),
    isScaled: () => scale() > 1,
    isOwnMove: () => wanted?.scrollTop === viewport.scrollTop,
    print: (isPrinting) => {
      isPrinted = isPrinting
    },
    isCut: () => isPrinted && height > PAPER_HEIGHT,
  }
}

/** Makes the scrolled element as tall as the layout; app/globals.css prints a sentence below a layout that is cut. */
export function fitCanvas(canvas: HTMLElement, space: ScrollSpace, height: number): void {
  setStyle(canvas, 'height', `${space.setHeight(height)}px`)
  canvas.toggleAttribute('data-cut', space.isCut())
}

/** Returns the pixels of the layout for one pixel of the bar. */
export const scrollScale = (height: number, viewHeight: number): number =>
  height <= TALLEST ? 1 : (height - viewHeight) / (TALLEST - viewHeight)

/** Returns the part of a tall frame around the visible range, since browsers cannot draw frames of any height. */
export function visiblePart(
  whole: { readonly top: number; readonly height: number },
  top: number,
  bottom: number,
): { readonly top: number; readonly height: number } {
  if (whole.height <= TALL_FRAME) return whole
  const from = Math.max(whole.top, Math.floor(top / TALL_FRAME - 1) * TALL_FRAME)
  const to = Math.min(whole.top + whole.height, Math.ceil(bottom / TALL_FRAME + 1) * TALL_FRAME)
  return { top: from, height: to - from }
}

/** Height of a frame that is drawn in parts, in pixels: many times what one scroll step moves, so that the frame is seldom drawn again. */
const TALL_FRAME = 100_000
