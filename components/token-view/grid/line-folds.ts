/** The lines of a segment with folded parts: each folded part becomes one line, and the others do not change. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { int32At } from '#lib/util/element-at.ts'

/** Lines of a segment. */
export interface SegmentLines {
  /** Offset in the segment of each line's first token; entries after the last line are unused. */
  readonly starts: Int32Array
  readonly lineCount: number
  readonly tokenCount: number
  /** The lines that replace folded tokens. `undefined` means that nothing is folded. */
  readonly folds: LineFolds | undefined
}

interface LineFolds {
  /** Numbers of the lines that replace folded tokens. */
  readonly lines: ReadonlySet<number>
  /** Whether the segment is folded. */
  readonly whole: boolean
  /** The images of those lines and of the lines without tokens below them, by the number of the line. */
  readonly images: ReadonlyMap<number, BoxedImage>
}

/** An image whose tokens are drawn as one box: a line with its name, and below it lines without tokens for the picture. */
export interface BoxedImage {
  /** Tokens, counted from the start of the segment. */
  readonly start: number
  readonly end: number
  /** Number of lines. */
  readonly rows: number
}

/**
 * Returns the lines with their folds. `thinks` contains the first tokens of folded think blocks; these and `firstToken`
 * count in the trajectory. `images` are the boxes of images.
 */
export function foldedLines(
  lines: SegmentLines,
  segment: SegmentView,
  isFolded: boolean,
  firstToken: number,
  thinks: ReadonlySet<number>,
  images: readonly BoxedImage[],
): SegmentLines {
  if (isFolded && lines.tokenCount > 0)
    return {
      ...lines,
      starts: Int32Array.of(0),
      lineCount: 1,
      folds: { lines: new Set([0]), whole: true, images: new Map() },
    }
  if (segment.kind !== 'response') return images.length === 0 ? lines : withoutSpans(lines, images)
  if (thinks.size === 0) return lines
  const folded = segment.thinks.filter(({ start, end }) => end > start && thinks.has(firstToken + start))
  return folded.length === 0 ? lines : withoutSpans(lines, folded)
}

/**
 * Replaces spans by lines of their own. A line that a span begins or ends in is split there; a span that begins inside
 * another one is part of it.
 */
function withoutSpans(
  { starts, lineCount, tokenCount }: SegmentLines,
  spans: readonly (Span | BoxedImage)[],
): SegmentLines {
  const lineStarts: number[] = []
  const folded = new Set<number>()
  const images = new Map<number, BoxedImage>()
  let line = 0
  let done = 0
  for (const span of spans) {
    const { start, end } = span
    if (start < done) continue
    while (line < lineCount && int32At(starts, line) < start) lineStarts.push(int32At(starts, line++))
    if (lineStarts.at(-1) !== start) lineStarts.push(start)
    folded.add(lineStarts.length - 1)
    if ('rows' in span) {
      images.set(lineStarts.length - 1, span)
      for (let row = 1; row < span.rows; row++) images.set(lineStarts.push(end) - 1, span)
    }
    while (line < lineCount && int32At(starts, line) <= end) line++
    if (end < tokenCount) lineStarts.push(end)
    done = end
  }
  while (line < lineCount) lineStarts.push(int32At(starts, line++))
  return {
    starts: Int32Array.from(lineStarts),
    lineCount: lineStarts.length,
    tokenCount,
    folds: { lines: folded, whole: false, images },
  }
}
