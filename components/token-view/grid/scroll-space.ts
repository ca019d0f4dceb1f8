/**
 * Where in the layout the view stands. Browsers draw elements up to some 17 to 33 million pixels tall; a layout that is
 * taller is scrolled by a bar that stands for all of it, while the wheel still moves by single pixels.
 */

/** Pixels: below the limit of every browser (Firefox draws up to 17.8 million). */
export const TALLEST = 15_000_000

export interface ScrollSpace {
  /** Height of the layout above what is in sight, in pixels. */
  readonly top: () => number
  readonly viewHeight: () => number
  readonly scrollTo: (top: number) => void
  /** How tall the scrolled element is for a layout of that height. */
  readonly setHeight: (height: number) => number
  /** What is drawn at `top()` belongs so much lower in the scrolled element; 0 where nothing is scaled. */
  readonly shift: () => number
  readonly isScaled: () => boolean
  /** Whether the last event of scrolling was a move by `scrollTo`. */
  readonly isOwnMove: () => boolean
}

interface Scrolled {
  scrollTop: number
  readonly clientHeight: number
}

export function createScrollSpace(viewport: Scrolled): ScrollSpace {
  let height = 0
  /** Where `scrollTo` put the view; it counts as long as the bar stands where that put it. */
  let wanted: { readonly top: number; readonly scrollTop: number } | undefined
  const scale = () => scrollScale(height, viewport.clientHeight)
  const top = () =>
    wanted && scale() > 1 && wanted.scrollTop === viewport.scrollTop ? wanted.top : viewport.scrollTop * scale()
  return {
    top,
    viewHeight: () => viewport.clientHeight,
    scrollTo: (next) => {
      const clamped = Math.max(0, Math.min(next, height - viewport.clientHeight))
      viewport.scrollTop = clamped / scale()
      wanted = { top: clamped, scrollTop: viewport.scrollTop }
    },
    setHeight: (next) => {
      height = next
      return Math.min(height, TALLEST)
    },
    shift: () => viewport.scrollTop - top(),
    isScaled: () => scale() > 1,
    isOwnMove: () => wanted?.scrollTop === viewport.scrollTop,
  }
}

/** Pixels of the layout for one of the bar. */
export const scrollScale = (height: number, viewHeight: number): number =>
  height <= TALLEST ? 1 : (height - viewHeight) / (TALLEST - viewHeight)

/** A browser cannot draw a frame of any height: of a tall one, the part around what is in sight. */
export function partInSight(
  whole: { readonly top: number; readonly height: number },
  top: number,
  bottom: number,
): { readonly top: number; readonly height: number } {
  if (whole.height <= TALL_FRAME) return whole
  const from = Math.max(whole.top, Math.floor(top / TALL_FRAME - 1) * TALL_FRAME)
  const to = Math.min(whole.top + whole.height, Math.ceil(bottom / TALL_FRAME + 1) * TALL_FRAME)
  return { top: from, height: to - from }
}

/** Pixels: a multiple of what is scrolled at once, so that a frame is seldom drawn again. */
const TALL_FRAME = 100_000
