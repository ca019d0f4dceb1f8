/** Derived totals of a trajectory and of each segment. Logprob sums cover the trained tokens with a known logprob. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { messageCallCount } from '../messages/conversation.ts'
import { responseCalls } from '../messages/response-calls.ts'
import { isTrained, segmentsOf } from './tokens.ts'
import { numberAt, type ResponseView, type SegmentView, type TrajectoryView } from './trajectory-view.ts'

interface SegmentStatistics {
  readonly tokens: number
  readonly trained: number
  /** Trained tokens with a known logprob. */
  readonly scored: number
  /** In nats; null if no trained token has a known logprob. */
  readonly logprobSum: number | null
  readonly meanLogprob: number | null
  /** exp(−mean logprob); null like the mean. */
  readonly perplexity: number | null
}

/** Numbers of tool calls. Calls without a result are pending, also those that only the messages of a file have. */
interface CallCounts {
  readonly succeeded: number
  readonly failed: number
  readonly malformed: number
  readonly pending: number
}

/** Totals of a trajectory. */
export interface Statistics extends SegmentStatistics {
  readonly segments: readonly SegmentStatistics[]
  /** null if the calls of a response are unknown: its file has no message, and no parser has read its tokens. */
  readonly toolCalls: CallCounts | null
  /** Prompt tokens from the server's prefix cache, over all calls; null if never reported. */
  readonly cachedTokens: number | null
  /** Prompt tokens that the server read, over all calls; null if never reported. */
  readonly promptTokensRead: number | null
  /** Time from request to reply, over all calls; null if unknown. */
  readonly generationMs: number | null
  /** Distinct temperatures and top_p of the calls, which are needed to interpret the sampled logprobs. */
  readonly temperatures: readonly number[]
  readonly topPs: readonly number[]
}

/**
 * Returns the prompt tokens from the prefix cache, or null if not reported. If the prompt was scored first, that call's
 * cache counts, because the next call finds all of it in the cache; a scoring that is shared by samples counts for
 * each.
 */
export const cachedTokensOf = ({ request, usage }: Pick<ResponseView, 'request' | 'usage'>): number | null =>
  (request?.scoring && !request.scoring.shared ? request.scoring : usage)?.cachedTokens ?? null

/** Returns the totals of a trajectory. */
export function statistics(trajectory: TrajectoryView): Statistics {
  const all = segmentsOf(trajectory)
  const segments = all.map(segmentStatistics)
  const responses = all.filter((segment) => segment.kind === 'response')
  const modelCalls = responses.flatMap(responseCalls)
  return {
    ...withMeans({
      tokens: sum(segments.map((s) => s.tokens)),
      trained: sum(segments.map((s) => s.trained)),
      scored: sum(segments.map((s) => s.scored)),
      logprobSum: sumOrNull(segments.map((s) => s.logprobSum)),
    }),
    segments,
    toolCalls: callCounts(responses, trajectory),
    // During a call the scored prompt may be known but not the tokens that it reads; then neither counts.
    cachedTokens: sumOrNull(modelCalls.map((call) => (call.usage ? cachedTokensOf(call) : null))),
    promptTokensRead: sumOrNull(modelCalls.map(({ usage }) => usage?.promptTokens ?? null)),
    generationMs: sumOrNull(modelCalls.map(({ timing }) => timing?.elapsedMs ?? null)),
    temperatures: distinct(modelCalls.map(({ request }) => request?.samplingParams.temperature)),
    topPs: distinct(modelCalls.map(({ request }) => request?.samplingParams.top_p)),
  }
}

/** Returns the number of all tool calls. */
export const callTotal = ({ succeeded, failed, malformed, pending }: CallCounts): number =>
  succeeded + failed + malformed + pending

function callCounts(responses: readonly ResponseView[], trajectory: TrajectoryView): CallCounts | null {
  const calls = responses.flatMap((response) => response.toolCalls)
  const ofMessages = responses.map((response) => messageCallCount(response, trajectory))
  if (!ofMessages.every((count) => count !== undefined)) return null
  return {
    succeeded: calls.filter((call) => call.kind === 'parsed' && call.result?.status === 'success').length,
    failed: calls.filter((call) => call.kind === 'parsed' && call.result && call.result.status !== 'success').length,
    malformed: calls.filter((call) => call.kind === 'malformed').length,
    pending: calls.filter((call) => call.kind === 'parsed' && !call.result).length + sum(ofMessages),
  }
}

/** A closed segment never changes, so while a response grows only its own tokens are read again. */
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
