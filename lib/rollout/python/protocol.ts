/** Messages between the application and an interpreter's process: one line of JSON each. */

/** Which call of this interpreter it is, from 1; it is the name of its file in tracebacks. */
export interface ToGuest {
  readonly number: number
  readonly code: string
}

export type FromGuest =
  | { readonly type: 'ready' }
  /** It cannot go on, and ends. */
  | { readonly type: 'failed'; readonly why: string }
  /**
   * Said while the code runs, so that it is not lost where the process ends: the next piece of what it prints, of which
   * MOST_BYTES are said at most, and how many bytes it has printed so far.
   */
  | { readonly type: 'printed'; readonly text: string; readonly bytes: number }
  | ({ readonly type: 'ran'; readonly number: number } & Answer)

/** The result of one piece of code, besides its printed text. */
export interface Answer {
  /** repr() of the last expression. Omitted: there is none, or it is None. */
  readonly value?: Cut
  /** Traceback. Omitted: nothing was raised. */
  readonly error?: Cut
}

export interface Ran extends Answer {
  readonly printed: Cut
}

/** A text, or its beginning: at most MOST_BYTES in UTF-8. */
export interface Cut {
  readonly text: string
  /** The size of the whole text, if this is only its beginning. */
  readonly wholeBytes?: number
}

export const MOST_BYTES = 1_000_000

/** Bytes of a line from the process: JSON writes a byte as six at most, and what is no UTF-8 becomes three. */
export const LONGEST_LINE = 3 * 6 * MOST_BYTES + 1_000
