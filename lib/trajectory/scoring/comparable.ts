/**
 * Decides whether two logprobs of a token have the same meaning. SGLang returns sampled logprobs after temperature, penalties, biases and
 * grammars, and prefill logprobs at temperature 1 without any of them. Trainers compute raw logprobs, or processed ones.
 */
import { isObject } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { responseCalls } from '../messages/response-calls.ts'
import { logprobWords, OWN_LOGPROBS } from '../tokens/column-roles.ts'
import type { NumberColumn, ResponseView, SegmentView, TrajectoryView } from '../tokens/trajectory-view.ts'

/**
 * Returns the reason why not, or undefined if the logprobs that a call sampled are comparable with prefill logprobs. Raw ones are, at any
 * temperature and with any parameter.
 */
export function whyNotComparable(
  { request }: Pick<ResponseView, 'request'>,
  trajectory?: Pick<TrajectoryView, 'columnMeanings'>,
): string | undefined {
  if (trajectory?.columnMeanings?.[OWN_LOGPROBS]?.values === 'raw') return request?.read && whyChanged({ request })
  if (!request) return 'the file does not contain the sampling parameters'
  const temperature = request.samplingParams.temperature ?? 1
  const changed = whyChanged({ request })
  if (request.read) return changed
  // SGLang treats 0 as greedy decoding at temperature 1.
  if (temperature !== 0 && temperature !== 1) return `sampled at temperature ${String(temperature)}`
  return changed
}

/** Returns why the sampled logprobs of a call belong to no temperature: another prompt, or parameters that change logits. */
function whyChanged({ request }: Pick<ResponseView, 'request'>): string | undefined {
  if (request?.read) return 'sampled after different tokens than the recorded ones'
  const changing = CHANGING.filter(([name, neutral]) => {
    const value = request?.samplingParams[name]
    const isEmpty =
      value === undefined || value === null || value === '' || (isObject(value) && Object.keys(value).length === 0)
    return !isEmpty && value !== neutral
  })
  return changing.length > 0 ? `sampled with ${changing.map(([name]) => name).join(', ')}` : undefined
}

/** Parameters that change sampled logprobs, each with its neutral value. */
const CHANGING: readonly (readonly [name: string, neutral?: unknown])[] = [
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['repetition_penalty', 1],
  ['min_new_tokens', 0],
  ['min_tokens', 0],
  ['logit_bias'],
  ['json_schema'],
  ['regex'],
  ['ebnf'],
  ['structural_tag'],
  ['custom_params'],
]

/** What logprobs of a segment are. `normaliser` allows an exact conversion. */
export type LogprobKind =
  | { readonly kind: 'raw'; readonly normaliser?: Normaliser }
  | { readonly kind: 'processed'; readonly temperature: number; readonly normaliser?: Normaliser }
  /** The file does not say it. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** They belong to no temperature. */
  | { readonly kind: 'changed'; readonly why: string }

/** A column with log Σ p^(1/T) of each token, where p is the distribution without temperature. */
interface Normaliser {
  readonly column: string
  readonly temperature: number
}

/**
 * Returns the kind of a column of logprobs in a segment. `column` may be OWN_LOGPROBS, whose kind all calls of a resumed response must
 * share.
 */
export function logprobKind(
  trajectory: Pick<TrajectoryView, 'columnMeanings'>,
  column: string,
  segment: SegmentView,
): LogprobKind {
  const calls = column === OWN_LOGPROBS && segment.kind === 'response' ? responseCalls(segment) : [{}]
  const kinds = calls.map((call) => kindOfCall(trajectory, column, segment, call))
  const doubtful = kinds.find(({ kind }) => kind === 'changed') ?? kinds.find(({ kind }) => kind === 'unknown')
  if (doubtful) return doubtful
  return new Set(kinds.map(kindText)).size > 1
    ? { kind: 'changed', why: 'sampled by calls at several temperatures' }
    : elementAt(kinds, 0)
}

function kindOfCall(
  trajectory: Pick<TrajectoryView, 'columnMeanings'>,
  column: string,
  segment: SegmentView,
  { request }: Pick<ResponseView, 'request'>,
): LogprobKind {
  const { columnMeanings: meanings = {} } = trajectory
  const meaning = meanings[column]
  const isOwn = column === OWN_LOGPROBS
  const values = meaning?.values ?? (isOwn ? ownValues(segment, request) : undefined)
  if (values === undefined)
    return {
      kind: 'unknown',
      why: `the file does not say whether ${logprobWords(trajectory, column)} are raw or processed`,
    }
  const changed = isOwn ? whyChanged({ request }) : undefined
  if (changed !== undefined && (values === 'processed' || request?.read)) return { kind: 'changed', why: changed }
  const sampledAt = request?.samplingParams.temperature ?? (request ? 1 : undefined)
  const temperature = meaning?.temperature ?? (isOwn && typeof sampledAt === 'number' ? sampledAt : undefined)
  const name = meaning?.normaliser
  const normaliserTemperature = name === undefined ? undefined : (meanings[name]?.temperature ?? temperature)
  const normaliser =
    name !== undefined && normaliserTemperature !== undefined
      ? { normaliser: { column: name, temperature: normaliserTemperature } }
      : {}
  if (values === 'raw') return { kind: 'raw', ...normaliser }
  if (temperature === undefined)
    return {
      kind: 'unknown',
      why: `the temperature of ${logprobWords(trajectory, column)} is unknown`,
    }
  // SGLang treats 0 as greedy decoding at temperature 1.
  return temperature === 0 || temperature === 1
    ? { kind: 'raw', ...normaliser }
    : { kind: 'processed', temperature, ...normaliser }
}

