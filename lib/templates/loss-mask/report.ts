/**
 * What the mask doctor finds, as plain JSON: the page, `POST /api/templates/doctor` and `rollscope doctor --json` show this
 * very value. Positions are tokens of a sequence, from its start; ranges are half-open.
 */
import type { InputError } from '../document/input.ts'

/** Raised when a field changes its meaning; fields may be added without. */
export const REPORT_VERSION = 1

/** The ways to a loss mask, in the order in which they are shown. */
export const wayNames = ['tito', 'generation', 'prefix', 'fixed-base'] as const
export type WayName = (typeof wayNames)[number]

export interface MaskReport {
  readonly version: typeof REPORT_VERSION
  /** Name and fingerprint of the tokenizer that gave the ids. */
  readonly tokenizer: { readonly name: string; readonly fingerprint: string }
  /** Set where the conversation cannot be rendered. Without a trajectory there is then nothing else. */
  readonly failure: InputError | undefined
  /** What all ways are compared on. */
  readonly sequence: Sequence
  /** One for each name, in that order. */
  readonly ways: readonly Way[]
  /** How many tokens each two ways disagree on, of those that both speak of. Only pairs that were computed. */
  readonly pairs: readonly { readonly ways: readonly [WayName, WayName]; readonly tokens: number }[]
  /** Where they disagree, in order. */
  readonly disagreements: readonly Disagreement[]
  readonly lints: readonly Lint[]
}

/** The tokens of the trajectory where one is open, else those of the whole conversation as rendered. */
export interface Sequence {
  readonly of: 'trajectory' | 'rendering'
  readonly ids: readonly number[]
  /** Text of each id that stands in it; {hex} where its bytes are no text by themselves. */
  readonly vocab: Readonly<Record<string, string | { readonly hex: string }>>
  /** Those ids of it that are added tokens. */
  readonly specialIds: readonly number[]
  /** Of each message. */
  readonly roles: readonly string[]
  /** Which line of the template wrote what, and for which message; in order, without what is not known. */
  readonly origins: readonly TokenOrigin[]
}

export interface TokenOrigin extends TokenRange {
  /** From 1; undefined where the template did not write it. */
  readonly line: number | undefined
  /** Index of the message; undefined outside of all. */
  readonly message: number | undefined
}

export interface TokenRange {
  readonly start: number
  readonly end: number
}

export type Way =
  | {
      readonly name: WayName
      readonly kind: 'computed'
      /** Of the tokens that this way would train on; they need not be those of the sequence. */
      readonly trained: number
      readonly tokens: number
      /** What it says of each token of the sequence, in runs without gaps. */
      readonly runs: readonly MaskRun[]
      /** Tokens of its own that the sequence does not have, and how many of them are trained. */
      readonly foreign: { readonly tokens: number; readonly trained: number }
      /** In one line for a person: what is right or wrong about it. */
      readonly finding: { readonly severity: LintSeverity | 'none'; readonly text: string }
      /** Where what it takes for granted does not hold. */
      readonly breaks: readonly Break[]
    }
  | { readonly name: WayName; readonly kind: 'missing'; readonly why: string }

export interface MaskRun extends TokenRange {
  readonly mark: Mark
}

/** partly: the way splits the token's bytes otherwise, and trains some of them. unknown: it has no such token. */
export type Mark = 'trained' | 'untrained' | 'partly' | 'unknown'

/** A render that should begin with another and does not; or one that failed. */
export interface Break {
  /** Index of the assistant message. */
  readonly message: number
  readonly text: string
  /** Both sides around the first difference; undefined where a render failed. */
  readonly difference?: { readonly tokenIndex: number; readonly expected: string; readonly found: string }
  /** Template line that wrote what was found there, or that raised. */
  readonly line?: number
}

export interface Disagreement extends TokenRange {
  /** The text of the tokens, cut where it is long. */
  readonly text: string
  readonly line: number | undefined
  readonly message: number | undefined
  /** Ways that are not there were not computed. */
  readonly marks: Readonly<Partial<Record<WayName, Mark>>>
}

export type LintSeverity = 'error' | 'warning'

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

export interface Lint {
  readonly kind: LintKind
  readonly way: WayName
  readonly severity: LintSeverity
  /** One sentence. */
  readonly text: string
  /** What to do about it. */
  readonly remedy: string
  /** In the tokens of the way itself; empty where the whole mask is meant. */
  readonly places: readonly LintPlace[]
}

export interface LintPlace extends TokenRange {
  readonly text: string
  /** The same tokens in the sequence that the report shows; undefined where it does not have them. */
  readonly inSequence: TokenRange | undefined
  readonly line: number | undefined
  readonly message: number | undefined
}
