/**
 * Makes the rows of two sides: drift with some equal tokens around it, and all other equal tokens folded. Where the sides
 * have used a different number of lines, both begin a new line, so that equal tokens stay beside each other.
 */

import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import {
  boundaryAfter,
  countVisibleAfter,
  countVisibleBefore,
  isWide,
  type ReadSide,
  startsSegment,
} from './context.ts'
import { itemWriter } from './item-writer.ts'
import { lineWriter } from './line-writer.ts'
import { IS_OPENED, type RowSide, type Rows, STARTS_BLOCK, segmentFinder } from './rows.ts'

interface RowSettings {
  readonly arrangement: Rows['arrangement']
  readonly onlyDifferences: boolean
  /** Numbers of the equal runs that are unfolded. */
  readonly open: ReadonlySet<number>
  readonly columns: number
  readonly rowHeight: number
}

/** Shorter runs of equal tokens are not folded, because a fold's row would take as much room. */
export const FEWEST_FOLDED = 12

/** Returns the rows for two sides and their aligned runs. */
export function makeRows(
  given: Readonly<Record<SideName, RowSide>>,
  alignedRuns: readonly AlignedRun[],
  settings: RowSettings,
): Rows {
  const { arrangement, onlyDifferences, open, columns, rowHeight } = settings
  const isUnified = arrangement === 'unified'
  const sides = { left: readSide(given.left), right: readSide(given.right) }
  const items = itemWriter(settings)
  const left = lineWriter(sides.left, columns)
  const right = lineWriter(sides.right, columns)

  const begin = (run: number, l: number, r: number, flags: number) => {
    items.begin(run, flags, l, r, left.lineCount(), right.lineCount())
    left.begin()
    right.begin()
  }
  const end = (runEnd: number, l: number, r: number) => items.end(runEnd, l, r, left.lineCount(), right.lineCount())
  /** Shows equal tokens, from a token of each side on; a segment of either side begins a block. */
  const showEqual = (run: number, from: number, to: number, count: number, flags: number, isShared: boolean) => {
    let [l, r] = [from, to]
    while (l < from + count) {
      if (startsSegment(sides, l, r)) {
        end(run, l, r)
        begin(run, l, r, STARTS_BLOCK | flags)
      }
      const length = Math.min(from + count - l, boundaryAfter(sides, l, r))
      left.write(l, l + length)
      // The tokens are equal, so their lines must be equal, even if the measured widths of the two sides differ.
      if (!isUnified && isShared) right.copy(left, l, r)
      else if (!isUnified) right.write(r, r + length)
      l += length
      r += length
    }
    end(run + 1, l, r)
  }

  const isUneven = () => left.lineCount() - items.line('left') !== right.lineCount() - items.line('right')
  const showDrift = (number: number, { left: l, right: r }: AlignedRun) => {
    const isApart = isUnified || isOneSided(sides, l, r, columns)
    const isBlock = startsSegment(sides, l.start, r.start) || (isApart && !isUnified)
    const isBehindUneven = alignedRuns[number - 1]?.kind === 'drift' && isUneven()
    if (isApart || isBlock || isBehindUneven || !items.isBegun())
      begin(number, l.start, r.start, isBlock ? STARTS_BLOCK : 0)
    left.write(l.start, l.end)
    right.write(r.start, r.end)
    end(number + 1, l.end, r.end)
    if (isApart) items.close(!isUnified)
  }
  /** Folds equal tokens, from a token of each side on, or shows them if the run is unfolded. */
  const fold = (number: number, l: number, r: number, count: number) => {
    if (open.has(number)) {
      begin(number, l, r, STARTS_BLOCK | IS_OPENED)
      showEqual(number, l, r, count, IS_OPENED, true)
    } else {
      begin(number, l, r, STARTS_BLOCK)
      items.fold(onlyDifferences ? 'divider' : 'fold')
      end(number + 1, l + count, r + count)
    }
    items.close(true)
  }
  /** Shows all tokens of an equal run, or folds it except for some after the previous drift span and before the next one. */
  const showOrFold = (number: number, alignedRun: AlignedRun) => {
    const { start: l, end: lEnd } = alignedRun.left
    const { start: r, end: rEnd } = alignedRun.right
    const length = lEnd - l
    const { after, before } =
      length < FEWEST_FOLDED ? { after: length, before: 0 } : shownOf(number, alignedRun, length)
    const isFolded = length - after - before >= FEWEST_FOLDED
    const first = isFolded ? after : length
    if (first > 0) {
      if (isUnified || isUneven() || !items.isBegun()) begin(number, l, r, 0)
      showEqual(number, l, r, first, 0, false)
      if (isUnified) items.close(false)
    }
    if (!isFolded) return
    fold(number, l + after, r + after, length - after - before)
    if (before === 0) return
    begin(number, lEnd - before, rEnd - before, STARTS_BLOCK)
    showEqual(number, lEnd - before, rEnd - before, before, 0, false)
    if (isUnified) items.close(false)
  }
  /** Returns how many equal tokens stay visible at both ends of a run; 0 at an end without a drift span. */
  const shownOf = (number: number, { left: l, right: r }: AlignedRun, length: number) => {
    if (onlyDifferences) return { after: 0, before: 0 }
    const column = Math.max(left.column(), right.column())
    const at = { left: l.start, right: r.start }
    const after = number === 0 ? 0 : countVisibleAfter(sides, at, length, column, columns)
    const behind = { left: l.end, right: r.end }
    const before = number === alignedRuns.length - 1 ? 0 : countVisibleBefore(sides, behind, length - after, columns)
    return { after, before }
  }

  for (const [number, alignedRun] of alignedRuns.entries()) {
    if (alignedRun.kind === 'drift') showDrift(number, alignedRun)
    else showOrFold(number, alignedRun)
  }
  return {
    arrangement,
    sides: given,
    alignedRuns,
    columns,
    rowHeight,
    lines: { left: left.starts(), right: right.starts() },
    ...items.written(),
  }
}

const readSide = (side: RowSide): ReadSide => ({ ...side, segmentAt: segmentFinder(side) })

/** Returns whether one side is empty and the other does not fit beside its neighbours, so the gap needs its own rows. */
function isOneSided(sides: Readonly<Record<SideName, ReadSide>>, left: Span, right: Span, columns: number): boolean {
  if (left.end > left.start && right.end > right.start) return false
  return isWide(sides.left, left, columns / 2) || isWide(sides.right, right, columns / 2)
}
