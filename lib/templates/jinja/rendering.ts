/** Results of a render besides its text. Offsets are UTF-16 units of the text; ranges are half-open. */

/** A range of the text that one place of the template wrote. */
export interface RenderedPiece {
  readonly start: number
  readonly end: number
  /** Line of the literal text or of the output expression in the template, from 1. */
  readonly line: number
  /** Line of the output that put the piece into the text; omitted if it is the same line. Macros and `set` keep texts of other lines. */
  readonly outputLine?: number
  /** Index of the message that the piece belongs to; undefined outside of all messages. */
  readonly message: number | undefined
  /** 'template' for the template's own letters, 'value' for a value of the conversation. */
  readonly source: 'template' | 'value'
}

/** Returns the line of the output that put the piece into the text, from 1. */
export const outputLine = ({ line, outputLine: own = line }: RenderedPiece): number => own

/** A rendered text with its source map. */
export interface Rendering {
  readonly text: string
  /** Pieces in order, without gaps or overlaps; their concatenation is the text. */
  readonly pieces: readonly RenderedPiece[]
  /** Ranges that `{% generation %}` blocks wrote, as Python's tracker measures them; empty if there are none. */
  readonly generation: readonly { readonly start: number; readonly end: number }[]
  readonly hasGenerationTag: boolean
}

/** Limits of one render. A template that exceeds one of them ends with a TemplateError of the class BudgetError. */
export interface RenderLimits {
  /** Evaluated nodes and loop iterations. */
  readonly steps: number
  /** UTF-16 units of any text and entries of any list, including the output. */
  readonly size: number
  readonly milliseconds: number
  /** Clock for `milliseconds`, which does not go back. Omitted: wall time. */
  readonly now?: () => number
}
