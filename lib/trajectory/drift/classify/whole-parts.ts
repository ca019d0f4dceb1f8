/**
 * Moves a drift back to the start of a think block or call. Where a block was inserted or removed next to one with the
 * same beginning, the drift may as well begin some tokens earlier. Special tokens make that clear to the alignment;
 * where a model spells its delimiters with ordinary tokens, only the parsed spans show it.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { AlignedRun } from '../align.ts'
import { type DriftSide, spanAt } from './drift-side.ts'

/** Returns the runs with some drifts moved back. */
export function withWholeParts(
  alignedRuns: readonly AlignedRun[],
  left: DriftSide,
  right: DriftSide,
): readonly AlignedRun[] {
  const moved = [...alignedRuns]
  for (const [index, alignedRun] of alignedRuns.entries()) {
    const [before, behind] = [moved[index - 1], moved[index + 1]]
    if (alignedRun.kind === 'equal' || !before || !behind) continue
    const back =
      alignedRun.right.start === alignedRun.right.end
        ? tokensBack(left, alignedRun.left)
        : alignedRun.left.start === alignedRun.left.end
          ? tokensBack(right, alignedRun.right)
          : 0
    if (back === 0 || back > before.left.end - before.left.start) continue
    moved[index - 1] = { ...before, left: endMoved(before.left, back), right: endMoved(before.right, back) }
    moved[index] = { ...alignedRun, left: bothMoved(alignedRun.left, back), right: bothMoved(alignedRun.right, back) }
    moved[index + 1] = { ...behind, left: startMoved(behind.left, back), right: startMoved(behind.right, back) }
  }
  // An equal run may have been only the common beginning of both blocks.
  return moved.filter(({ left, right }) => left.start < left.end || right.start < right.end)
}

/**
 * Returns the distance to the start of the block or call that contains the first token, if the tokens before equal
 * those at the end.
 */
function tokensBack(side: DriftSide, { start, end }: Span): number {
  const part = spanAt(side.thinks, start) ?? spanAt(side.calls, start)
  if (!part) return 0
  const back = start - part.start
  for (let token = part.start; token < start; token++)
    if (side.numbers[token] !== side.numbers[token + end - start]) return 0
  return back
}

const startMoved = ({ start, end }: Span, by: number): Span => ({ start: start - by, end })
const endMoved = ({ start, end }: Span, by: number): Span => ({ start, end: end - by })
const bothMoved = ({ start, end }: Span, by: number): Span => ({ start: start - by, end: end - by })
