/** Finds the visible part of the rows, as boxes to draw in one column: a lane of one side, or both sides in one. Pure. */

import type { DrawnLine } from '#components/token-view/grid/layout.ts'
import { visiblePart } from '#components/token-view/grid/scroll-space.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentIndexAt } from '#lib/trajectory/tokens/tokens.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { driftsBefore, type Pairing } from '../pairing.ts'
import { BLOCK_GAP, drawnLine, type Item, itemsBetween, type Rows, rowInItem, SIDES } from './rows.ts'

/** A column of the lanes; `both` is the only column of the unified view. */
export type LaneColumn = SideName | 'both'

/** Boxes to draw. All heights are in pixels from the top of the rows. Keys are unique within each list. */
export interface VisibleRange {
  readonly lines: readonly SightLine[]
  readonly runs: readonly LaneRun[]
  readonly notes: readonly DriftMarker[]
  readonly gapRects: readonly GapRect[]
  readonly folds: readonly FoldedLines[]
  /** Lines above blocks. */
  readonly borders: readonly { readonly key: number; readonly top: number }[]
}

interface SightLine {
  readonly key: number
  readonly side: SideName
  readonly line: DrawnLine
  /** Whether the line belongs to one side alone, in one column. */
  readonly isSigned: boolean
}

/** Consecutive tokens of one segment. */
export interface LaneRun extends Box {
  readonly side: SideName
  readonly segmentIndex: number
  /** First token of the run, as an index from the start of the side. */
  readonly token: number
  /** Whether the position and the title of the segment are shown. */
  readonly isLabelled: boolean
  /** Whether there is room for only one line of the label. */
  readonly isTight: boolean
  /** Whether the run belongs to one side alone, in one column. */
  readonly isSigned: boolean
  /** Number of the aligned run, if the run is unfolded and can be folded again. */
  readonly opened: number | undefined
}

/** Marker in the gutter where drift spans begin: number of the first one, and how many begin in that row. */
export interface DriftMarker {
  readonly key: number
  readonly top: number
  readonly drift: number
  readonly count: number
}

/** Rows in which this side has no tokens; `drift` is set if the side has no token at all in that drift span. */
export interface GapRect extends Box {
  readonly drift: number | undefined
}

/** A folded run of equal tokens. */
export interface FoldedLines extends Box {
  readonly side: SideName
  readonly isDivider: boolean
  readonly run: number
  readonly tokens: Span
  readonly segments: Span
}

interface Box {
  readonly key: number
  readonly top: number
  readonly height: number
}

/** Returns the boxes of a column between two heights in pixels. */
export function visibleRangeOf(
  rows: Rows,
  pairing: Pairing,
  column: LaneColumn,
  top: number,
  bottom: number,
): VisibleRange {
  const lines: SightLine[] = []
  const runs: Omit<LaneRun, 'isTight'>[] = []
  /** Tops of the runs before they are cut to the visible range. */
  const runTops: number[] = []
  const notes: DriftMarker[] = []
  const gapRects: GapRect[] = []
  const folds: FoldedLines[] = []
  const borders: VisibleRange['borders'][number][] = []
  const sides = column === 'both' ? SIDES : [column]
  const main = column === 'right' ? 'right' : 'left'
  const labels: number[] = []
  for (const item of itemsBetween(rows, top, bottom)) {
    if (item.startsBlock && item.kind !== 'divider' && item.number > 0)
      borders.push({ key: item.number, top: item.top + BLOCK_GAP / 2 })
    if (item.kind !== 'tokens') {
      folds.push(foldOf(rows, item, main))
      continue
    }
    const first = Math.max(0, Math.floor((top - item.rowTop) / rows.rowHeight))
    const last = Math.min(item.rows - 1, Math.floor((bottom - item.rowTop) / rows.rowHeight))
    const isSigned = column === 'both' && rows.alignedRuns[item.runNumbers.start]?.kind === 'drift'
    for (const side of sides)
      for (let row = first; row <= last; row++) {
        const line = drawnLine(rows, item, row, side)
        if (line) lines.push({ key: line.number, side, line, isSigned })
      }
    const itsRuns = sides.flatMap((side) => runsOf(rows, item, side, first, last))
    for (const run of itsRuns) {
      runTops.push(run.top)
      runs.push({ ...run, ...visiblePart(run, top, bottom), isSigned })
    }
    labels.push(...itsRuns.flatMap(({ isLabelled, top: at }) => (isLabelled ? [at] : [])))
    notes.push(...notesOf(rows, pairing, item, sides, first, last))
    const gapRect = column === 'both' ? undefined : gapRectOf(rows, pairing, item, column)
    if (gapRect) gapRects.push({ ...gapRect, ...visiblePart(gapRect, top, bottom) })
  }
  const tight = new Set(tightLabels(labels))
  const taken = [
    ...labels.map((at) => ({ top: at, bottom: at + (tight.has(at) ? LINE_HEIGHT : LABEL_HEIGHT) })),
    ...folds.map((fold) => ({ top: fold.top, bottom: fold.top + fold.height })),
  ].sort((a, b) => a.top - b.top)
  return {
    lines,
    runs: runs.map((run, index) => ({ ...run, isTight: run.isLabelled && tight.has(elementAt(runTops, index)) })),
    notes: placedNotes(notes, taken),
    gapRects,
    folds,
    borders,
  }
}

/** Heights in the gutter in pixels: a label has two lines, a marker has one. */
const LINE_HEIGHT = 14
const LABEL_HEIGHT = 2 * LINE_HEIGHT

