/** What a query asks for, as the parser reads it. Places count UTF-16 code units of the query as typed; half-open. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { QUANTITY_NAMES, type QuantityName } from '#lib/trajectory/tokens/quantities.ts'
import type { Interval } from '#lib/util/interval.ts'

export type Query =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Query[] }
  | { readonly kind: 'not'; readonly part: Query }
  | Term

export type Term =
  /** Found across token boundaries. `isExact`: upper and lower case are told apart. */
  | { readonly kind: 'text'; readonly text: string; readonly isExact: boolean }
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  /** These ids, one after the other. */
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | {
      readonly kind: 'number'
      readonly number: NumberName
      readonly within: readonly Interval[]
      /** Context tokens count too. Omitted: of the quantities only trained tokens have one. */
      readonly withPrompt?: true
    }
  | { readonly kind: 'name'; readonly name: NamedFact; readonly value: string; readonly at: Span }

/** A number that each token has, or has not (unknown). */
export type NumberName =
  | { readonly kind: 'fact'; readonly name: NumberFact }
  | { readonly kind: 'column'; readonly name: string }

export const NUMBER_FACTS = ['index', 'id', 'segment', 'mask', ...QUANTITY_NAMES, 'special'] as const
export type NumberFact = (typeof NUMBER_FACTS)[number]

/**
 * Whether a number is searched in trained tokens alone unless the query names the prompt. The quantities are: a context token
 * has them from prefill, of a text that the model did not write.
 */
export const isOfSampled = (number: NumberName): boolean => number.kind === 'fact' && isQuantity(number.name)

const isQuantity = (name: string): name is QuantityName => (QUANTITY_NAMES as readonly string[]).includes(name)

/** What is asked for by name. Those with a list take no other value. */
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
export type NamedFact = keyof typeof NAMED_FACTS

/** What is wrong in a query, where, and what helps. */
export interface QueryFault {
  readonly at: Span
  readonly message: string
  /** Omitted: the message says it all. */
  readonly hint?: string
}

export type ParsedQuery =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'fault'; readonly fault: QueryFault }
