/**
 * Finds the common parts of two number sequences in order: first the common beginning and end, then anchors of equal
 * numbers, longest first, and between those the shortest edit. With n numbers on both sides, each anchor length reads
 * them once (and sorts the positions found), and the shortest edit takes at most `mostEdits` steps for each number. So
 * time is near-linear for every input. An edit longer than `mostEdits` is put together from shorter ones; what it finds
 * is common, but not always the longest.
 */
import { anchors } from './anchors.ts'
import { type Box, boxBetween, type CommonRun } from './box.ts'
import { shortestEdit } from './shortest-edit.ts'

/** How common runs are searched. */
export interface SearchOptions {
  /** Lengths of the anchors, longest first. */
  readonly rows: readonly number[]
  /** Most edits of one search; 0 skips the parts without an anchor. */
  readonly mostEdits: number
}

/** Returns common runs in order; neighbours are separated on at least one side. */
export function commonRuns(
  left: Int32Array,
  right: Int32Array,
  box: Box,
  { rows, mostEdits }: SearchOptions,
): readonly CommonRun[] {
  const runs: CommonRun[] = []
  const add = (run: CommonRun) => {
    const last = runs.at(-1)
    if (run.length === 0) return
    if (last && last.left + last.length === run.left && last.right + last.length === run.right)
      runs[runs.length - 1] = { ...last, length: last.length + run.length }
    else runs.push(run)
  }
  const search = (part: Box, level: number) => {
    const { before, inner, behind } = trimBox(left, right, part)
    add(before)
    if (!isEmpty(inner)) searchInner(inner, level)
    add(behind)
  }
  const searchInner = (part: Box, level: number) => {
    const length = rows[level]
    if (length === undefined) {
      if (mostEdits > 0) shortestEdit(left, right, part, mostEdits, add)
      return
    }
    let next = { left: part.left.start, right: part.right.start }
    const { lefts, rights } = anchors(left, right, part, length)
    for (let at = 0; at < lefts.length; at++) {
      const [l, r] = [lefts[at] as number, rights[at] as number]
      if (l < next.left || r < next.right) continue
      // A hash collision gives a shorter run or none.
      const equal = equalFrom(left, right, l, part.left.end, r, part.right.end)
      search(boxBetween(next, { left: l, right: r }), level + 1)
      add({ left: l, right: r, length: equal })
      next = { left: l + equal, right: r + equal }
    }
    search(boxBetween(next, { left: part.left.end, right: part.right.end }), level + 1)
  }
  search(box, 0)
  return runs
}

const isEmpty = ({ left, right }: Box): boolean => left.start === left.end || right.start === right.end

/** Separates the common beginning and the common end from the part between. */
function trimBox(left: Int32Array, right: Int32Array, box: Box): { before: CommonRun; inner: Box; behind: CommonRun } {
  const [l, r] = [box.left, box.right]
  const before = equalFrom(left, right, l.start, l.end, r.start, r.end)
  const [lStart, rStart] = [l.start + before, r.start + before]
  let [lEnd, rEnd] = [l.end, r.end]
  while (lEnd > lStart && rEnd > rStart && left[lEnd - 1] === right[rEnd - 1]) {
    lEnd--
    rEnd--
  }
  return {
    before: { left: l.start, right: r.start, length: before },
    inner: { left: { start: lStart, end: lEnd }, right: { start: rStart, end: rEnd } },
    behind: { left: lEnd, right: rEnd, length: l.end - lEnd },
  }
}

function equalFrom(left: Int32Array, right: Int32Array, l: number, lEnd: number, r: number, rEnd: number): number {
  const most = Math.min(lEnd - l, rEnd - r)
  let count = 0
  while (count < most && left[l + count] === right[r + count]) count++
  return count
}
