/**
 * Cuts a drift with several causes where one of them ends: at think blocks, calls, ends of turns and segments. Parts of
 * the same sort are paired, so each resulting drift has one cause.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt, uint32At } from '#lib/util/element-at.ts'
import type { AlignedRun } from '../align.ts'
import { type DriftSide, endsTurn, firstTouched, isBlank, spanAt } from './drift-side.ts'
import { bytesIn, partOf } from './place.ts'
import { normalisation, partialUtf8 } from './unicode.ts'
import { withWholeParts } from './whole-parts.ts'

type Drift = Extract<AlignedRun, { kind: 'drift' }>

/** Returns the runs in order, with the same coverage as the given ones. Two equal runs are never adjacent. */
export function mergeEqualRuns(
  alignedRuns: readonly AlignedRun[],
  left: DriftSide,
  right: DriftSide,
): readonly AlignedRun[] {
  const all: AlignedRun[] = []
  const add = (alignedRun: AlignedRun) => {
    const last = all.at(-1)
    if (alignedRun.kind === 'equal' && last?.kind === 'equal')
      all[all.length - 1] = {
        kind: 'equal',
        left: { start: last.left.start, end: alignedRun.left.end },
        right: { start: last.right.start, end: alignedRun.right.end },
      }
    else all.push(alignedRun)
  }
  for (const alignedRun of withWholeParts(alignedRuns, left, right))
    if (alignedRun.kind === 'equal' || alignedRun.sameBytes) add(alignedRun)
    else for (const part of cutDrift(alignedRun, left, right)) add(part)
  return all
}

type Sort = 'think' | 'call' | 'end' | 'reply' | 'text'

/** Blank tokens belong to the part before them. */
interface Unit extends Span {
  readonly sort: Sort
  /** The think block or call that contains the unit. */
  readonly part: Span | undefined
}

/** Most pairs considered for one drift. Beyond this the texts are unrelated rather than a drift of several causes. */
const MOST_PAIRS = 4096

function cutDrift(drift: Drift, left: DriftSide, right: DriftSide): readonly AlignedRun[] {
  const [ours, theirs] = [unitsIn(left, drift.left), unitsIn(right, drift.right)]
  const isOneSided = ours.length === 0 || theirs.length === 0
  // A turn that only one side has is one part, and so is everything after the end of the other side.
  if (isOneSided && [...ours, ...theirs].some(({ sort }) => sort === 'end')) return [drift]
  const isAtEnd = drift.left.end === left.ids.length && drift.right.end === right.ids.length
  if (isAtEnd && (isOneSided || isPrefixOfOther(left, drift.left, right, drift.right))) return [drift]
  const isEndAlone = isEndBesideOther(ours, theirs) || isEndBesideOther(theirs, ours)
  if (Math.max(ours.length, theirs.length) === 1 && !isEndAlone) return [drift]
  if (ours.length * theirs.length > MOST_PAIRS) return [drift]
  // Characters in a different form, or cut in their bytes, are one cause at any position.
  const whole = { left: partOf(left, drift.left), right: partOf(right, drift.right) }
  if (partialUtf8(whole) ?? normalisation(whole)) return [drift]
  const parts: AlignedRun[] = []
  let [i, j] = [0, 0]
  let [l, r] = [drift.left.start, drift.right.start]
  const addUpTo = (lEnd: number, rEnd: number) => {
    parts.push(...trimSpan({ start: l, end: lEnd }, { start: r, end: rEnd }, left, right))
    ;[l, r] = [lEnd, rEnd]
  }
  for (const [unit, other] of [...pairsOf(ours, theirs), [ours.length, theirs.length] as const]) {
    // Units without a partner: on one side each is a drift, on both sides they are one drift.
    if (other === j) for (; i < unit; i++) addUpTo(elementAt(ours, i).end, r)
    else if (unit === i) for (; j < other; j++) addUpTo(l, elementAt(theirs, j).end)
    else {
      const [lEnd, rEnd] = [elementAt(ours, unit - 1).end, elementAt(theirs, other - 1).end]
      if (isEndBesideOther(ours.slice(i, unit), theirs.slice(j, other))) addUpTo(lEnd, r)
      else if (isEndBesideOther(theirs.slice(j, other), ours.slice(i, unit))) addUpTo(l, rEnd)
      addUpTo(lEnd, rEnd)
    }
    if (unit === ours.length) break
    addUpTo(elementAt(ours, unit).end, elementAt(theirs, other).end)
    ;[i, j] = [unit + 1, other + 1]
  }
  return parts
}

