/** The tokens that a branch inserted into responses. */
import type { ForcedTokens, ResponseSegment, Segment, Trajectory } from '../format/trajectory.ts'
import type { SegmentView, TrajectoryView } from './trajectory-view.ts'

/** Returns the inserted tokens that contain a token of a segment; undefined if the model sampled it, or read it in a prompt. */
export const forcedAt = (segment: SegmentView, indexInSegment: number): ForcedTokens | undefined =>
  segment.kind === 'response'
    ? segment.forced?.find(({ start, end }) => start <= indexInSegment && indexInSegment < end)
    : undefined

/** Returns how many tokens of a trajectory a branch inserted. */
export const countForced = ({ segments }: TrajectoryView): number =>
  segments.reduce(
    (count, segment) =>
      segment.kind === 'response'
        ? (segment.forced ?? []).reduce((sum, { start, end }) => sum + end - start, count)
        : count,
    0,
  )

/** Values of the choice whether an export trains inserted tokens: `context` keeps their loss mask 0, `trained` makes it 1. */
export const FORCED_CHOICES = ['context', 'trained'] as const

/** Whether an export trains inserted tokens. */
export type ForcedChoice = (typeof FORCED_CHOICES)[number]

/** Returns the trajectory with the loss mask of an export. */
export const withForced = (trajectory: Trajectory, forced: ForcedChoice): Trajectory =>
  forced === 'context'
    ? trajectory
    : {
        ...trajectory,
        segments: trajectory.segments.map(
          (segment): Segment => (segment.kind === 'response' ? trained(segment) : segment),
        ),
      }

function trained(segment: ResponseSegment): ResponseSegment {
  const { mask, forced, ...others } = segment
  if (!mask || !forced) return segment
  return { ...others, forced, mask: mask.map((bit, index) => (forcedAt(segment, index) ? 1 : bit)) }
}
