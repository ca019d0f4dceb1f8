/**
 * Which tokens of one sequence are which of another that spells the same text: cut where tokens of both end at the same
 * byte. Ids are never matched over a distance while the bytes agree, so one split that differs shifts nothing behind it.
 */
import type { Span } from '../trajectory.ts'

/** A stretch of both sequences; one side of a drift may be empty. */
export type Stretch =
  | { readonly kind: 'equal'; readonly left: Span; readonly right: Span }
  | {
      readonly kind: 'drift'
      readonly left: Span
      readonly right: Span
      /** False: the text itself differs here, by a Unicode form or by bytes that are no character. */
      readonly sameBytes: boolean
    }

/** The exact bytes of an id; empty where they are not known. Asked for again and again: it must be cheap. */
export type BytesOf = (id: number) => Uint8Array

/**
 * Stretches in order, equal and drift by turns; together they are both sequences. Both are ids of one tokenizer. Where the
 * bytes differ too, the sequences meet again at the nearest run of three equal ids. Time is near-linear in the lengths.
 * Swapped sequences give the same stretches, swapped.
 */
export function alignByOffsets(left: ArrayLike<number>, right: ArrayLike<number>, bytes: BytesOf): readonly Stretch[] {
  const stretches: Stretch[] = []
  let [l, r] = [0, 0]
  while (l < left.length || r < right.length) {
    const equal = equalIds(left, right, l, r)
    if (equal > 0) stretches.push({ kind: 'equal', ...places(l, l + equal, r, r + equal) })
    l += equal
    r += equal
    const from = { l, r }
    let sameBytes = true
    // Behind both ends there is nothing on either side, which is equal too.
    while (left[l] !== right[r]) {
      const met = nextSharedEnd(left, right, l, r, bytes)
      const next = met ?? nextEqualRun(left, right, l, r)
      if (!met) sameBytes = false
      l = next.l
      r = next.r
    }
    if (l > from.l || r > from.r) stretches.push({ kind: 'drift', ...places(from.l, l, from.r, r), sameBytes })
  }
  return stretches
}

export const driftOf = (stretches: readonly Stretch[]): readonly Extract<Stretch, { kind: 'drift' }>[] =>
  stretches.filter((stretch) => stretch.kind === 'drift')

interface Place {
  readonly l: number
  readonly r: number
}

const places = (l: number, lEnd: number, r: number, rEnd: number) => ({
  left: { start: l, end: lEnd },
  right: { start: r, end: rEnd },
})

function equalIds(left: ArrayLike<number>, right: ArrayLike<number>, l: number, r: number): number {
  const most = Math.min(left.length - l, right.length - r)
  let count = 0
  while (count < most && left[l + count] === right[r + count]) count++
  return count
}

/**
 * Behind the tokens that spell the same bytes from here on, where a token of both ends. A token that spells nothing is one
 * by itself, unless it stands within the bytes of another. Undefined where the bytes differ before.
 */
function nextSharedEnd(
  left: ArrayLike<number>,
  right: ArrayLike<number>,
  l: number,
  r: number,
  bytes: BytesOf,
): Place | undefined {
  const isEmpty = (ids: ArrayLike<number>, at: number) => at < ids.length && bytes(ids[at] as number).length === 0
  const [isLeftEmpty, isRightEmpty] = [isEmpty(left, l), isEmpty(right, r)]
  if (isLeftEmpty || isRightEmpty) return { l: l + Number(isLeftEmpty), r: r + Number(isRightEmpty) }
  const ours = byteReader(left, l, bytes)
  const theirs = byteReader(right, r, bytes)
  do {
    const byte = ours.read()
    if (byte === undefined || byte !== theirs.read()) return undefined
  } while (!ours.isAtEnd() || !theirs.isAtEnd())
  return { l: ours.next(), r: theirs.next() }
}

/** The bytes of tokens one by one; undefined behind the last. */
function byteReader(ids: ArrayLike<number>, start: number, bytes: BytesOf) {
  let next = start
  let token = new Uint8Array()
  let at = 0
  return {
    read(): number | undefined {
      while (at === token.length && next < ids.length) {
        token = bytes(ids[next++] as number) as typeof token
        at = 0
      }
      return token[at++]
    },
    /** Whether the last byte read is the last of its token. */
    isAtEnd: () => at === token.length,
    /** The token behind the one read last. */
    next: () => next,
  }
}

/** Equal ids in a row by which sequences of different bytes are taken to meet; at the end of both fewer will do. */
const RUN = 3
const FIRST_WINDOW = 16

/** The nearest place where both go on with the same ids: with the fewest tokens of both sides together before it. */
function nextEqualRun(left: ArrayLike<number>, right: ArrayLike<number>, l: number, r: number): Place {
  for (let window = FIRST_WINDOW; ; window *= 2) {
    const lEnd = Math.min(left.length, l + window)
    const rEnd = Math.min(right.length, r + window)
    const firstInRight = new Map<string, number>()
    for (let at = r; at <= rEnd; at++) {
      const run = runAt(right, at)
      if (!firstInRight.has(run)) firstInRight.set(run, at)
    }
    let best: (Place & { readonly run: string }) | undefined
    const distance = (place: Place): number => place.l - l + place.r - r
    for (let at = l; at <= lEnd; at++) {
      const run = runAt(left, at)
      const other = firstInRight.get(run)
      if (other === undefined) continue
      const found = { l: at, r: other, run }
      // Of two that are equally near, the one whose ids come first: sides may be swapped.
      if (!best || distance(found) - distance(best) < Number(run < best.run)) best = found
    }
    // What lies outside of the window is farther than the window is wide.
    if (best && (distance(best) <= window || (lEnd === left.length && rEnd === right.length))) return best
  }
}

/** The ids from here on, -1 behind the last: at the end of both sequences the same. */
const runAt = (ids: ArrayLike<number>, at: number): string =>
  Array.from({ length: RUN }, (_, offset) => ids[at + offset] ?? -1).join()