/** The end of a turn never pairs with a block or a call: it is inserted after the missing part. */
const isEndBesideOther = (parts: readonly Unit[], ends: readonly Unit[]): boolean =>
  parts.length > 0 && parts.every(({ part }) => part) && ends.length > 0 && ends.every(({ sort }) => sort === 'end')

/** Removes the common ids at both ends. */
function trimSpan(ours: Span, theirs: Span, left: DriftSide, right: DriftSide): readonly AlignedRun[] {
  const most = Math.min(ours.end - ours.start, theirs.end - theirs.start)
  let before = 0
  while (before < most && left.numbers[ours.start + before] === right.numbers[theirs.start + before]) before++
  let after = 0
  while (after < most - before && left.numbers[ours.end - 1 - after] === right.numbers[theirs.end - 1 - after]) after++
  const [l, r] = [
    { start: ours.start + before, end: ours.end - after },
    { start: theirs.start + before, end: theirs.end - after },
  ]
  const parts: readonly AlignedRun[] = [
    { kind: 'equal', left: { start: ours.start, end: l.start }, right: { start: theirs.start, end: r.start } },
    { kind: 'drift', left: l, right: r, sameBytes: isSameBytes(left, l, right, r) },
    { kind: 'equal', left: { start: l.end, end: ours.end }, right: { start: r.end, end: theirs.end } },
  ]
  return parts.filter((part) => part.left.start < part.left.end || part.right.start < part.right.end)
}

/** Returns whether one side is the beginning of the other. */
function isPrefixOfOther(left: DriftSide, ours: Span, right: DriftSide, theirs: Span): boolean {
  const [a, b] = [bytesIn(left, ours), bytesIn(right, theirs)]
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.every((byte, index) => byte === long[index])
}

function isSameBytes(left: DriftSide, ours: Span, right: DriftSide, theirs: Span): boolean {
  const [a, b] = [bytesIn(left, ours), bytesIn(right, theirs)]
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

function unitsIn(side: DriftSide, { start, end }: Span): readonly Unit[] {
  const units: (Unit & { end: number })[] = []
  const hasParts = [side.thinks, side.calls].some((spans) => firstTouched(spans, { start, end }))
  for (let token = start; token < end; token++) {
    const last = units.at(-1)
    const part = hasParts ? (spanAt(side.thinks, token) ?? spanAt(side.calls, token)) : undefined
    const sort = part ? ('call' in part ? 'call' : 'think') : sortOfText(side, token)
    const continuesLast = part
      ? last?.part === part
      : (isBlank(side, token) && last) || (last?.sort === sort && sort !== 'end' && !side.edges.has(token))
    if (last && continuesLast) last.end = token + 1
    else units.push({ sort, part, start: token, end: token + 1 })
  }
  return units
}

const sortOfText = (side: DriftSide, token: number): Sort =>
  endsTurn(side, token) ? 'end' : spanAt(side.responses, token) ? 'reply' : 'text'

/** A call may have become text, because a parser leaves a call that it cannot parse; a pair of calls is worth more. */
const WORTH: Readonly<Record<string, number>> = { 'reply text': 2, 'call reply': 1, 'call text': 1 }

const worth = (ours: Sort, theirs: Sort): number =>
  ours === theirs ? 3 : (WORTH[ours < theirs ? `${ours} ${theirs}` : `${theirs} ${ours}`] ?? 0)

/** Returns the indices of paired units in order, with the highest total worth. */
function pairsOf(ours: readonly Unit[], theirs: readonly Unit[]): readonly (readonly [number, number])[] {
  const width = theirs.length + 1
  // best[i * width + j] is the highest worth of the units from i and from j on.
  const best = new Uint32Array((ours.length + 1) * width)
  const at = (i: number, j: number) => uint32At(best, i * width + j)
  const sort = (units: readonly Unit[], index: number) => elementAt(units, index).sort
  for (let i = ours.length - 1; i >= 0; i--)
    for (let j = theirs.length - 1; j >= 0; j--) {
      const pair = worth(sort(ours, i), sort(theirs, j))
      best[i * width + j] = Math.max(pair > 0 ? pair + at(i + 1, j + 1) : 0, at(i + 1, j), at(i, j + 1))
    }
  const pairs: (readonly [number, number])[] = []
  let [i, j] = [0, 0]
  while (i < ours.length && j < theirs.length) {
    const pair = worth(sort(ours, i), sort(theirs, j))
    if (pair > 0 && at(i, j) === pair + at(i + 1, j + 1)) pairs.push([i++, j++])
    // Of two ways with equal worth, the names of the sorts decide, so that swapped sides give the swapped pairs.
    else if (at(i + 1, j) > at(i, j + 1) || (at(i + 1, j) === at(i, j + 1) && sort(ours, i) < sort(theirs, j))) i++
    else j++
  }
  return pairs
}
