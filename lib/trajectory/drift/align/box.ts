/** Parts of two sequences, and what lies between the runs that they have in common. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'

/** A run of numbers that are equal one by one. */
export interface CommonRun {
  readonly left: number
  readonly right: number
  readonly length: number
}

/** A part of both sequences. */
export interface Box {
  readonly left: Span
  readonly right: Span
}

/** Returns the non-empty parts before, between and after runs that are in order. */
export function gapsBetween(runs: readonly CommonRun[], { left, right }: Box): readonly Box[] {
  const gaps: Box[] = []
  let next = { left: left.start, right: right.start }
  for (const run of [...runs, { left: left.end, right: right.end, length: 0 }]) {
    if (run.left > next.left || run.right > next.right) gaps.push(boxBetween(next, run))
    next = { left: run.left + run.length, right: run.right + run.length }
  }
  return gaps
}

/** A position in both sequences. */
interface Place {
  readonly left: number
  readonly right: number
}

/** Returns the part from one position to another. */
export const boxBetween = (start: Place, end: Place): Box => ({
  left: { start: start.left, end: end.left },
  right: { start: start.right, end: end.right },
})
