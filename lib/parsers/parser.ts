/** What a tool-call parser is: text in, calls with their places out. Strict: nothing is repaired, nothing is dropped. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** Half-open range of UTF-16 offsets in the text that was parsed. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

interface Place {
  /** What stands between the delimiters. */
  readonly raw: string
  /** The whole call, delimiters included. */
  readonly text: TextRange
  /** The id that the model wrote, in formats that have one. Ids of one response may repeat. */
  readonly writtenId?: string
}

export type ParsedCall =
  | ({
      readonly kind: 'parsed'
      readonly name: string
      /** Where it stands, with quotes where the format has them. */
      readonly nameText: TextRange
      readonly input: Readonly<Record<string, unknown>>
      /** The values of the top-level arguments, in the order written. No two have the same name. */
      readonly arguments: readonly NamedRange[]
      /** What is read and counts for nothing: members that the format does not know. */
      readonly ignored: readonly TextRange[]
    } & Place)
  | ({
      readonly kind: 'malformed'
      /** Undefined when none could be read. */
      readonly name?: string
      readonly why: string
      /** Offset at which it went wrong. */
      readonly at: number
    } & Place)

export interface NamedRange {
  readonly name: string
  /** Where the name stands, with quotes where the format has them. */
  readonly key: TextRange
  readonly text: TextRange
}

export interface ToolParser {
  readonly name: string
  /** SGLang's names for the format (`--tool-call-parser`, 0.5.23), the one to request first. Omitted: SGLang has no parser for it. */
  readonly sglangNames?: readonly [string, ...string[]]
  readonly delimiters: {
    /** What opens and closes a call: a think delimiter between the two is part of the call's text. */
    readonly open: string
    /** Empty in formats without one: a call ends with its own last bracket, and `open` stands before the first of a run. */
    readonly close: string
    /** The token that ends a call, where no `close` stands behind all of them. */
    readonly end?: string
    /** What opens and closes a run of calls, in formats that have such. */
    readonly section?: { readonly open: string; readonly close: string }
    /** How else the format may spell all of these. */
    readonly other?: ToolParser['delimiters']
    /** Tags that stand around the text of a reply, in formats that have such. */
    readonly around?: readonly string[]
  }
  /**
   * The calls in the text, in order. `shielded` are think blocks, sorted: what stands in them is no call. `tools` say of
   * which type an argument is, where the format does not. Never throws; time linear in the length of the text.
   */
  parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[]
  /** What belongs to neither calls nor text, in order; `calls` are those of `parse`. Omitted: the tags of sections, and those around the text. */
  markup?(text: string, calls: readonly PlacedCall[], shielded: readonly TextRange[]): readonly Markup[]
}

export const spellingsOf = (delimiters: ToolParser['delimiters']): readonly ToolParser['delimiters'][] =>
  delimiters.other ? [delimiters, delimiters.other] : [delimiters]

export type PlacedCall = Pick<ParsedCall, 'text'>

/** open and close stand around a run of calls; between: among them, or around a text. */
export interface Markup extends TextRange {
  readonly kind: 'open' | 'between' | 'close'
}
