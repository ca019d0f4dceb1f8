/**
 * Sums over a range of tokens in one pass over the columns. No object is created for a token, because there may be
 * 200,000.
 */

import { elementAt } from '#lib/util/element-at.ts'
import type { Span, Vocab } from '../format/trajectory.ts'
import { bytesOf } from './pieces.ts'
import { isTrained, segmentStarts, segmentsOf } from './tokens.ts'
import { numberAt, type SegmentView, type TrajectoryView } from './trajectory-view.ts'

/** Sums of a range. */
export interface RangeSums {
  readonly tokens: number
  readonly trained: number
  /** Numbers of the segments that the range touches, half-open. */
  readonly segments: Span
  /** Sums over the trained tokens, or over all tokens if none is trained. */
  readonly logprobs: LogprobSums
  /** Means over the tokens with a known value, by the name of the column. */
  readonly columns: readonly { readonly name: string; readonly known: number; readonly mean: number }[]
  /** Bytes of the tokens with a known text. */
  readonly bytes: number
  /** Number of tokens without a known text. */
  readonly textless: number
}

interface LogprobSums {
  readonly of: 'trained' | 'context'
  readonly known: number
  /** In nats; null if no value is known, like the others. */
  readonly sum: number | null
  readonly mean: number | null
  /** exp(−mean). */
  readonly perplexity: number | null
  /** The least and the most likely token, with its index in the trajectory. */
  readonly least: Extreme | null
  readonly most: Extreme | null
}

/** A token with an extreme logprob. */
export interface Extreme {
  readonly index: number
  readonly logprob: number
}

/** The part of a segment inside of a range; `offset` is the index of the segment's first token in the trajectory. */
export interface SegmentRange {
  readonly segment: SegmentView
  readonly segmentIndex: number
  readonly offset: number
  /** Tokens of the segment, half-open. */
  readonly start: number
  readonly end: number
}

/** Returns the sums of a range. */
export function rangeSums(trajectory: TrajectoryView, range: Span): RangeSums {
  const parts = segmentRangesIn(trajectory, range)
  const trained = sum(parts.map(trainedIn))
  const first = parts[0]?.segmentIndex ?? 0
  const { bytes, textless } = textSizes(parts, trajectory.vocab)
  return {
    tokens: sum(parts.map(({ start, end }) => end - start)),
    trained,
    segments: { start: first, end: (parts.at(-1)?.segmentIndex ?? -1) + 1 },
    logprobs: logprobSums(parts, trained > 0 ? 'trained' : 'context'),
    columns: columnMeans(parts),
    bytes,
    textless,
  }
}

/** Returns the parts of segments inside of a range, which may extend beyond the last token. */
export function segmentRangesIn(trajectory: TrajectoryView, range: Span): readonly SegmentRange[] {
  const starts = segmentStarts(trajectory)
  return segmentsOf(trajectory).flatMap((segment, segmentIndex): readonly SegmentRange[] => {
    const offset = elementAt(starts, segmentIndex)
    const start = Math.max(0, range.start - offset)
    const end = Math.min(segment.ids.length, range.end - offset)
    return start < end ? [{ segment, segmentIndex, offset, start, end }] : []
  })
}

/** Returns the ids of a range in one array. */
export function idsIn(trajectory: TrajectoryView, range: Span): Int32Array {
  const parts = segmentRangesIn(trajectory, range)
  const ids = new Int32Array(sum(parts.map(({ start, end }) => end - start)))
  let next = 0
  for (const { segment, start, end } of parts)
    for (let index = start; index < end; index++) ids[next++] = elementAt(segment.ids, index)
  return ids
}

function trainedIn({ segment, start, end }: SegmentRange): number {
  let count = 0
  for (let index = start; index < end; index++) if (isTrained(segment, index)) count++
  return count
}

function logprobSums(parts: readonly SegmentRange[], of: LogprobSums['of']): LogprobSums {
  let known = 0
  let total = 0
  let least: Extreme | null = null
  let most: Extreme | null = null
  for (const { segment, offset, start, end } of parts)
    for (let index = start; index < end; index++) {
      const logprob = numberAt(segment.logprobs, index)
      if (logprob === null || (of === 'trained' && !isTrained(segment, index))) continue
      known++
      total += logprob
      if (least === null || logprob < least.logprob) least = { index: offset + index, logprob }
      if (most === null || logprob > most.logprob) most = { index: offset + index, logprob }
    }
  const mean = known > 0 ? total / known : null
  return {
    of,
    known,
    sum: known > 0 ? total : null,
    mean,
    perplexity: mean === null ? null : Math.exp(-mean),
    least,
    most,
  }
}

function columnMeans(parts: readonly SegmentRange[]): RangeSums['columns'] {
  const sums = new Map<string, { known: number; total: number }>()
  for (const { segment, start, end } of parts)
    for (const [name, column] of Object.entries(segment.columns ?? {})) {
      const added = sums.get(name) ?? { known: 0, total: 0 }
      sums.set(name, added)
      for (let index = start; index < end; index++) {
        const value = numberAt(column, index)
        if (value === null) continue
        added.known++
        added.total += value
      }
    }
  return Array.from(sums, ([name, { known, total }]) => ({ name, known, mean: total / known })).filter(
    ({ known }) => known > 0,
  )
}

/** Each distinct id is measured once. */
function textSizes(parts: readonly SegmentRange[], vocab: Vocab): Pick<RangeSums, 'bytes' | 'textless'> {
  const counts = new Map<number, number>()
  for (const { segment, start, end } of parts)
    for (let index = start; index < end; index++) {
      const id = elementAt(segment.ids, index)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  let bytes = 0
  let textless = 0
  for (const [id, count] of counts) {
    const entry = vocab[id]
    if (entry === undefined) textless += count
    else bytes += count * bytesOf(entry).length
  }
  return { bytes, textless }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
