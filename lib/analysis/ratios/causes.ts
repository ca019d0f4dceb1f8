/**
 * Names the likely cause of an importance ratio that is far from 1. Each cause is a rule over what the trajectory records; the first rule
 * that applies names it. None is certain: the numbers alone do not show why two programs differ.
 */
import { callAt } from '#lib/trajectory/messages/response-calls.ts'
import { logprobColumn } from '#lib/trajectory/scoring/comparable.ts'
import { ratioComparison, segmentLogRatios } from '#lib/trajectory/scoring/log-ratios.ts'
import { logprobTitle, roleColumn } from '#lib/trajectory/tokens/column-roles.ts'
import { segmentIndexAt, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type SegmentView, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { versionAt, versionSpans } from '#lib/trajectory/tokens/weight-versions.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'

/** Titles of the causes, in the order in which their rules are tried. */
export const CAUSE_TITLES = {
  stop: 'stop token',
  drift: 'drift',
  version: 'weight version',
  truncation: 'truncation',
  temperature: 'temperature',
  nucleus: 'top-p',
  none: 'no cause found',
} as const

/** The name of a cause. */
export type CauseName = keyof typeof CAUSE_TITLES

/** A likely cause, with its evidence in words. */
export interface Cause {
  readonly name: CauseName
  readonly detail: string
}

/** What the rules read besides the trajectory. */
export interface Evidence {
  readonly trajectory: TrajectoryView
  /** Retokenization drift: flat pairs of token indices, half-open and sorted. Undefined: unknown. */
  readonly drift: Int32Array | undefined
}

/** One token with what the rules need. */
interface Place extends Evidence {
  readonly token: number
  readonly segment: SegmentView
  readonly offset: number
  readonly logRatio: number
}

/** Returns the likely cause of the ratio of a token. */
export function likelyCause(evidence: Evidence, token: number): Cause {
  const { trajectory } = evidence
  const starts = segmentStarts(trajectory)
  const index = segmentIndexAt(starts, token)
  const segment = segmentsOf(trajectory)[index]
  if (!segment) return NO_CAUSE
  const offset = token - elementAt(starts, index)
  const place: Place = {
    ...evidence,
    token,
    segment,
    offset,
    logRatio: segmentLogRatios(trajectory, segment)[offset] ?? Number.NaN,
  }
  for (const [name, rule] of RULES) {
    const detail = rule(place)
    if (detail !== undefined) return { name, detail }
  }
  return NO_CAUSE
}

const NO_CAUSE: Cause = { name: 'none', detail: 'nothing recorded explains it' }

/** Returns the evidence in words, or undefined if the rule does not apply. */
type Rule = (place: Place) => string | undefined

/** A trainer that does not score the stop token, or has it at another position. */
const stopToken: Rule = ({ trajectory, segment, offset }) => {
  if (segment.kind !== 'response' || offset !== segment.ids.length - 1 || segment.finish?.kind !== 'stop')
    return undefined
  const columns = ratioComparison(trajectory)?.columns
  const numerator = columns?.kind === 'logprobs' ? columns.numerator : undefined
  return numerator !== undefined && numberAt(logprobColumn(segment, numerator), offset) === 0
    ? `the ${logprobTitle(trajectory, numerator)} logprob is 0: not scored`
    : 'last token of the response'
}

/** Tokens after a drift span in which the trainer’s context differs. */
const AFTER_DRIFT = 4

/** Other ids in the trainer: it encoded the text again, so that this token or the ones before it differ. */
const retokenized: Rule = ({ drift, token }) => {
  if (!drift) return undefined
  const spans = drift.length >> 1
  const next = countWhile(spans, (span) => int32At(drift, 2 * span) <= token)
  if (next === 0) return undefined
  const end = int32At(drift, 2 * next - 1)
  if (token < end) return 'retokenization changes this token'
  return token < end + AFTER_DRIFT ? `retokenization changes ids before it, up to token ${end - 1}` : undefined
}

/** Weights that were updated after the token was sampled, or while the response was sampled. */
const weightVersion: Rule = ({ trajectory, segment, offset }) => {
  const sampled = versionAt(versionSpans(segment, trajectory), offset)
  if (sampled === undefined) return undefined
  const trainer = numberAt(roleColumn(segment, trajectory, 'trainerVersion'), offset)
  if (trainer !== null) return String(trainer) === sampled ? undefined : `sampled ${sampled}, trainer ${trainer}`
  const first = segmentsOf(trajectory).find((part) => versionSpans(part, trajectory).length > 0)
  const [before] = first ? versionSpans(first, trajectory) : []
  return before && before.version !== sampled ? `${before.version} → ${sampled}` : undefined
}

/** A response that does not end with a stop token: trainers add one, or leave out the last token. */
const truncation: Rule = ({ segment, offset }) => {
  if (segment.kind !== 'response' || offset !== segment.ids.length - 1 || !segment.finish) return undefined
  return segment.finish.kind === 'stop'
    ? undefined
    : `last token of a response that ended with “${segment.finish.kind}”`
}

/** Logprobs of unknown kinds, sampled at another temperature than 1: one side is probably processed and the other raw. */
const temperature: Rule = (place) => {
  const { trajectory } = place
  const { temperature: sampledAt } = paramsAt(place)
  if (typeof sampledAt !== 'number' || sampledAt === 1 || sampledAt === 0) return undefined
  return ratioComparison(trajectory)?.comparison?.kind === 'assumed'
    ? `sampled at T ${sampledAt}, and the kind of a column is unknown`
    : undefined
}

/** Returns the parameters of the call that sampled a token. */
const paramsAt = ({ segment, offset }: Pick<Place, 'segment' | 'offset'>): Readonly<Record<string, unknown>> =>
  (segment.kind === 'response' && callAt(segment, offset)?.request?.samplingParams) || {}

/** Rounding of logprobs, in nats. */
const ROUNDING = 0.02

/**
 * Logprobs that were normalised over the tokens that top-p, top-k or min-p left. They are too high by −log of the remaining probability,
 * which is at least top_p: the ratio is below 1 and at least top_p. SGLang reports logprobs before these limits.
 */
const nucleus: Rule = (place) => {
  const { trajectory, logRatio } = place
  if (logRatio >= 0 || isOfSglang(trajectory)) return undefined
  const { top_p: topP, top_k: topK, min_p: minP } = paramsAt(place)
  if (typeof topP === 'number' && topP < 1)
    return logRatio >= Math.log(topP) - ROUNDING ? `sampled with top_p ${topP}` : undefined
  if (typeof topK === 'number' && topK > 0) return `sampled with top_k ${topK}`
  return typeof minP === 'number' && minP > 0 ? `sampled with min_p ${minP}` : undefined
}

const isOfSglang = ({ columnMeanings, provenance }: TrajectoryView): boolean => {
  const engine = columnMeanings?.logprobs?.engine
  return engine === undefined ? provenance.kind === 'rollout' : /sglang/i.test(engine)
}

const RULES: readonly (readonly [CauseName, Rule])[] = [
  ['stop', stopToken],
  ['drift', retokenized],
  ['version', weightVersion],
  ['truncation', truncation],
  ['temperature', temperature],
  ['nucleus', nucleus],
]
