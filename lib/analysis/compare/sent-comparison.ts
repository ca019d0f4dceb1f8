/**
 * A comparison as a worker sends it to the page: sides that the page has are not sent again, numbers stand in typed arrays,
 * and what many spans say alike is sent once. 100,000 spans as plain objects would hold up the page while they arrive.
 */
import type { DriftReport } from '#lib/trajectory/drift/report.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { pack, unpack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Compared, Comparing } from './compare-sides.ts'
import type { ShownSide } from './shown-side.ts'

export type SentComparing = Extract<Comparing, { ok: false }> | { readonly ok: true; readonly value: SentComparison }

interface SentComparison {
  readonly left: SentSide
  readonly right: SentSide
  readonly stretches: SentRows
  readonly report: Omit<DriftReport, 'spans'>
  readonly spans: SentRows
}

interface SentSide extends Omit<ShownSide, 'trajectory'> {
  /** Undefined: the trajectory that was given. */
  readonly made: TrajectoryView | undefined
}

interface Given {
  readonly left: TrajectoryView
  readonly right: TrajectoryView
}

export function sentComparing(comparing: Comparing, given: Given): SentComparing {
  if (!comparing.ok) return comparing
  const { left, right, comparison } = comparing.value
  const { spans, ...report } = comparison.report
  return {
    ok: true,
    value: {
      left: sentSide(left, given.left),
      right: sentSide(right, given.right),
      stretches: sentRows(comparison.stretches),
      report,
      spans: sentRows(spans),
    },
  }
}

/** What was sent, equal to what it was made of; a side that is a given trajectory is that very one. */
export function receivedComparing(sent: SentComparing, given: Given): Comparing {
  if (!sent.ok) return sent
  const { left, right, stretches, report, spans } = sent.value
  const value: Compared = {
    left: receivedSide(left, given.left),
    right: receivedSide(right, given.right),
    comparison: { stretches: receivedRows(stretches), report: { ...report, spans: receivedRows(spans) } },
  }
  return { ok: true, value }
}

const sentSide = ({ trajectory, ...told }: ShownSide, given: TrajectoryView): SentSide => ({
  ...told,
  made: trajectory === given ? undefined : pack(unpack(trajectory)).trajectory,
})

const receivedSide = ({ made, ...told }: SentSide, given: TrajectoryView): ShownSide => ({
  ...told,
  trajectory: made ?? given,
})

/** Rows with a span on each side. */
interface SentRows {
  /** Five for each row: start and end on the left, on the right, and the place of what else it says. */
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
