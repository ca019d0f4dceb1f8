/** The lines of a segment with folded parts: each folded part becomes one line, and the others do not change. */
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Lines of a segment. */
export interface SegmentLines {
  /** Offset in the segment of each line's first token; entries after the last line are unused. */
  readonly starts: Int32Array
  readonly lineCount: number
  readonly tokenCount: number
  /** Numbers of the lines that replace folded tokens. `whole` means that the segment is folded. `undefined` means that nothing is. */
  readonly folds: { readonly lines: ReadonlySet<number>; readonly whole: boolean } | undefined
}

/**
 * Returns the lines with their folds. `thinks` contains the first tokens of folded think blocks; these and `firstToken`
 * count in the trajectory.
 */
export function foldedLines(
  lines: SegmentLines,
  segment: SegmentView,
  isFolded: boolean,
  firstToken: number,
  thinks: ReadonlySet<number>,
): SegmentLines {
  if (isFolded && lines.tokenCount > 0)
    return { ...lines, starts: Int32Array.of(0), lineCount: 1, folds: { lines: new Set([0]), whole: true } }
  if (segment.kind !== 'response' || thinks.size === 0) return lines
  const folded = segment.thinks.filter(({ start, end }) => end > start && thinks.has(firstToken + start))
  return folded.length === 0 ? lines : withoutSpans(lines, folded)
}

/**
 * Replaces spans by lines of their own. A line that a span begins or ends in is split there; a span that begins inside
 * another one is part of it.
 */
function withoutSpans(
  { starts, lineCount, tokenCount }: SegmentLines,
  spans: readonly { readonly start: number; readonly end: number }[],
): SegmentLines {
  const kept: number[] = []
  const folded = new Set<number>()
  let line = 0
  let done = 0
  for (const { start, end } of spans) {
    if (start < done) continue
    while (line < lineCount && elementAt(starts, line) < start) kept.push(elementAt(starts, line++))
    if (kept.at(-1) !== start) kept.push(start)
    folded.add(kept.length - 1)
    while (line < lineCount && elementAt(starts, line) <= end) line++
    if (end < tokenCount) kept.push(end)
    done = end
  }
  while (line < lineCount) kept.push(elementAt(starts, line++))
  return { starts: Int32Array.from(kept), lineCount: kept.length, tokenCount, folds: { lines: folded, whole: false } }
}