/** Returns the values that the format defines where a file says nothing: prefill in prompts, processed in recorded responses. */
const ownValues = ({ kind }: SegmentView, request: ResponseView['request']): 'raw' | 'processed' | undefined =>
  kind === 'prompt' ? 'raw' : request ? 'processed' : undefined

/** How two columns of logprobs are compared at a segment. */
export type Comparison =
  /** Both have the same meaning. */
  | { readonly kind: 'same'; readonly as: string }
  /** One or both are converted exactly, to a common temperature. */
  | { readonly kind: 'converted'; readonly as: string; readonly conversions: readonly Conversion[] }
  /** The kind of a column is unknown: both are compared as if they were the same. */
  | { readonly kind: 'assumed'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }

/** The exact conversion of a column. */
export interface Conversion {
  readonly side: 'numerator' | 'denominator'
  readonly to: 'raw' | 'processed'
  readonly normaliser: Normaliser
}

/** Returns how two kinds of logprobs are compared. A conversion is used only if it is exact. */
export function compareKinds(numerator: LogprobKind, denominator: LogprobKind): Comparison {
  for (const side of [numerator, denominator]) if (side.kind === 'changed') return { kind: 'refused', why: side.why }
  for (const side of [numerator, denominator]) if (side.kind === 'unknown') return { kind: 'assumed', why: side.why }
  const [a, b] = [numerator as KnownKind, denominator as KnownKind]
  if (temperatureOf(a) === temperatureOf(b)) return { kind: 'same', as: kindText(a) }
  const upward = conversionTo(a, 'numerator', b) ?? conversionTo(b, 'denominator', a)
  if (upward) return { kind: 'converted', as: `T ${upward.normaliser.temperature}`, conversions: [upward] }
  const [rawA, rawB] = [conversionToRaw(a, 'numerator'), conversionToRaw(b, 'denominator')]
  if (rawA && rawB) return { kind: 'converted', as: 'raw', conversions: [...rawA, ...rawB] }
  return { kind: 'refused', why: `${kindText(denominator)} and ${kindText(numerator)}` }
}

type KnownKind = Extract<LogprobKind, { kind: 'raw' | 'processed' }>

const temperatureOf = (kind: KnownKind): number => (kind.kind === 'raw' ? 1 : kind.temperature)

/** Returns the conversion of raw logprobs to the temperature of the other side, if their normaliser is of this temperature. */
function conversionTo(own: KnownKind, side: Conversion['side'], other: KnownKind): Conversion | undefined {
  const { normaliser } = own
  return own.kind === 'raw' && other.kind === 'processed' && normaliser?.temperature === other.temperature
    ? { side, to: 'processed', normaliser }
    : undefined
}

/** Returns the conversion to raw logprobs, which raw ones do not need; undefined if there is none. */
function conversionToRaw(own: KnownKind, side: Conversion['side']): readonly Conversion[] | undefined {
  if (own.kind === 'raw') return []
  const { normaliser, temperature } = own
  return normaliser?.temperature === temperature ? [{ side, to: 'raw', normaliser }] : undefined
}

/** Returns a kind in words, such as `processed at T 0.7`. */
export function kindText(kind: LogprobKind): string {
  switch (kind.kind) {
    case 'raw':
      return 'raw'
    case 'processed':
      return `processed at T ${kind.temperature}`
    case 'unknown':
      return 'kind unknown'
    case 'changed':
      return kind.why
  }
}

/**
 * Converts one logprob exactly. With N = log Σ p^(1/T): processed = raw / T − N, and raw = T · (processed + N). NaN if the normaliser of
 * the token is unknown.
 */
export function convertLogprob(
  value: number,
  { to, normaliser: { temperature } }: Conversion,
  normaliser: number,
): number {
  return to === 'processed' ? value / temperature - normaliser : temperature * (value + normaliser)
}

/** Returns the column of logprobs in a segment. */
export const logprobColumn = (segment: SegmentView, column: string): NumberColumn | undefined =>
  column === OWN_LOGPROBS ? segment.logprobs : segment.columns?.[column]
