/**
 * Chooses among equivalent positions of a drift. Where tokens were inserted or removed next to similar ones, several
 * positions are correct: `a b [a b] c` is `a [b a] b c` too. A reader prefers drifts from special token to special
 * token, or whole lines.
 */
import { shiftedSpan } from '../../tokens/tokens.ts'
import type { AlignedRun } from '../align.ts'
import type { BytesOf } from './spelling.ts'

/** Tokens searched in each direction: more than the common beginning of two calls of one tool. */
const FURTHEST = 128

/** Moves the edges of some drifts. Equal runs keep at least one token. */
export function shiftToBoundaries(
  alignedRuns: readonly AlignedRun[],
  left: ArrayLike<number>,
  right: ArrayLike<number>,
  bytes: BytesOf,
): readonly AlignedRun[] {
  const moved = [...alignedRuns]
  for (const [index, alignedRun] of alignedRuns.entries()) {
    const [before, behind] = [moved[index - 1], moved[index + 1]]
    if (alignedRun.kind === 'equal' || !before || !behind) continue
    const isLeft = alignedRun.right.start === alignedRun.right.end
    if (!isLeft && alignedRun.left.start < alignedRun.left.end) continue
    const ids = isLeft ? left : right
    const { start, end } = isLeft ? alignedRun.left : alignedRun.right
    const room = { back: lengthOf(before) - 1, on: lengthOf(behind) - 1 }
    const by = bestMove(ids, start, end, room, bytes)
    if (by === 0) continue
    moved[index - 1] = { ...before, left: endMoved(before.left, by), right: endMoved(before.right, by) }
    moved[index] = { ...alignedRun, left: shiftedSpan(alignedRun.left, by), right: shiftedSpan(alignedRun.right, by) }
    moved[index + 1] = { ...behind, left: startMoved(behind.left, by), right: startMoved(behind.right, by) }
  }
  return moved
}

type Span = AlignedRun['left']
const lengthOf = ({ left }: AlignedRun): number => left.end - left.start
const startMoved = ({ start, end }: Span, by: number): Span => ({ start: start + by, end })
const endMoved = ({ start, end }: Span, by: number): Span => ({ start, end: end + by })

/**
 * Returns the shift to the best edges, and of equally good ones the nearest. Of a doubled part the second copy is the
 * drift.
 */
function bestMove(
  ids: ArrayLike<number>,
  start: number,
  end: number,
  room: { readonly back: number; readonly on: number },
  bytes: BytesOf,
): number {
  let best = 0
  let worth = edgeWorth(ids, start, bytes) + edgeWorth(ids, end, bytes)
  const consider = (by: number) => {
    if (by % (end - start) === 0) return
    const other = edgeWorth(ids, start + by, bytes) + edgeWorth(ids, end + by, bytes)
    if (other > worth || (other === worth && Math.abs(by) < Math.abs(best))) {
      best = by
      worth = other
    }
  }
  for (let by = 1; by <= Math.min(room.back, FURTHEST) && ids[start - by] === ids[end - by]; by++) consider(-by)
  for (let by = 1; by <= Math.min(room.on, FURTHEST) && ids[start + by - 1] === ids[end + by - 1]; by++) consider(by)
  return best
}

const NEWLINE = 10
const SPACE = 32
const LESS = 60
const GREATER = 62

/** Rates the position before a token as an edge. */
function edgeWorth(ids: ArrayLike<number>, at: number, bytes: BytesOf): number {
  const [before, token] = [bytes(ids[at - 1] as number), bytes(ids[at] as number)]
  if (token && token.length > 2 && token[0] === LESS && token.at(-1) === GREATER) return 3
  if (before?.at(-1) === NEWLINE) return 2
  return token?.[0] === SPACE ? 1 : 0
}
