/** One of the checks that health is made of. */

import type { Span, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { HealthFinding } from '#lib/trajectory/health/health.ts'

interface Checked {
  readonly findings: readonly HealthFinding[]
  /** Why it could not be told, or not of all; undefined: it was. */
  readonly unknown?: string
}

/** `starts`: the first token of each segment, and the number of all tokens last. */
export type Check = (trajectory: Trajectory, starts: readonly number[]) => Checked

/** `1 call`, `2 calls`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : several}`

/** A span of a segment as one of the trajectory. */
export const placed = ({ start, end }: Span, segmentStart: number): Span => ({
  start: segmentStart + start,
  end: segmentStart + end,
})
