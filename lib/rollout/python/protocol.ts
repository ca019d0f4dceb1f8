/** Messages between the application and an interpreter's process: one line of JSON each. */

/** A request to run code. `number` counts the calls of this interpreter from 1 and names the file in tracebacks. */
export interface ToGuest {
  readonly number: number
  readonly code: string
}

/** A message of the interpreter's process. */
export type FromGuest =
  | { readonly type: 'ready' }
  /** The process cannot continue, and ends. */
  | { readonly type: 'failed'; readonly why: string }
  /**
   * Sent while the code runs, so that output is not lost if the process ends: the next piece of output, of which at most
   * MOST_BYTES are sent in total, and the total of printed bytes.
   */
  | { readonly type: 'printed'; readonly text: string; readonly bytes: number }
  | ({ readonly type: 'ran'; readonly number: number } & CodeResult)

/** The result of one piece of code, besides its printed text. */
export interface CodeResult {
  /** repr() of the last expression. Omitted: there is none, or it is None. */
  readonly value?: CutText
  /** Traceback. Omitted: nothing was raised. */
  readonly error?: CutText
}

/** The result of one piece of code with its printed text. */
export interface ExecutionResult extends CodeResult {
  readonly printed: CutText
}

/** A text, or its beginning: at most MOST_BYTES in UTF-8. */
export interface CutText {
  readonly text: string
  /** The size of the whole text, if this is only its beginning. */
  readonly wholeBytes?: number
}

/** The largest size of an output, a value or a traceback, in bytes of UTF-8. */
export const MOST_BYTES = 1_000_000

/** Bytes of a line from the process: JSON writes a byte as at most six, and an invalid UTF-8 byte becomes three. */
export const LONGEST_LINE = 3 * 6 * MOST_BYTES + 1_000
