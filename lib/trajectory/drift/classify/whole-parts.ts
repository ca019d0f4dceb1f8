/**
 * Where a think block or a call was put in or left out beside another that begins alike, a drift may as well begin a few
 * tokens earlier: with the block or the call. Special tokens make that plain to the alignment; where a model spells its
 * delimiters with ordinary tokens only the parser knows.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { AlignedRun } from '../align.ts'
import { type DriftSide, spanAt } from './drift-side.ts'

/** The same stretches, some drifts moved back. */
export function withWholeParts(given: readonly AlignedRun[], left: DriftSide, right: DriftSide): readonly AlignedRun[] {
  const moved = [...given]
  for (const [index, stretch] of given.entries()) {
    const [before, behind] = [moved[index - 1], moved[index + 1]]
    if (stretch.kind === 'equal' || !before || !behind) continue
    const back =
      stretch.right.start === stretch.right.end
        ? tokensBack(left, stretch.left)
        : stretch.left.start === stretch.left.end
          ? tokensBack(right, stretch.right)
          : 0
    if (back === 0 || back > before.left.end - before.left.start) continue
    moved[index - 1] = { ...before, left: endMoved(before.left, back), right: endMoved(before.right, back) }
    moved[index] = { ...stretch, left: bothMoved(stretch.left, back), right: bothMoved(stretch.right, back) }
    moved[index + 1] = { ...behind, left: startMoved(behind.left, back), right: startMoved(behind.right, back) }
  }
  // What was equal may be no more than how both blocks begin.
  return moved.filter(({ left, right }) => left.start < left.end || right.start < right.end)
}

/** To the start of the block or call that holds the first token, where the tokens before are those at the end. */
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
