/** Totals of a trajectory and of each segment, derived. Logprob sums are over trained tokens whose logprob is known. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { responseCalls } from '../messages/response-calls.ts'
import { isTrained, segmentsOf } from './tokens.ts'
import { numberAt, type ResponseView, type SegmentView, type TrajectoryView } from './trajectory-view.ts'

interface SegmentStatistics {
  readonly tokens: number
  readonly trained: number
  /** Trained tokens whose logprob is known. */
  readonly scored: number
  /** In nats; null when no trained token has a known logprob. */
  readonly logprobSum: number | null
  readonly meanLogprob: number | null
  /** exp(−mean logprob); null like the mean. */
  readonly perplexity: number | null
}

export interface Statistics extends SegmentStatistics {
  readonly segments: readonly SegmentStatistics[]
  readonly toolCalls: {
    readonly succeeded: number
    readonly failed: number
    readonly malformed: number
    readonly pending: number
  }
  /** Prompt tokens that the server took from its prefix cache, over all calls; null when it never said. */
  readonly cachedTokens: number | null
  /** Prompt tokens that the server read, over all calls; null when it never said. */
  readonly promptTokensRead: number | null
  /** Time from request to reply, over all calls; null when not known. */
  readonly generationMs: number | null
  /** Temperatures and top_p of the calls, each once: the sampled logprobs are to be read with them. */
  readonly temperatures: readonly number[]
  readonly topPs: readonly number[]
}

/**
 * Prompt tokens from the prefix cache; null = not said. Where the prompt was scored first, that call read it, and the one after
 * it finds all of it in the cache; scored once for many, it is the cache that each of them has read from.
 */
export const cachedTokensOf = ({ request, usage }: Pick<ResponseView, 'request' | 'usage'>): number | null =>
  (request?.scoring && !request.scoring.shared ? request.scoring : usage)?.cachedTokens ?? null

export function statistics(trajectory: TrajectoryView): Statistics {
  const all = segmentsOf(trajectory)
  const segments = all.map(segmentStatistics)
  const responses = all.filter((segment) => segment.kind === 'response')
  const calls = responses.flatMap((response) => response.toolCalls)
  const modelCalls = responses.flatMap(responseCalls)
  return {
    ...withMeans({
      tokens: sum(segments.map((s) => s.tokens)),
      trained: sum(segments.map((s) => s.trained)),
      scored: sum(segments.map((s) => s.scored)),
      logprobSum: sumOrNull(segments.map((s) => s.logprobSum)),
    }),
    segments,
    toolCalls: {
      succeeded: calls.filter((call) => call.kind === 'parsed' && call.result?.status === 'success').length,
      failed: calls.filter((call) => call.kind === 'parsed' && call.result && call.result.status !== 'success').length,
      malformed: calls.filter((call) => call.kind === 'malformed').length,
      pending: calls.filter((call) => call.kind === 'parsed' && !call.result).length,
    },
    // Of a call under way the scored prompt may be known, and what it reads not yet: then neither counts.
    cachedTokens: sumOrNull(modelCalls.map((call) => (call.usage ? cachedTokensOf(call) : null))),
    promptTokensRead: sumOrNull(modelCalls.map(({ usage }) => usage?.promptTokens ?? null)),
    generationMs: sumOrNull(modelCalls.map(({ timing }) => timing?.elapsedMs ?? null)),
    temperatures: distinct(modelCalls.map(({ request }) => request?.samplingParams.temperature)),
    topPs: distinct(modelCalls.map(({ request }) => request?.samplingParams.top_p)),
  }
}

/** A closed segment never changes: while a response grows, only its own tokens are read again. */
const segmentStatistics = memoizeByIdentity((segment: SegmentView): SegmentStatistics => {
  let trained = 0
  let scored = 0
  let logprobSum = 0
  for (let index = 0; index < segment.ids.length; index++) {
    if (!isTrained(segment, index)) continue
    trained++
    const logprob = numberAt(segment.logprobs, index)
    if (logprob === null) continue
    scored++
    logprobSum += logprob
  }
  return withMeans({ tokens: segment.ids.length, trained, scored, logprobSum: scored > 0 ? logprobSum : null })
})

function withMeans(sums: Omit<SegmentStatistics, 'meanLogprob' | 'perplexity'>): SegmentStatistics {
  const meanLogprob = sums.logprobSum === null ? null : sums.logprobSum / sums.scored
  return { ...sums, meanLogprob, perplexity: meanLogprob === null ? null : Math.exp(-meanLogprob) }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

function sumOrNull(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((n) => n !== null)
  return known.length > 0 ? sum(known) : null
}

const distinct = (values: readonly unknown[]): number[] => [
  ...new Set(values.filter((value) => typeof value === 'number')),
]
