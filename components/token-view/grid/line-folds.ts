/** Lines of a segment with parts of it folded away: each part is one line, all others stay as they are. */
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

export interface SegmentLines {
  /** Of each line, the index in the segment of its first token; entries after the last line mean nothing. */
  readonly starts: Int32Array
  readonly lineCount: number
  readonly tokenCount: number
  /** Which lines stand for something folded, by number; `whole`: the segment is. Undefined: none. */
  readonly folds: { readonly lines: ReadonlySet<number>; readonly whole: boolean } | undefined
}

/** `thinks`: first tokens of folded think blocks, counted in the trajectory, as `firstToken`. */
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

/** A line that a span begins or ends in is split there; a span that begins inside of another is part of it. */
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