/** Returns the tops of labels that have room for only one line, because the next label follows closely. */
const tightLabels = (labels: readonly number[]): readonly number[] => {
  const sorted = labels.toSorted((a, b) => a - b)
  return sorted.filter((at, index) => (sorted[index + 1] ?? Number.POSITIVE_INFINITY) - at < LABEL_HEIGHT)
}

/** Moves markers below labels and folds that are there already, and below one another. `taken` is in order and disjoint. */
function placedNotes(
  notes: readonly DriftMarker[],
  taken: readonly { readonly top: number; readonly bottom: number }[],
): readonly DriftMarker[] {
  let free = 0
  let next = 0
  return notes
    .toSorted((a, b) => a.top - b.top)
    .map((note) => {
      let at = Math.max(note.top, free)
      for (; next < taken.length; next++) {
        const { top, bottom } = elementAt(taken, next)
        if (top >= at + LINE_HEIGHT) break
        at = Math.max(at, bottom)
      }
      free = at + LINE_HEIGHT
      return { ...note, top: at }
    })
}

function foldOf({ sides }: Rows, item: Item, side: SideName): FoldedLines {
  const { starts } = sides[side]
  const tokens = item[side]
  return {
    key: item.number,
    top: item.rowTop,
    height: item.height - (item.rowTop - item.top),
    side,
    isDivider: item.kind === 'divider',
    run: item.runNumbers.start,
    tokens,
    segments: { start: segmentIndexAt(starts, tokens.start), end: segmentIndexAt(starts, tokens.end - 1) + 1 },
  }
}

function runsOf(
  rows: Rows,
  item: Item,
  side: SideName,
  first: number,
  last: number,
): readonly Omit<LaneRun, 'isTight' | 'isSigned'>[] {
  const { start, end } = item.lines[side]
  if (end === start) return []
  const { starts } = rows.sides[side]
  const tokens = item[side]
  const runs: Omit<LaneRun, 'isTight' | 'isSigned'>[] = []
  const rowOf = (token: number) => rowInItem(rows, item, side, token).row
  const behind = rowOf(tokens.end - 1) + 1
  for (let segment = segmentIndexAt(starts, tokens.start), token = tokens.start; token < tokens.end; ) {
    const next = Math.min(tokens.end, elementAt(starts, segment + 1))
    if (next > token) {
      const row = rowOf(token)
      const endRow = next === tokens.end ? behind : rowOf(next)
      if (row > last) break
      if (endRow > first)
        runs.push({
          key: item.firstRow + row,
          top: item.rowTop + row * rows.rowHeight,
          height: (endRow - row) * rows.rowHeight,
          side,
          segmentIndex: segment,
          token,
          isLabelled: (item.startsBlock && row === 0) || token === starts[segment],
          opened: item.isOpened && token === tokens.start ? item.runNumbers.start : undefined,
        })
    }
    token = next
    segment++
  }
  return runs
}

function notesOf(
  rows: Rows,
  pairing: Pairing,
  item: Item,
  sides: readonly SideName[],
  first: number,
  last: number,
): readonly DriftMarker[] {
  const notes = new Map<number, DriftMarker>()
  // In one column a drift span is an item, whose first row belongs to the side that has tokens.
  const side = sides.length === 1 ? elementAt(sides, 0) : item.lines.left.end > item.lines.left.start ? 'left' : 'right'
  const { alignedRuns } = rows
  const { start, end } = item.runNumbers
  const inSight = tokensInRows(rows, item, side, first, last)
  const from = start + countWhile(end - start, (at) => elementAt(alignedRuns, start + at)[side].end < inSight.start)
  for (let number = from; number < end; number++) {
    const alignedRun = elementAt(alignedRuns, number)
    if (alignedRun[side].start > inSight.end) break
    if (alignedRun.kind !== 'drift') continue
    const row = rowOfDrift(rows, item, alignedRun, side)
    if (row < first || row > last) continue
    const key = item.firstRow + row
    const known = notes.get(key)
    if (known) notes.set(key, { ...known, count: known.count + 1 })
    else
      notes.set(key, {
        key,
        top: item.rowTop + row * rows.rowHeight,
        drift: driftsBefore(pairing, number),
        count: 1,
      })
  }
  return [...notes.values()]
}

/** Returns the row of the item in which a drift span begins on a side; if the side has no tokens, the row of the gap. */
export function rowOfDrift(rows: Rows, item: Item, alignedRun: AlignedRun, side: SideName): number {
  const { start, end } = alignedRun[side]
  if (end > start) return rowInItem(rows, item, side, start).row
  return start > item[side].start ? rowInItem(rows, item, side, start - 1).row : 0
}

function tokensInRows(rows: Rows, item: Item, side: SideName, first: number, last: number): Span {
  const lines = [first, last].map((row) => drawnLine(rows, item, row, side))
  const [above, below] = lines
  return {
    start: above ? above.layout.firstToken + above.start : item[side].start,
    end: below ? below.layout.firstToken + below.end : item[side].end,
  }
}

function gapRectOf(rows: Rows, pairing: Pairing, item: Item, side: SideName): GapRect | undefined {
  const { start, end } = item.lines[side]
  const missing = item.rows - (end - start)
  if (missing <= 0) return undefined
  const row = end - start
  return {
    key: item.number,
    top: item.rowTop + row * rows.rowHeight,
    height: missing * rows.rowHeight,
    drift: row === 0 ? driftsBefore(pairing, item.runNumbers.start) : undefined,
  }
}
