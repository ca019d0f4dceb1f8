/** What the parts around the token view read from it and make it do. */
import type { Layout } from './layout.ts'
import type { TokenPicture } from './token-picture.ts'

/** The visible part, as fractions (0 to 1) of the height of the layout. */
interface VisibleFraction {
  readonly start: number
  readonly end: number
}

/** Access to a mounted token view. The object stays the same as long as the view is mounted. */
export interface GridControl {
  /** Returns `undefined` before the view is measured. */
  readonly layout: () => Layout | undefined
  readonly visible: () => VisibleFraction
  /** Scrolls that fraction of the height to the top of the view. */
  readonly scrollToFraction: (fraction: number) => void
  /** Scrolls a token into view; does nothing if it is visible. */
  readonly reveal: (tokenIndex: number) => void
  /** Returns what is drawn and the scrolled element; `undefined` before the view is measured. */
  readonly drawing: () => { readonly picture: TokenPicture; readonly element: HTMLElement } | undefined
  /** Moves the keyboard focus into the token view. */
  readonly focus: () => void
  /** Moves the keyboard focus into the token view, and handles a key as if it had been pressed there. */
  readonly press: (event: KeyboardEvent) => void
  /** Calls the listener when the layout or the visible part has changed, at most once a frame. Returns the function that unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void
}
