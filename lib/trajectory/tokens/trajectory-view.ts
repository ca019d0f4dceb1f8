/**
 * A trajectory as views read it: as decoded, with what is under way, or packed, its columns in typed arrays that a worker
 * hands over without copying (packed.ts).
 */
import type { LiveTrajectory } from '../events/events.ts'
import type { PromptSegment, ResponseSegment } from '../format/trajectory.ts'

/** One number for each token. Unknown is null, and in a typed array NaN: `numberAt` reads both. */
export type NumberColumn = ArrayLike<number | null>

/** The columns of a segment: parallel, one entry for each token. What is omitted means what it means in a file. */
interface ColumnsView {
  readonly ids: ArrayLike<number>
  readonly logprobs?: NumberColumn | undefined
  readonly mask?: ArrayLike<number> | undefined
  readonly topLogprobs?: TopLogprobsView | undefined
  readonly columns?: Readonly<Record<string, NumberColumn>> | undefined
}

/** The likeliest alternatives: n × k, best first; id -1 where a token has fewer than k. */
export interface TopLogprobsView {
  readonly k: number
  readonly ids: ArrayLike<number>
  readonly logprobs: NumberColumn
}

export type PromptView = Omit<PromptSegment, keyof ColumnsView> & ColumnsView
export type ResponseView = Omit<ResponseSegment, keyof ColumnsView> & ColumnsView
export type SegmentView = PromptView | ResponseView

export interface TrajectoryView extends Omit<LiveTrajectory, 'segments' | 'live'> {
  readonly segments: readonly SegmentView[]
  readonly live?: Omit<NonNullable<LiveTrajectory['live']>, 'open' | 'stopped'> & {
    readonly open?: SegmentView
    readonly stopped?: ResponseView
  }
}

/** null = unknown. */
export function numberAt(column: NumberColumn | undefined, index: number): number | null {
  const value = column?.[index] ?? null
  return value === null || Number.isNaN(value) ? null : value
}
