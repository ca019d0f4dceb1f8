/**
 * Searches all tokens of a trajectory. A text hit is the range of tokens that contain the text. Facts are true for single tokens, and
 * adjacent tokens are one hit. docs/find.md describes how `and`, `or` and `not` combine the two.
 */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { QUANTITY_NAMES, quantityNamed } from '#lib/trajectory/tokens/quantities.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { uint8At } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import { allIds } from '../all-ids.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { suggestName } from './closest.ts'
import { tokensNamed } from './named-facts.ts'
import { namesHere, trajectoryColumns } from './names-here.ts'
import { isKnownAnywhere, type TokenScope, tokensWithin } from './number-facts.ts'
import { parseQuery } from './parse-query.ts'
import { possibleValuesText } from './possible-values.ts'
import { isOfSampled, type Query, type QueryFault, type Term } from './query.ts'
import { queryText } from './query-text.ts'
import { addRanges, countInRanges, NO_RANGES, rangesOfSet, rangesTouching, unitedRanges } from './ranges.ts'
import { idHits, patternHits, textHits } from './text-hits.ts'
import { textIndex } from './text-index.ts'

/** A search in the trajectory. */
export interface FindRequest {
  /** Query as typed. */
  readonly query: string
}

/** Result of a search: an empty query, a fault in the query, or hits. */
export type FindResult =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'fault'; readonly fault: QueryFault }
  | {
      readonly kind: 'found'
      /** Flat pairs [start, end, …] of tokens, half-open and sorted. They do not overlap. */
      readonly hits: Int32Array
      /** Number of tokens in all hits. */
      readonly tokens: number
      /** Query in its normalized form. */
      readonly understood: string
      /** What explains the number of hits, such as tokens that the query leaves out. */
      readonly notes: readonly FindNote[]
    }

/** A remark on the hits, for a person. */
export interface FindNote {
  /** Range of the query that the remark is about. Omitted: the whole query. */
  readonly at?: Span
  readonly message: string
}

/** Task that runs a query. Yields the number of hits of a text so far. */
export const findTask = function* ({ query: written }, trajectory) {
  const parsed = parseQuery(written, trajectoryColumns(trajectory))
  if (parsed.kind !== 'query') return parsed
  const { texts, facts } = yield* evaluateQuery(parsed.query, trajectory)
  const hits = [...texts, ...(facts ? [rangesOfSet(facts)] : [])].reduce(unitedRanges, NO_RANGES)
  return {
    kind: 'found',
    hits,
    tokens: countInRanges(hits),
    understood: queryText(parsed.query),
    notes: [...notesOf(parsed.query, trajectory), ...(hits.length === 0 ? textsApart(parsed.query) : [])],
  }
} satisfies InspectTask<FindRequest, number, FindResult>

/**
 * Hits of texts, which are kept or dropped as a whole, and tokens for which facts are true (undefined: the query has no facts). `and`
 * keeps the text hits that share a token with the other side, and the fact tokens that both sides have. Hits that share a token are
 * joined only in the end, so that `and` distributes over `or`.
 */
interface Found {
  readonly texts: readonly Int32Array[]
  readonly facts: Uint8Array | undefined
}

function* evaluateQuery(query: Query, trajectory: TrajectoryView): Generator<number, Found> {
  switch (query.kind) {
    case 'or': {
      let found: Found = { texts: [], facts: undefined }
      for (const part of query.parts) found = either(found, yield* evaluateQuery(part, trajectory))
      return found
    }
    case 'and': {
      const [first, ...others] = query.parts as readonly [Query, ...Query[]]
      let found = yield* evaluateQuery(first, trajectory)
      for (const part of others) found = both(found, yield* evaluateQuery(part, trajectory), trajectory)
      return found
    }
    case 'not': {
      const tokens = allTokensOf(yield* evaluateQuery(query.part, trajectory), trajectory)
      return { texts: [], facts: tokens.map((isIn) => 1 - isIn) }
    }
    case 'text':
      return { texts: [yield* textHits(query, textIndex(trajectory))], facts: undefined }
    case 'pattern':
      return { texts: [yield* patternHits(query, textIndex(trajectory))], facts: undefined }
    case 'ids':
      return { texts: [yield* idHits(query, allIds(trajectory))], facts: undefined }
    case 'number':
      return { texts: [], facts: tokensWithin(trajectory, query.number, query.within, scopeOf(query)) }
    case 'name':
      return { texts: [], facts: tokensNamed(trajectory, query.name, query.value) }
    default:
      return unreachable(query)
  }
}

const either = (a: Found, b: Found): Found => ({
  texts: [...a.texts, ...b.texts],
  facts: a.facts && b.facts ? inEither(a.facts, b.facts) : (a.facts ?? b.facts),
})

