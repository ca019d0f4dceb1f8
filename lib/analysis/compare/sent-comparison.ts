/**
 * Packs a comparison for the transfer from a worker to the page. Sides that the page has are not sent again, numbers are in typed
 * arrays, and fields that many spans share are sent once. 100,000 spans as plain objects would block the page while they arrive.
 */
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { DriftReport, DriftSpan } from '#lib/trajectory/drift/report.ts'
import { pack, unpack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import type { ComparedSides, ComparisonResult } from './compare-sides.ts'
import type { ShownSide } from './shown-side.ts'

/** A packed comparison, or the reason why there is none. */
export type PackedComparison =
  | Extract<ComparisonResult, { ok: false }>
  | { readonly ok: true; readonly value: SentComparison }

interface SentComparison {
  readonly left: SentSide
  readonly right: SentSide
  readonly alignedRuns: SentRuns
  readonly report: Omit<DriftReport, 'spans'>
  readonly spans: SentSpans
}

interface SentSide extends Omit<ShownSide, 'trajectory'> {
  /** The reconstructed trajectory; undefined if the side is the one that both have. */
  readonly remade: TrajectoryView | undefined
}

/** The trajectories that the sender and the receiver both have. */
interface SharedTrajectories {
  readonly left: TrajectoryView
  readonly right: TrajectoryView
}

/** Packs a comparison. `shared` are the trajectories that the page has. */
export function packComparison(comparing: ComparisonResult, shared: SharedTrajectories): PackedComparison {
  if (!comparing.ok) return comparing
  const { left, right, comparison } = comparing.value
  const { spans, ...report } = comparison.report
  return {
    ok: true,
    value: {
      left: sentSide(left, shared.left),
      right: sentSide(right, shared.right),
      alignedRuns: sentRuns(comparison.alignedRuns),
      report,
      spans: sentSpans(spans),
    },
  }
}

/** Unpacks a comparison. It is equal to the packed one, and a side that was not reconstructed is the identical object from `shared`. */
export function unpackComparison(sent: PackedComparison, shared: SharedTrajectories): ComparisonResult {
  if (!sent.ok) return sent
  const { left, right, report, spans } = sent.value
  const alignedRuns = receivedRuns(sent.value.alignedRuns)
  const value: ComparedSides = {
    left: receivedSide(left, shared.left),
    right: receivedSide(right, shared.right),
    comparison: { alignedRuns, report: { ...report, spans: receivedSpans(spans, alignedRuns) } },
  }
  return { ok: true, value }
}

const sentSide = ({ trajectory, ...others }: ShownSide, shared: TrajectoryView): SentSide => ({
  ...others,
  remade: trajectory === shared ? undefined : pack(unpack(trajectory)).trajectory,
})

const receivedSide = ({ remade, ...others }: SentSide, shared: TrajectoryView): ShownSide => ({
  ...others,
  trajectory: remade ?? shared,
})

/** Packed aligned runs, which cover both sides in order. */
interface SentRuns {
  /** Kind of each run: EQUAL, DRIFT or SAME_BYTES. */
  readonly kinds: Uint8Array
  /** End of each run on the left and on the right, as pairs. A run begins where the one before it ends. */
  readonly ends: Int32Array
}

const EQUAL = 0
const DRIFT = 1
const SAME_BYTES = 2

function sentRuns(alignedRuns: readonly AlignedRun[]): SentRuns {
  const kinds = new Uint8Array(alignedRuns.length)
  const ends = new Int32Array(2 * alignedRuns.length)
  for (const [run, alignedRun] of alignedRuns.entries()) {
    kinds[run] = alignedRun.kind === 'equal' ? EQUAL : alignedRun.sameBytes ? SAME_BYTES : DRIFT
    ends[2 * run] = alignedRun.left.end
    ends[2 * run + 1] = alignedRun.right.end
  }
  return { kinds, ends }
}

function receivedRuns({ kinds, ends }: SentRuns): readonly AlignedRun[] {
  const alignedRuns: AlignedRun[] = []
  let [leftStart, rightStart] = [0, 0]
  for (const kind of kinds) {
    const leftEnd = ends[2 * alignedRuns.length] ?? 0
    const rightEnd = ends[2 * alignedRuns.length + 1] ?? 0
    const left = { start: leftStart, end: leftEnd }
    const right = { start: rightStart, end: rightEnd }
    alignedRuns.push(
      kind === EQUAL ? { kind: 'equal', left, right } : { kind: 'drift', left, right, sameBytes: kind === SAME_BYTES },
    )
    leftStart = leftEnd
    rightStart = rightEnd
  }
  return alignedRuns
}

/** The fields of a drift span besides its tokens, which are those of its aligned run. */
type SpanFields = Omit<DriftSpan, 'left' | 'right'>

/** Packed drift spans: one for each aligned run that is a drift, in order. */
interface SentSpans {
  /** Index of each span's fields in `fields`. */
  readonly places: Int32Array
  /** The different fields that occur. */
  readonly fields: readonly SpanFields[]
}

function sentSpans(spans: readonly DriftSpan[]): SentSpans {
  const known = new Map<string, number>()
  const fields: SpanFields[] = []
  const places = Int32Array.from(spans, ({ left: _, right: __, ...others }) => {
    const text = JSON.stringify(others)
    const place = known.get(text) ?? fields.push(others) - 1
    known.set(text, place)
    return place
  })
  return { places, fields }
}

function receivedSpans({ places, fields }: SentSpans, alignedRuns: readonly AlignedRun[]): readonly DriftSpan[] {
  const spans: DriftSpan[] = []
  for (const { kind, left, right } of alignedRuns)
    if (kind === 'drift') spans.push({ ...elementAt(fields, int32At(places, spans.length)), left, right })
  return spans
}
