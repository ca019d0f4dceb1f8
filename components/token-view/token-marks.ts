/** Marks on tokens besides heat and mask: the grid outlines them and the minimap shows them. */

import { countWhile } from '#lib/util/bisect.ts'
import { int32At } from '#lib/util/element-at.ts'

/** Kind of a mark. */
export type MarkKind =
  /** Hits of a search; `current` is the hit that was jumped to. */
  | 'hit'
  | 'current'
  /** Ids that change when the text is encoded again. */
  | 'drift'
  /** Tokens beside a position at which the other sequence has more tokens, which is the end of each range. */
  | 'gap'
  /** Tokens of what is pointed at in another part of the page: a message, a call, a point of a chart. */
  | 'linked'
  /** First and last trained token of a turn; and the position at which a trainer's file cuts, before the first token of each range. */
  | 'edge'
  | 'cut'
  /** Tokens that a correction of importance ratios leaves out. */
  | 'dropped'
  /** Tokens on which a note was written. */
  | 'note'

/** All marks of one kind. */
export interface TokenMarks {
  readonly kind: MarkKind
  /** Flat pairs [start, end, start, end, …] of indices in the trajectory: half-open, sorted and without overlap. */
  readonly ranges: Int32Array
}

/** Returns the kinds that mark at least one token. */
export const markKindsOf = (marks: readonly TokenMarks[]): readonly MarkKind[] =>
  marks.flatMap(({ kind, ranges }) => (ranges.length > 0 ? [kind] : []))

/** Returns the index of the first range that ends after the token; a scan can continue from there. */
export function firstRangeAfter(ranges: Int32Array, token: number): number {
  return countWhile(ranges.length >> 1, (index) => int32At(ranges, 2 * index + 1) <= token)
}

/** Returns the index of the first range that starts at the token or after it. */
export function firstRangeStartingAt(ranges: Int32Array, token: number): number {
  return countWhile(ranges.length >> 1, (index) => int32At(ranges, 2 * index) < token)
}
