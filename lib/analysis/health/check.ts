/** Defines a check of the health of a trajectory. */

import type { Span, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { HealthFinding } from '#lib/trajectory/health/health.ts'

interface Checked {
  readonly findings: readonly HealthFinding[]
  /** Why the check was not possible, or only in part; omitted if it was complete. */
  readonly unknown?: string
}

/** A check. `starts` holds the first token of each segment, and the number of all tokens last. */
export type HealthCheck = (trajectory: Trajectory, starts: readonly number[]) => Checked

/** Converts a span of a segment to a span of the trajectory. */
export const toTrajectorySpan = ({ start, end }: Span, segmentStart: number): Span => ({
  start: segmentStart + start,
  end: segmentStart + end,
})
