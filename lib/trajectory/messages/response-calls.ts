import { type Token, tokenCount } from '../tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '../tokens/trajectory-view.ts'

/** A call that sampled tokens of a response; `start` and `end` count from the start of the segment, half-open. */
export interface ResponseCall extends Pick<ResponseView, 'request' | 'usage' | 'timing'> {
  readonly start: number
  readonly end: number
}

/** Returns the calls that sampled a response in order: one, and another for each time that it was resumed. */
export function responseCalls(response: ResponseView): readonly ResponseCall[] {
  const { request, usage, timing } = response
  const calls = [{ at: 0, request, usage, timing }, ...(response.resumed ?? [])]
  return calls.map(({ at, request, usage, timing }, index) => ({
    start: at,
    end: calls[index + 1]?.at ?? response.ids.length,
    ...(request && { request }),
    ...(usage && { usage }),
    ...(timing && { timing }),
  }))
}

/** Returns the call that sampled a token of a response, by its index in the segment. */
export const callAt = (response: ResponseView, index: number): ResponseCall | undefined =>
  responseCalls(response).find(({ end }) => index < end)

/** Returns the request that sampled a token, or the reply to its prompt; undefined if none is recorded. */
export function requestAt(
  { segments }: TrajectoryView,
  { segmentIndex, segment, indexInSegment }: Token,
): ResponseView['request'] {
  const response =
    segment.kind === 'response' ? segment : segments.find(({ kind }, at) => at > segmentIndex && kind === 'response')
  if (response?.kind !== 'response') return undefined
  return (segment.kind === 'response' ? callAt(response, indexInSegment) : responseCalls(response)[0])?.request
}

/** Returns the name of the server of the last call that sampled the last response; undefined if it is unknown. */
export function lastServer({ segments }: Pick<TrajectoryView, 'segments'>): string | undefined {
  const last = segments.findLast((segment) => segment.kind === 'response')
  return last && responseCalls(last).at(-1)?.request?.server
}

/**
 * Returns how many tokens a server read for a call: those that were sent, and in place of images more. A smaller count of the server is an
 * error of the file that reports it.
 */
export const tokensRead = (
  request: Pick<NonNullable<ResponseView['request']>, 'inputLength'>,
  usage: ResponseView['usage'],
): number => Math.max(request.inputLength, usage?.promptTokens ?? 0)

/** Returns how many tokens of the context a trajectory fills: its own, and those beyond them that the model read for its images. */
export function contextTokens(trajectory: Pick<TrajectoryView, 'segments' | 'live'>): number {
  const further = trajectory.segments
    .flatMap((segment) => (segment.kind === 'response' ? responseCalls(segment) : []))
    .flatMap(({ request, usage }) =>
      request?.images && usage?.promptTokens !== undefined ? usage.promptTokens - request.inputLength : [],
    )
  return tokenCount(trajectory) + (further.at(-1) ?? 0)
}
