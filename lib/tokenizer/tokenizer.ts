/**
 * The tokenizer interface for token-in/token-out. Implementations: byte-tokenizer.ts for tests, lib/tokenizer/hub for
 * real ones, the server's own in lib/engine/tokenizer/server-encoder.ts.
 */
export interface Tokenizer {
  /** Hub name, folder, or the name of the built-in model. */
  readonly name: string
  /** Hexadecimal identity: SHA-256 of the tokenizer file, or of a server's answers to fixed texts. */
  readonly fingerprint: string
  /** Every id is smaller. Infinity if unknown, because a server does not report the size of its tokenizer. */
  readonly vocabularySize: number
  /** Tokens outside of the vocabulary's merges: special tokens, think and tool delimiters. */
  readonly addedTokens: readonly AddedToken[]
  /** Encodes without adding special tokens; the text of an added token becomes its id. */
  encode(text: string): number[]
  /** True if it splits a text into words and caches their ids, so that only long words are slow. Omitted: unknown. */
  readonly encodesWords?: boolean
  /** Returns the exact bytes of one id; empty for an unknown id. */
  bytes(id: number): Uint8Array
  /** Tokens that it adds to a text and `encode` leaves out. Omitted: unknown. */
  readonly frame?: TextFrame
}

/** Ids around a text, usually a beginning-of-sequence token. */
export interface TextFrame {
  readonly before: readonly number[]
  readonly after: readonly number[]
}

/** A token outside of the vocabulary's merges. */
export interface AddedToken {
  readonly id: number
  readonly content: string
  /** False for tokens such as <think>, which decoding keeps when it skips special tokens. */
  readonly special: boolean
}
