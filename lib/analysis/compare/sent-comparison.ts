/**
 * Packs a comparison for the transfer from a worker to the page. Sides that the page has are not sent again, numbers are in typed
 * arrays, and fields that many spans share are sent once. 100,000 spans as plain objects would block the page while they arrive.
 */
import type { DriftReport } from '#lib/trajectory/drift/report.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { pack, unpack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ComparedSides, ComparisonResult } from './compare-sides.ts'
import type { ShownSide } from './shown-side.ts'

/** A packed comparison, or the reason why there is none. */
export type PackedComparison =
  | Extract<ComparisonResult, { ok: false }>
  | { readonly ok: true; readonly value: SentComparison }

interface SentComparison {
  readonly left: SentSide
  readonly right: SentSide
  readonly alignedRuns: SentRows
  readonly report: Omit<DriftReport, 'spans'>
  readonly spans: SentRows
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
      alignedRuns: sentRows(comparison.alignedRuns),
      report,
      spans: sentRows(spans),
    },
  }
}

/** Unpacks a comparison. It is equal to the packed one, and a side that was not reconstructed is the identical object from `shared`. */
export function unpackComparison(sent: PackedComparison, shared: SharedTrajectories): ComparisonResult {
  if (!sent.ok) return sent
  const { left, right, alignedRuns, report, spans } = sent.value
  const value: ComparedSides = {
    left: receivedSide(left, shared.left),
    right: receivedSide(right, shared.right),
    comparison: { alignedRuns: receivedRows(alignedRuns), report: { ...report, spans: receivedRows(spans) } },
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

/** Packed rows, each with a span on both sides. */
interface SentRows {
  /** Five numbers for each row: start and end on the left, start and end on the right, and the index of its other fields in `others`. */
  readonly numbers: Int32Array
  readonly others: readonly object[]
}

interface Row {
  readonly left: Span
  readonly right: Span
}

function sentRows(rows: readonly Row[]): SentRows {
  const numbers = new Int32Array(5 * rows.length)
  const places = new Map<string, number>()
  const others: object[] = []
  for (const [index, { left, right, ...other }] of rows.entries()) {
    const text = JSON.stringify(other)
    const place = places.get(text) ?? others.push(other) - 1
    places.set(text, place)
    numbers.set([left.start, left.end, right.start, right.end, place], 5 * index)
  }
  return { numbers, others }
}

function receivedRows<T extends Row>({ numbers, others }: SentRows): readonly T[] {
  const rows: T[] = []
  for (let at = 0; at < numbers.length; at += 5) {
    const [start, end, rightStart, rightEnd, place] = numbers.subarray(at, at + 5) as unknown as readonly number[]
    rows.push({
      ...others[place as number],
      left: { start, end },
      right: { start: rightStart, end: rightEnd },
    } as unknown as T)
  }
  return rows
}
