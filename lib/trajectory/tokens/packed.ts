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

/** Packs a trajectory. Unknown numbers become NaN, which the JSON format does not have. */
export function pack(trajectory: Trajectory): Packed {
  const { segments } = trajectory
  const ids = new Int32Array(sum(segments, ({ ids }) => ids.length))
  const mask = new Uint8Array(sum(segments, ({ mask }) => mask?.length ?? 0))
  const alternatives = new Int32Array(sum(segments, ({ topLogprobs }) => topLogprobs?.ids.length ?? 0))
  const numbers = new Float64Array(
    sum(
      segments,
      ({ logprobs, topLogprobs, columns = {} }) =>
        (logprobs?.length ?? 0) +
        (topLogprobs?.logprobs.length ?? 0) +
        sum(Object.values(columns), ({ length }) => length),
    ),
  )
  const takeIds = taker(ids)
  const takeMask = taker(mask)
  const takeAlternatives = taker(alternatives)
  const takeNumbers = taker(numbers)
  const packedNumbers = (column: readonly (number | null)[]) => {
    const view = takeNumbers(column.length)
    for (const [index, value] of column.entries()) view[index] = value ?? Number.NaN
    return view
  }
  const packedSegment = (segment: Segment): SegmentView => {
    const { logprobs, mask, topLogprobs, columns } = segment
    return {
      ...segment,
      ids: filled(takeIds(segment.ids.length), segment.ids),
      ...(logprobs && { logprobs: packedNumbers(logprobs) }),
      ...(mask && { mask: filled(takeMask(mask.length), mask) }),
      ...(topLogprobs && {
        topLogprobs: {
          ...topLogprobs,
          ids: filled(takeAlternatives(topLogprobs.ids.length), topLogprobs.ids),
          logprobs: packedNumbers(topLogprobs.logprobs),
        },
      }),
      ...(columns && { columns: mapped(columns, packedNumbers) }),
    } as SegmentView
  }
  return {
    trajectory: { ...trajectory, segments: segments.map(packedSegment) },
    buffers: [ids.buffer, mask.buffer, alternatives.buffer, numbers.buffer],
  }
}

/** Returns the packed trajectory without the state of a running rollout. */
export function unpack(view: TrajectoryView): Trajectory {
  const { live: _, ...record } = view
  return { ...record, segments: view.segments.map(unpackedSegment) }
}

function unpackedSegment(segment: SegmentView): Segment {
  const { logprobs, mask, topLogprobs, columns } = segment
  return {
    ...segment,
    ids: Array.from(segment.ids),
    ...(logprobs && { logprobs: unpackedNumbers(logprobs) }),
    ...(mask && { mask: Array.from(mask) as (0 | 1)[] }),
    ...(topLogprobs && { topLogprobs: unpackedAlternatives(topLogprobs) }),
    ...(columns && { columns: mapped(columns, unpackedNumbers) }),
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

/** Returns consecutive ranges of an array. */
function taker<T extends { subarray(start: number, end: number): T }>(whole: T): (length: number) => T {
  let next = 0
  return (length) => {
    const start = next
    next += length
    return whole.subarray(start, next)
  }
}

function filled<T extends { set(values: ArrayLike<number>): void }>(view: T, values: readonly number[]): T {
  view.set(values)
  return view
}

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
