/** What a tool-call parser is: text in, calls with their places out. Strict: nothing is repaired, nothing is dropped. */

/** Half-open range of UTF-16 offsets in the text that was parsed. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

export type ParsedCall =
  | {
      readonly kind: 'parsed'
      readonly name: string
      readonly input: Readonly<Record<string, unknown>>
      /** The values of the top-level arguments, in the order written. */
      readonly arguments: readonly { readonly name: string; readonly text: TextRange }[]
      /** What stands between the delimiters. */
      readonly raw: string
      /** The whole call, delimiters included. */
      readonly text: TextRange
    }
  | {
      readonly kind: 'malformed'
      /** Undefined when none could be read. */
      readonly name?: string
      readonly why: string
      /** Offset at which it went wrong. */
      readonly at: number
      readonly raw: string
      readonly text: TextRange
    }

export interface ToolParser {
  readonly name: string
  /** What opens and closes a call: a think delimiter between the two is part of the call's text. */
  readonly delimiters: { readonly open: string; readonly close: string }
  /**
   * The calls in the text, in order. `shielded` are think blocks, sorted: what stands in them is no call. Never throws;
   * time linear in the length of the text.
   */
  parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[]
}
