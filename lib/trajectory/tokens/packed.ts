/**
 * A trajectory whose columns are in a few typed arrays over all tokens. A worker transfers them without a copy; 200,000
 * tokens with alternatives are some 10 MB outside of the page's heap.
 */
import type { Segment, TopLogprobs, Trajectory } from '../format/trajectory.ts'
import type { NumberColumn, SegmentView, TopLogprobsView, TrajectoryView } from './trajectory-view.ts'

/** A packed trajectory. */
export interface Packed {
  readonly trajectory: TrajectoryView
  /** Buffers to transfer with it. */
  readonly buffers: readonly ArrayBuffer[]
}

/** The columns of all segments, one after the other. */
export interface ColumnBuffers {
  readonly ids: Int32Array<ArrayBuffer>
  readonly mask: Uint8Array<ArrayBuffer>
  readonly alternatives: Int32Array<ArrayBuffer>
  /** Of each segment: logprobs, logprobs of alternatives, further columns. */
  readonly numbers: Float64Array<ArrayBuffer>
}

/** Packs a trajectory. Unknown numbers become NaN, which the JSON format does not have. */
export function pack(trajectory: Trajectory): Packed {
  const { columns, foreign, ...packed } = packColumns(trajectory)
  const { ids, mask, alternatives, numbers } = columns
  return {
    ...packed,
    buffers: [ids.buffer, mask.buffer, alternatives.buffer, numbers.buffer, ...(foreign ? [foreign.buffer] : [])],
  }
}

/** Returns a packed trajectory with its buffers by their content. */
export function packColumns(trajectory: Trajectory) {
  const { segments } = trajectory
  const columns: ColumnBuffers = {
    ids: new Int32Array(sum(segments, ({ ids }) => ids.length)),
    mask: new Uint8Array(sum(segments, ({ mask }) => mask?.length ?? 0)),
    alternatives: new Int32Array(sum(segments, ({ topLogprobs }) => topLogprobs?.ids.length ?? 0)),
    numbers: new Float64Array(
      sum(
        segments,
        ({ logprobs, topLogprobs, columns = {} }) =>
          (logprobs?.length ?? 0) +
          (topLogprobs?.logprobs.length ?? 0) +
          sum(Object.values(columns), ({ length }) => length),
      ),
    ),
  }
  const foreign = trajectory.foreign && new TextEncoder().encode(JSON.stringify(trajectory.foreign))
  const view: TrajectoryView = {
    ...trajectory,
    segments: segmentsIn(columns, segments, writeColumn),
    ...(foreign && { foreign }),
  }
  return { trajectory: view, columns, foreign }
}

type Fill = (view: { [index: number]: number }, column: NumberColumn) => void

const writeColumn: Fill = (view, column) => {
  for (let index = 0; index < column.length; index++) view[index] = column[index] ?? Number.NaN
}

/**
 * Returns the segments with their ranges of the buffers, in order. `fill` writes a range; without it the buffers contain the
 * values, and only the lengths of the given columns count.
 */
export function segmentsIn(
  { ids, mask, alternatives, numbers }: ColumnBuffers,
  segments: readonly SegmentView[],
  fill: Fill = () => {},
): readonly SegmentView[] {
  const [takeIds, takeMask, takeAlternatives] = [taker(ids, fill), taker(mask, fill), taker(alternatives, fill)]
  const takeNumbers = taker(numbers, fill)
  return segments.map((segment) => {
    const { logprobs, mask, topLogprobs, columns } = segment
    return {
      ...segment,
      ids: takeIds(segment.ids),
      ...(logprobs && { logprobs: takeNumbers(logprobs) }),
      ...(mask && { mask: takeMask(mask) }),
      ...(topLogprobs && {
        topLogprobs: {
          ...topLogprobs,
          ids: takeAlternatives(topLogprobs.ids),
          logprobs: takeNumbers(topLogprobs.logprobs),
        },
      }),
      ...(columns && { columns: mapRecord(columns, takeNumbers) }),
    } as SegmentView
  })
}

/** Returns the packed trajectory without the state of a running rollout. */
export function unpack(view: TrajectoryView): Trajectory {
  const { live: _, foreign: foreignTokens, ...record } = view
  const foreign =
    foreignTokens instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(foreignTokens)) : foreignTokens
  return { ...record, segments: view.segments.map(unpackedSegment), ...(foreign && { foreign }) }
}

function unpackedSegment(segment: SegmentView): Segment {
  const { logprobs, mask, topLogprobs, columns } = segment
  return {
    ...segment,
    ids: Array.from(segment.ids),
    ...(logprobs && { logprobs: unpackedNumbers(logprobs) }),
    ...(mask && { mask: Array.from(mask) as (0 | 1)[] }),
    ...(topLogprobs && { topLogprobs: unpackedAlternatives(topLogprobs) }),
    ...(columns && { columns: mapRecord(columns, unpackedNumbers) }),
  } as Segment
}

const unpackedAlternatives = (top: TopLogprobsView): TopLogprobs => ({
  ...top,
  ids: Array.from(top.ids),
  logprobs: unpackedNumbers(top.logprobs),
})

const unpackedNumbers = (column: NumberColumn): (number | null)[] =>
  Array.from(column, (value) => (value === null || Number.isNaN(value) ? null : value))

const sum = <T>(list: readonly T[], amount: (item: T) => number): number =>
  list.reduce((total, item) => total + amount(item), 0)

/** Returns a function that returns consecutive ranges of an array, as long as each column. */
function taker<T extends { subarray(start: number, end: number): T; [index: number]: number }>(whole: T, fill: Fill) {
  let next = 0
  return (column: NumberColumn): T => {
    const view = whole.subarray(next, next + column.length)
    next += column.length
    fill(view, column)
    return view
  }
}

const mapRecord = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
