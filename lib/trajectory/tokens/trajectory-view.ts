/**
 * A trajectory as views read it: as decoded, with the state of a running rollout, or packed, with columns in typed
 * arrays that a worker transfers without a copy (packed.ts).
 */
import type { LiveTrajectory } from '../events/events.ts'
import type { PromptSegment, ResponseSegment, Trajectory } from '../format/trajectory.ts'

/** One number for each token. Unknown is null, or NaN in a typed array; `numberAt` reads both. */
export type NumberColumn = ArrayLike<number | null>

/** The columns of a segment: parallel, one entry for each token. An omitted column means the same as in a file. */
interface ColumnsView {
  readonly ids: ArrayLike<number>
  readonly logprobs?: NumberColumn | undefined
  readonly mask?: ArrayLike<number> | undefined
  readonly topLogprobs?: TopLogprobsView | undefined
  readonly columns?: Readonly<Record<string, NumberColumn>> | undefined
}

/** The most likely alternatives: n × k, best first; id -1 where a token has fewer than k. */
export interface TopLogprobsView {
  readonly k: number
  readonly ids: ArrayLike<number>
  readonly logprobs: NumberColumn
}

/** A prompt segment with columns of either kind. */
export type PromptView = Omit<PromptSegment, keyof ColumnsView> & ColumnsView
/** A response segment with columns of either kind. */
export type ResponseView = Omit<ResponseSegment, keyof ColumnsView> & ColumnsView
/** A segment with columns of either kind. */
export type SegmentView = PromptView | ResponseView

/** Two columns of logprobs by name. The ratio of a token is exp(numerator − denominator). */
export interface RatioPair {
  readonly numerator: string
  readonly denominator: string
}

/** A trajectory with columns of either kind. */
export interface TrajectoryView extends Omit<LiveTrajectory, 'segments' | 'live' | 'foreign'> {
  readonly segments: readonly SegmentView[]
  /** The columns that the user compares. It belongs to the view: no file contains it. Omitted: the trainer’s and the sampled ones. */
  readonly ratioPair?: RatioPair | undefined
  /** Content without a field. In a packed trajectory it is JSON in UTF-8: it may be larger than all columns, and no view shows it. */
  readonly foreign?: Trajectory['foreign'] | Uint8Array
  readonly live?: Omit<NonNullable<LiveTrajectory['live']>, 'open' | 'stopped'> & {
    readonly open?: SegmentView
    readonly stopped?: ResponseView
  }
}

/** Returns the number at an index; null = unknown. */
export function numberAt(column: NumberColumn | undefined, index: number): number | null {
  const value = column?.[index] ?? null
  return value === null || Number.isNaN(value) ? null : value
}
