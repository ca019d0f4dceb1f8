/** Tokens that something points at, beside heat and mask: what the grid outlines and the minimap shows. */

import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'

export type MarkKind =
  /** Found; `current` is the hit that was jumped to. */
  | 'hit'
  | 'current'
  /** Ids that encoding the text again does not give. */
  | 'drift'
  /** The tokens beside a place where another sequence has more: stands at the end of each range. */
  | 'gap'
  /** What is pointed at elsewhere: a message, a call, a point of a chart. */
  | 'linked'
  /** The first and the last trained token of a turn; and where a trainer's file cuts: before the first token of each range. */
  | 'edge'
  | 'cut'

export interface TokenMarks {
  readonly kind: MarkKind
  /** Flat pairs [start, end, start, end, …], half-open, sorted, not overlapping: indices of the trajectory. */
  readonly ranges: Int32Array
}

/** Kinds of the marks that mark something. */
export const markKindsOf = (marks: readonly TokenMarks[]): readonly MarkKind[] =>
  marks.flatMap(({ kind, ranges }) => (ranges.length > 0 ? [kind] : []))

/** Index of the first range that ends after the token; a scan goes on from there. */
export function firstRangeAfter(ranges: Int32Array, token: number): number {
  return countWhile(ranges.length >> 1, (index) => elementAt(ranges, 2 * index + 1) <= token)
}

/** Index of the first range that starts at the token or after it. */
export function firstRangeStartingAt(ranges: Int32Array, token: number): number {
  return countWhile(ranges.length >> 1, (index) => elementAt(ranges, 2 * index) < token)
}
