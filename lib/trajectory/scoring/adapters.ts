/** The LoRA adapters that a trajectory was sampled with. Scores are comparable only if the same adapter gives them. */
import { elementAt } from '#lib/util/element-at.ts'
import type { Span } from '../format/trajectory.ts'
import { type ResponseCall, responseCalls } from '../messages/response-calls.ts'
import { segmentStarts } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'

/** A range of tokens, and the adapter that read or sampled them. Omitted: none. */
export interface AdaptedSpan extends Span {
  readonly adapter?: string
}

/** Returns the ranges of all calls in order. A prompt belongs to the call of the response after it, whose adapter has read it. */
function callSpans(trajectory: Pick<TrajectoryView, 'segments'>): readonly AdaptedSpan[] {
  const starts = segmentStarts(trajectory)
  const spans: AdaptedSpan[] = []
  let adapter: string | undefined
  for (const [index, segment] of [...trajectory.segments.entries()].reverse()) {
    const calls: readonly ResponseCall[] =
      segment.kind === 'response' ? responseCalls(segment) : [{ start: 0, end: segment.ids.length }]
    for (const { start, end, request } of calls.toReversed()) {
      if (segment.kind === 'response') adapter = request?.adapter
      const from = elementAt(starts, index)
      spans.push({ start: from + start, end: from + end, ...(adapter !== undefined && { adapter }) })
    }
  }
  return spans.reverse()
}

/** Returns the ranges with their adapters, cut where the adapter changes. The ranges rise and do not overlap. */
export function withAdapters(
  trajectory: Pick<TrajectoryView, 'segments'>,
  ranges: readonly Span[],
): readonly AdaptedSpan[] {
  const adapted: { start: number; end: number; adapter?: string }[] = []
  for (const call of callSpans(trajectory))
    for (const range of ranges) {
      const [start, end] = [Math.max(range.start, call.start), Math.min(range.end, call.end)]
      const last = adapted.at(-1)
      if (start >= end) continue
      if (last && last.end === start && start > range.start && last.adapter === call.adapter) last.end = end
      else adapted.push({ ...call, start, end })
    }
  return adapted
}

/** Returns the calls of all responses. */
const callsOf = ({ segments }: Pick<TrajectoryView, 'segments'>): readonly ResponseCall[] =>
  segments.flatMap((segment) => (segment.kind === 'response' ? responseCalls(segment) : []))

/** Returns the names of all adapters that sampled a response, each once. */
export const adaptersOf = (trajectory: Pick<TrajectoryView, 'segments'>): readonly string[] => [
  ...new Set(callsOf(trajectory).flatMap(({ request }) => request?.adapter ?? [])),
]

/** Returns the adapter of the last call; undefined if it had none; null if no call records its request. */
export function lastAdapter(trajectory: Pick<TrajectoryView, 'segments'>): string | undefined | null {
  const last = callsOf(trajectory).findLast(({ request }) => request !== undefined)
  return last ? last.request?.adapter : null
}
