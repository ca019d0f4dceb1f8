/**
 * The tool-call parser interface: text in, calls with their positions out. Parsers are strict: they repair and drop
 * nothing.
 */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** Half-open range of UTF-16 offsets in the parsed text. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

interface Place {
  /** The text between the delimiters. */
  readonly raw: string
  /** The whole call with its delimiters. */
  readonly text: TextRange
  /** The id that the model wrote, in formats with ids. Ids of one response may repeat. */
  readonly writtenId?: string
}

/** A parsed or malformed tool call. */
export type ParsedCall =
  | ({
      readonly kind: 'parsed'
      readonly name: string
      /** Range of the name, including quotes if the format has them. */
      readonly nameText: TextRange
      readonly input: Readonly<Record<string, unknown>>
      /** Values of the top-level arguments in written order. Names are unique. */
      readonly arguments: readonly NamedRange[]
      /** Members that the format does not define; they have no effect. */
      readonly ignored: readonly TextRange[]
    } & Place)
  | ({
      readonly kind: 'malformed'
      /** Undefined if no name could be read. */
      readonly name?: string
      readonly why: string
      /** Offset at which parsing failed. */
      readonly at: number
    } & Place)

/** A range with a name. */
export interface NamedRange {
  readonly name: string
  /** Range of the name, including quotes if the format has them. */
  readonly key: TextRange
  readonly text: TextRange
}

/** A tool-call parser. */
export interface ToolParser {
  readonly name: string
  /** SGLang's names for the format (`--tool-call-parser`, 0.5.23), the one to request first. Omitted: SGLang has no parser for it. */
  readonly sglangNames?: readonly [string, ...string[]]
  readonly delimiters: {
    /** Delimiters of a call: a think delimiter between them is part of the call's text. */
    readonly open: string
    /**
     * Empty in formats without a closing delimiter: a call ends with its last bracket, and `open` precedes the first
     * call of a run.
     */
    readonly close: string
    /** The token that ends a call, in formats where `close` does not follow every call. */
    readonly end?: string
    /** Delimiters of a run of calls, in formats with sections. */
    readonly section?: { readonly open: string; readonly close: string }
    /** A second spelling of these delimiters. */
    readonly other?: ToolParser['delimiters']
    /** Tags around the text of a reply, in formats that have them. */
    readonly around?: readonly string[]
  }
  /**
   * Returns the calls of the text in order. `shielded` are sorted think blocks, in which calls are ignored. `tools`
   * give the types of arguments if the format does not. Never throws; time is linear in the length of the text.
   */
  parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[]
  /**
   * Returns the text that belongs neither to calls nor to content, in order; `calls` are those of `parse`. Omitted: the
   * tags of sections and those around the text.
   */
  markup?(text: string, calls: readonly PlacedCall[], shielded: readonly TextRange[]): readonly CallMarkup[]
}

/** Returns all spellings of the delimiters. */
export const spellingsOf = (delimiters: ToolParser['delimiters']): readonly ToolParser['delimiters'][] =>
  delimiters.other ? [delimiters, delimiters.other] : [delimiters]

/** The range of a call. */
export type PlacedCall = Pick<ParsedCall, 'text'>

/** Markup outside of calls: open and close surround a run of calls; between is among them or around a text. */
export interface CallMarkup extends TextRange {
  readonly kind: 'open' | 'between' | 'close'
}
