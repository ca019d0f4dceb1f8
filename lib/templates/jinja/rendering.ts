/** What a render tells besides its text. Offsets are UTF-16 units of the text; ranges are half-open. */

/** A stretch of the text that one place of the template wrote. */
export interface RenderedPiece {
  readonly start: number
  readonly end: number
  /** Line of the template, from 1: that of the literal text or of the output expression. */
  readonly line: number
  /** Line of the output that put it into the text; omitted where it is the same. Macros and `set` keep texts of other lines. */
  readonly outputLine?: number
  /** Index of the message that it stands for; undefined outside of all messages. */
  readonly message: number | undefined
  /** Whether the template's own letters, or a value of the conversation. */
  readonly source: 'template' | 'value'
}

export const outputLine = ({ line, outputLine: own = line }: RenderedPiece): number => own

export interface Rendering {
  readonly text: string
  /** In order, without gaps or overlaps: together they are the text. */
  readonly pieces: readonly RenderedPiece[]
  /** What `{% generation %}` blocks wrote, as Python's tracker measures it; empty where there is none. */
  readonly generation: readonly { readonly start: number; readonly end: number }[]
  readonly hasGenerationTag: boolean
}

/** What one render may use. A template that goes beyond ends with a TemplateError of the class BudgetError. */
export interface Budget {
  /** Evaluated nodes and loop turns. */
  readonly steps: number
  /** UTF-16 units of any text and entries of any list, the output included. */
  readonly size: number
  readonly milliseconds: number
  /** The clock of the milliseconds, which does not go back. Omitted: that of the wall. */
  readonly now?: () => number
}
