/** Defines the parsed form of a query. Ranges are half-open and count UTF-16 code units of the query as typed. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { QUANTITY_NAMES, type QuantityName } from '#lib/trajectory/tokens/quantities.ts'
import type { Interval } from '#lib/util/interval.ts'

/** A parsed query. */
export type Query =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | Term

/** A single condition on text, ids or facts of tokens. */
export type Term =
  /** A text, which is found across token boundaries. `isExact`: upper and lower case are distinguished. */
  | { readonly kind: 'text'; readonly text: string; readonly isExact: boolean }
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  /** A sequence of consecutive token ids. */
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | {
      readonly kind: 'number'
      readonly number: NumberName
      readonly within: readonly Interval[]
      /** True: context tokens are searched too. Omitted: quantities are searched only in trained tokens. */
      readonly withPrompt?: true
    }
  | { readonly kind: 'name'; readonly name: NamedFact; readonly value: string; readonly at: Span }

/** A number of a token, which may be unknown. */
export type NumberName =
  | { readonly kind: 'fact'; readonly name: NumberFact }
  | { readonly kind: 'column'; readonly name: string }

/** Names of the numbers that every trajectory has. */
export const NUMBER_FACTS = ['index', 'id', 'segment', 'mask', ...QUANTITY_NAMES, 'special'] as const
/** Name of a number that every trajectory has. */
export type NumberFact = (typeof NUMBER_FACTS)[number]

/**
 * Returns true if a number is searched only in trained tokens, unless the query names the prompt. This is true for quantities such as
 * the logprob: context tokens have them from prefill, for text that the model did not sample.
 */
export const isOfSampled = (number: NumberName): boolean => number.kind === 'fact' && isQuantity(number.name)

const isQuantity = (name: string): name is QuantityName => (QUANTITY_NAMES as readonly string[]).includes(name)

/** Named facts and their values. A fact with a list allows no other value. */
export const NAMED_FACTS = {
  kind: ['prompt', 'response', 'tool'],
  span: ['think', 'call', 'argument', 'special', 'text'],
  finish: ['stop', 'length', 'abort', 'cancelled', 'cut', 'unknown'],
  tool: undefined,
  call: undefined,
  arg: undefined,
  version: undefined,
  problem: undefined,
  unknown: undefined,
} as const satisfies Readonly<Record<string, readonly string[] | undefined>>
/** Name of a named fact. */
export type NamedFact = keyof typeof NAMED_FACTS

/** A syntax error: its range in the query, a message and a hint, for a person. */
export interface QueryFault {
  readonly at: Span
  readonly message: string
  /** Omitted if the message is sufficient. */
  readonly hint?: string
}

/** Result of parsing; `nothing` is a query of only spaces. */
export type ParsedQuery =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'fault'; readonly fault: QueryFault }
