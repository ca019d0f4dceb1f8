/**
 * Aligns two token sequences. Texts are compared first; where they agree, tokens at the same bytes with the same id are
 * equal. While the text agrees, ids are never matched at different bytes, so a token that is split differently does not
 * shift the tokens after it.
 */
import { commonIds } from '#lib/util/common-prefix.ts'
import type { Span } from '../format/trajectory.ts'
import { type Box, type CommonRun, gapsBetween } from './align/box.ts'
import { commonRuns, type SearchOptions } from './align/common-runs.ts'
import { findCommonRuns } from './align/common-text.ts'
import { shiftToBoundaries } from './align/edges.ts'
import { type BytesOf, type SymbolSequence, spelling } from './align/spelling.ts'

/** A run of both sequences that is equal or a drift; one side of a drift may be empty. */
export type AlignedRun =
  | { readonly kind: 'equal'; readonly left: Span; readonly right: Span }
  | {
      readonly kind: 'drift'
      readonly left: Span
      readonly right: Span
      /** False if the text itself differs here. */
      readonly sameBytes: boolean
    }

/**
 * Returns alternating equal and drift runs that together cover both sequences. Both sides have ids of one tokenizer
 * (see vocabularies.ts for two). An id with unknown bytes equals only itself. Swapped sequences give the swapped runs.
 * Time is near-linear in the lengths of any texts (see common-runs.ts).
 */
export function alignTokens(left: ArrayLike<number>, right: ArrayLike<number>, bytes: BytesOf): readonly AlignedRun[] {
  const [ours, theirs] = [column(left), column(right)]
  // The ids decide which side is first, so swapped sides do the same work.
  const differs = commonIds(ours, theirs)
  if ((ours[differs] ?? -1) <= (theirs[differs] ?? -1)) return alignIds(ours, theirs, bytes)
  return alignIds(theirs, ours, bytes).map((alignedRun) => ({
    ...alignedRun,
    left: alignedRun.right,
    right: alignedRun.left,
  }))
}

/** Returns the drifts of an alignment. */
export const driftOf = (alignedRuns: readonly AlignedRun[]): readonly Drift[] =>
  alignedRuns.filter((alignedRun) => alignedRun.kind === 'drift')

const column = (ids: ArrayLike<number>): Int32Array => (ids instanceof Int32Array ? ids : new Int32Array(ids))

type Drift = Extract<AlignedRun, { kind: 'drift' }>

/** A run of this many equal ids counts as the same text. Texts are only decoded and compared between such runs. */
const BY_IDS: SearchOptions = { rows: [32], mostEdits: 0 }

function alignIds(left: Int32Array, right: Int32Array, bytes: BytesOf): readonly AlignedRun[] {
  const whole = { left: { start: 0, end: left.length }, right: { start: 0, end: right.length } }
  const spelled = (box: Box): Gap => ({
    ...box,
    ours: spelling(left, box.left, bytes),
    theirs: spelling(right, box.right, bytes),
  })
  const rows = commonRuns(left, right, whole, BY_IDS)
  const gaps = gapsBetween(rows, whole).map(spelled)
  if (mayBeShifted(gaps)) {
    const all = spelled(whole)
    if (isSameText(all)) return alignedRunsOf(equalTokens(left, right, all), whole, spelled)
  }
  const equal = [...rows, ...gaps.flatMap((gap) => equalTokens(left, right, gap))].sort((a, b) => a.left - b.left)
  return shiftToBoundaries(alignedRunsOf(equal, whole, spelled), left, right, bytes)
}

/** A part of both sequences with its texts. */
interface Gap extends Box {
  readonly ours: SymbolSequence
  readonly theirs: SymbolSequence
}

/** Returns whether the texts may be equal although runs of equal ids are at different bytes, as in repetitive text. */
function mayBeShifted(gaps: readonly Gap[]): boolean {
  const longer = gaps.map(({ ours, theirs }) => ours.symbols.length - theirs.symbols.length)
  return longer.some((bytes) => bytes !== 0) && longer.reduce((sum, bytes) => sum + bytes, 0) === 0
}

function isSameText({ ours, theirs }: Gap): boolean {
  const { length } = ours.symbols
  return length === theirs.symbols.length && commonIds(ours.symbols, theirs.symbols) === length
}

/** Returns runs of tokens with the same id at the same position of the same text. */
function equalTokens(left: Int32Array, right: Int32Array, gap: Gap): readonly CommonRun[] {
  const { ours, theirs } = gap
  const [lFirst, rFirst] = [gap.left.start, gap.right.start]
  const equal: CommonRun[] = []
  let [l, r] = [0, 0]
  for (const text of findCommonRuns(ours.symbols, theirs.symbols)) {
    const shift = text.right - text.left
    const end = text.left + text.length
    let length = 0
    const close = () => {
      if (length > 0) equal.push({ left: lFirst + l - length, right: rFirst + r - length, length })
      length = 0
    }
    while ((ours.starts[l] as number) < text.left) l++
    while ((theirs.starts[r] as number) < text.right) r++
    for (;;) {
      // After the last token this is NaN, which is not less than anything.
      const lEnd = ours.starts[l + 1] as number
      const rEnd = (theirs.starts[r + 1] as number) - shift
      if (!(lEnd <= end && rEnd <= end)) break
      if (ours.starts[l] === (theirs.starts[r] as number) - shift && left[lFirst + l] === right[rFirst + r]) length++
      else close()
      if (lEnd <= rEnd) l++
      if (rEnd <= lEnd) r++
    }
    close()
  }
  return equal
}

/** Returns the equal runs and the drifts between them. */
function alignedRunsOf(equal: readonly CommonRun[], whole: Box, spelled: (box: Box) => Gap): readonly AlignedRun[] {
  const alignedRuns: AlignedRun[] = []
  let next = { left: 0, right: 0 }
  const equalUpTo = (left: number, right: number) => {
    if (left > next.left)
      alignedRuns.push({
        kind: 'equal',
        left: { start: next.left, end: left },
        right: { start: next.right, end: right },
      })
  }
  for (const { left, right } of gapsBetween(equal, whole)) {
    equalUpTo(left.start, right.start)
    alignedRuns.push({ kind: 'drift', left, right, sameBytes: isSameText(spelled({ left, right })) })
    next = { left: left.end, right: right.end }
  }
  equalUpTo(whole.left.end, whole.right.end)
  return alignedRuns
}
