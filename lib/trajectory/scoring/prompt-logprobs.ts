/** Prompt logprobs that are requested after a run: which tokens lack them, and how they are added. */

import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { PromptSegment, Span, TopLogprobs, Trajectory } from '../format/trajectory.ts'
import { isTrained, segmentStarts } from '../tokens/tokens.ts'
import { numberAt, type SegmentView, type TrajectoryView } from '../tokens/trajectory-view.ts'
import type { Scores } from './score.ts'

/**
 * Returns the ranges of prompts without any known logprob, rising. The first token of a trajectory has no prefix and
 * never has a logprob. Prompts with trained tokens are excluded, because their recorded logprobs were sampled and
 * prefill logprobs differ.
 */
export const unscoredPrompts = ({ segments }: Pick<TrajectoryView, 'segments'>): readonly Span[] => unscoredIn(segments)

/** Cached, because pages read it on every render. */
const unscoredIn = memoizeByIdentity((segments: readonly SegmentView[]): readonly Span[] => {
  const starts = segmentStarts({ segments })
  return segments.flatMap((segment, index) => {
    const start = elementAt(starts, index)
    const end = start + segment.ids.length
    return isUnscored(segment) && end > Math.max(1, start) ? [{ start, end }] : []
  })
})

function isUnscored(segment: SegmentView): boolean {
  if (segment.kind !== 'prompt') return false
  for (let index = 0; index < segment.ids.length; index++)
    if (numberAt(segment.logprobs, index) !== null || isTrained(segment, index)) return false
  return true
}

/** Returns whether a token belongs to such a prompt: its logprob is unknown and can be requested. */
export const isUnscoredAt = (trajectory: Pick<TrajectoryView, 'segments'>, tokenIndex: number): boolean =>
  tokenIndex > 0 && unscoredPrompts(trajectory).some(({ start, end }) => start <= tokenIndex && tokenIndex < end)

/** Adds `scores` of whole prompts, each in one or several parts, and `scored` to their prompts. */
export function withPromptLogprobs(
  trajectory: Trajectory,
  scores: readonly Scores[],
  scored: NonNullable<PromptSegment['scored']>,
): Trajectory {
  const starts = segmentStarts(trajectory)
  return {
    ...trajectory,
    segments: trajectory.segments.map((segment, index) => {
      const start = elementAt(starts, index)
      const parts = scores.filter((part) => start <= part.start && part.start < start + segment.ids.length)
      if (segment.kind !== 'prompt' || parts.length === 0) return segment
      const topLogprobs = joinedTop(parts)
      return {
        ...segment,
        logprobs: parts.flatMap(({ logprobs }) => logprobs),
        ...(topLogprobs && { topLogprobs }),
        scored,
      }
    }),
  }
}

function joinedTop(parts: readonly Scores[]): TopLogprobs | undefined {
  const tops = parts.flatMap(({ topLogprobs }) => topLogprobs ?? [])
  const [first] = tops
  if (!first || tops.length < parts.length) return undefined
  return {
    k: first.k,
    ids: tops.flatMap(({ ids }) => ids),
    logprobs: tops.flatMap(({ logprobs }) => logprobs),
  }
}
