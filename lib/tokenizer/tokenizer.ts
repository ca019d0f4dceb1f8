/**
 * The tokenizer as token-in/token-out needs it. Implementations: byte-tokenizer.ts here, lib/tokenizer/hub for real ones, the
 * server's own in lib/sglang/server/server-encoder.ts.
 */
export interface Tokenizer {
  /** Hub name, folder, or the built-in model's. */
  readonly name: string
  /** Of what it is, hexadecimal: SHA-256 of the tokenizer file, or of a server's answers to fixed texts. */
  readonly fingerprint: string
  /** Every id is smaller. Infinity where it is not known: a server does not tell the size of its tokenizer. */
  readonly vocabularySize: number
  /** Tokens that stand outside the vocabulary's merges: special tokens, think and tool delimiters. */
  readonly addedTokens: readonly AddedToken[]
  /** Without adding special tokens; the text of an added token becomes its id. */
  encode(text: string): number[]
  /** It cuts a text into words and remembers their ids: only a long word takes long. Omitted: unknown. */
  readonly encodesWords?: boolean
  /** The exact bytes of one id; empty for an id the tokenizer does not know. */
  bytes(id: number): Uint8Array
  /** What it adds to a text of its own accord, and `encode` leaves out. Omitted: not known here. */
  readonly frame?: TextFrame
}

/** Ids around a text: a beginning-of-sequence token, for the most part. */
export interface TextFrame {
  readonly before: readonly number[]
  readonly after: readonly number[]
}

export interface AddedToken {
  readonly id: number
  readonly content: string
  /** False for tokens such as <think> that decoding keeps when it skips special tokens. */
  readonly special: boolean
}