function both(a: Found, b: Found, trajectory: TrajectoryView): Found {
  const ofB = allTokensOf(b, trajectory)
  const { facts } = a
  return {
    texts: [
      ...a.texts.map((ranges) => rangesTouching(ranges, ofB)),
      ...(facts ? b.texts.map((ranges) => rangesTouching(ranges, facts)) : []),
    ],
    facts: facts && b.facts && inBoth(facts, b.facts),
  }
}

// Two functions, because one that takes the operation calls it for each token.
const inEither = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((isIn, token) => isIn | uint8At(b, token))
const inBoth = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((isIn, token) => isIn & uint8At(b, token))

const allTokensOf = ({ texts, facts }: Found, trajectory: TrajectoryView): Uint8Array =>
  texts.reduce(addRanges, facts?.slice() ?? new Uint8Array(tokenCount(trajectory)))

function notesOf(query: Query, trajectory: TrajectoryView): readonly FindNote[] {
  const terms = termsOf(query)
  const numbers = terms.filter((term) => term.kind === 'number')
  return [
    ...terms.flatMap((term) => (term.kind === 'name' ? nameNote(term, trajectory) : [])),
    ...numbers.flatMap((term) => numberNote(term, trajectory)),
    ...QUANTITY_NAMES.filter((name) => numbers.some(({ number }) => number.name === name)).flatMap((name) => {
      const { caveat } = quantityNamed(name, trajectory)
      return caveat === undefined ? [] : [{ message: caveat }]
    }),
  ]
}

type NumberTerm = Extract<Term, { kind: 'number' }>

const scopeOf = ({ number, withPrompt }: NumberTerm): TokenScope =>
  isOfSampled(number) && withPrompt === undefined ? 'trained' : 'all'

/** Returns notes on numbers that are impossible, on numbers that no searched token has, and on context tokens that the limit to trained tokens leaves out. */
function numberNote(term: NumberTerm, trajectory: TrajectoryView): readonly FindNote[] {
  const { number, within } = term
  const possible = possibleValuesText(trajectory, number, within)
  // A logprob that was rounded above 0 is beyond the possible values, and still a match.
  if (possible !== undefined && countOf(tokensWithin(trajectory, number, within)) === 0) {
    const { withPrompt: _, ...written } = term
    return [{ message: `No token has ${queryText(written)}, because ${number.name} is ${possible}.` }]
  }
  if (scopeOf(term) === 'all')
    return isKnownAnywhere(trajectory, number, 'all') ? [] : [{ message: `No token has a known ${number.name}.` }]
  const isKnown = isKnownAnywhere(trajectory, number, 'trained')
  const more = countOf(tokensWithin(trajectory, number, within, 'context'))
  return [
    ...(isKnown ? [] : [{ message: `No trained token has a known ${number.name}.` }]),
    ...(more === 0
      ? []
      : [
          {
            message: `Only trained tokens count: “prompt ${queryText(term)}” finds ${countWithNoun(more, 'context token')} more.`,
          },
        ]),
  ]
}

const countOf = (tokens: Uint8Array): number => countInRanges(rangesOfSet(tokens))

function nameNote(
  { name, value, at }: Extract<Term, { kind: 'name' }>,
  trajectory: TrajectoryView,
): readonly FindNote[] {
  const names = namesHere(trajectory, name)
  const isCallNumber = name === 'call' && 1 <= Number(value) && Number(value) <= (names?.length ?? 0)
  if (!names || names.includes(value) || isCallNumber) return []
  const suggestion = suggestName(value, names)
  const there =
    names.length === 0
      ? 'No token matches.'
      : `Known names: ${names.slice(0, MANY_NAMES).join(', ')}${names.length > MANY_NAMES ? ', …' : ''}.`
  return [
    { at, message: `No ${name} “${value}” here. ${suggestion === undefined ? there : `Did you mean ${suggestion}?`}` },
  ]
}

/** Returns a note if several texts are joined by `and`: they match only if they share a token. */
function textsApart(query: Query): readonly FindNote[] {
  const texts = query.kind === 'and' ? query.parts.filter(({ kind }) => kind === 'text' || kind === 'pattern') : []
  return texts.length < 2
    ? []
    : [
        {
          message:
            'Two texts only match together if they share a token. Words without quotes between them are one text.',
        },
      ]
}

const MANY_NAMES = 8

function termsOf(query: Query): readonly Term[] {
  switch (query.kind) {
    case 'and':
    case 'or':
      return query.parts.flatMap(termsOf)
    case 'not':
      return termsOf(query.part)
    default:
      return [query]
  }
}
