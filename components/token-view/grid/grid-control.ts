/** How the parts around the token view read its layout and move it. */
import type { Layout } from './layout.ts'
import type { TokenPicture } from './token-picture.ts'

/** Shares of the height of all lines, 0 to 1: what is in sight. */
interface Sight {
  readonly start: number
  readonly end: number
}

/** The same object as long as the token view is mounted. */
export interface GridControl {
  /** Undefined before the view is measured. */
  readonly layout: () => Layout | undefined
  readonly sight: () => Sight
  /** Brings that share of the height to the top of the view. */
  readonly scrollToFraction: (fraction: number) => void
  /** Brings a token into sight, and leaves the view where it is when it is there already. */
  readonly reveal: (tokenIndex: number) => void
  /** What is drawn, and the element that it is drawn in; undefined before the view is measured. */
  readonly drawing: () => { readonly picture: TokenPicture; readonly element: HTMLElement } | undefined
  /** Takes the keyboard's focus. */
  readonly focus: () => void
  /** Hears that the layout or what is in sight has changed, at most once a frame. Returns what ends it. */
  readonly subscribe: (listener: () => void) => () => void
}
