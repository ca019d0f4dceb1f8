/**
 * The report of the mask doctor as plain JSON: the page, `POST /api/templates/doctor` and `rollscope doctor --json` show this value.
 * Positions are tokens of a sequence, from its start; ranges are half-open.
 */
import type { Severity } from '#lib/trajectory/health/health.ts'
import type { InputError } from '../document/input.ts'

/** Version of the report. It is raised when a field changes its meaning; new fields do not raise it. */
export const MASK_REPORT_VERSION = 1

/** The ways to a loss mask, in the order in which they are shown. */
export const MASK_METHOD_NAMES = ['tito', 'generation', 'prefix', 'fixed-base'] as const
/** One of MASK_METHOD_NAMES. */
export type MaskMethodName = (typeof MASK_METHOD_NAMES)[number]

/** The report of the mask doctor on a conversation. */
export interface MaskReport {
  readonly version: typeof MASK_REPORT_VERSION
  /** Name and fingerprint of the tokenizer that encoded the texts. */
  readonly tokenizer: { readonly name: string; readonly fingerprint: string }
  /** Error if the conversation cannot be rendered. Without a trajectory there is then nothing else. */
  readonly failure: InputError | undefined
  /** The sequence on which all ways are compared. */
  readonly sequence: MaskedSequence
  /** One for each name, in that order. */
  readonly ways: readonly MaskMethod[]
  /** Number of tokens on which each two ways disagree, of those that both know. Only computed ways are paired. */
  readonly pairs: readonly { readonly ways: readonly [MaskMethodName, MaskMethodName]; readonly tokens: number }[]
  /** The token ranges on which ways disagree, in order. */
  readonly disagreements: readonly Disagreement[]
  readonly lints: readonly Lint[]
}

/** The tokens of the trajectory if one is open, otherwise those of the whole conversation as rendered. */
export interface MaskedSequence {
  readonly of: 'trajectory' | 'rendering'
  readonly ids: readonly number[]
  /** Text of each id in the sequence; {hex} if its bytes are not text by themselves. */
  readonly vocab: Readonly<Record<string, string | { readonly hex: string }>>
  /** Ids of the sequence that are added tokens. */
  readonly specialIds: readonly number[]
  /** Role of each message. */
  readonly roles: readonly string[]
  /** The template lines that wrote the tokens, and the messages they belong to; in order, without unknown ones. */
  readonly origins: readonly TokenOrigin[]
}

/** The origin of a range of tokens. */
export interface TokenOrigin extends TokenRange {
  /** Line of the template, from 1; undefined if the template did not write the tokens. */
  readonly line: number | undefined
  /** Index of the message; undefined outside of all messages. */
  readonly message: number | undefined
}

/** A half-open range of tokens. */
export interface TokenRange {
  readonly start: number
  readonly end: number
}

/** The mask of one way, or why it could not be computed. */
export type MaskMethod =
  | {
      readonly name: MaskMethodName
      readonly kind: 'computed'
      /** Number of tokens that this way would train on; they need not be tokens of the sequence. */
      readonly trained: number
      readonly tokens: number
      /** Marks of all tokens of the sequence, in runs without gaps. */
      readonly runs: readonly MaskRun[]
      /** Tokens of the way that the sequence does not have, and how many of them are trained. */
      readonly foreign: { readonly tokens: number; readonly trained: number }
      /** What is right or wrong about the way, in one line. */
      readonly finding: { readonly severity: Lint['severity'] | 'none'; readonly text: string }
      /** Where an assumption of the way is false. */
      readonly breaks: readonly Break[]
    }
  | { readonly name: MaskMethodName; readonly kind: 'missing'; readonly why: string }

/** A run of tokens with the same mark. */
export interface MaskRun extends TokenRange {
  readonly mark: Mark
}

/** partly: the way splits the token's bytes differently and trains some of them. unknown: it has no such token. */
export type Mark = 'trained' | 'untrained' | 'partly' | 'unknown'

/** A render that should begin with another and does not, or that failed. */
export interface Break {
  /** Index of the assistant message. */
  readonly message: number
  readonly text: string
  /** Both sides around the first difference; undefined if a render failed. */
  readonly difference?: { readonly tokenIndex: number; readonly expected: string; readonly found: string }
  /** Template line that wrote the differing text, or that raised the error. */
  readonly line?: number
}

/** A token range on which ways disagree. */
export interface Disagreement extends TokenRange {
  /** Text of the tokens, cut if it is long. */
  readonly text: string
  readonly line: number | undefined
  readonly message: number | undefined
  /** Marks of the computed ways. */
  readonly marks: Readonly<Partial<Record<MaskMethodName, Mark>>>
}

/** Names of lints; lints.ts has their texts. */
export type LintKind =
  | 'all-zero'
  | 'header-trained'
  | 'context-trained'
  | 'tool-result-trained'
  | 'end-of-turn-untrained'
  | 'after-end-trained'
  | 'synthetic-end'
  | 'merge'
  | 'unknown-logprob'
  | 'span-lost'

/** A known fault of a mask. */
export interface Lint {
  readonly kind: LintKind
  readonly way: MaskMethodName
  /** An error makes the training wrong; a warning may be intended. */
  readonly severity: Exclude<Severity, 'note'>
  /** The fault, in one sentence. */
  readonly text: string
  /** What removes the fault. */
  readonly remedy: string
  /** Places in the tokens of the way itself; empty if the whole mask is meant. */
  readonly places: readonly LintPlace[]
}

/** Tokens to which a lint applies. */
export interface LintPlace extends TokenRange {
  readonly text: string
  /** The same tokens in the sequence of the report; undefined if it does not have them. */
  readonly inSequence: TokenRange | undefined
  readonly line: number | undefined
  readonly message: number | undefined
}
