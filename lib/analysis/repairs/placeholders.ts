/** Finds logprobs that were never measured: pipelines and speculative decoding write exactly 0 in their place. */

import type { Segment, Span, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Trained tokens, or those of the context. */
export type TokenClass = 'trained' | 'context'

/** Fewer zeros than this are no placeholders: the tokens may be certain. */
const FEWEST = 4

/** Number of tokens of a class with a known logprob, and of those with exactly 0. */
export interface LogprobTally {
  readonly known: number
  readonly zero: number
}

/** Counts the logprobs of each class. */
export function countLogprobs({ segments }: Pick<Trajectory, 'segments'>): Readonly<Record<TokenClass, LogprobTally>> {
  const tallies = { trained: { known: 0, zero: 0 }, context: { known: 0, zero: 0 } }
  for (const segment of segments)
    for (let index = 0; index < segment.ids.length; index++) {
      const logprob = numberAt(segment.logprobs, index)
      if (logprob === null) continue
      const tally = tallies[classOf(segment, index)]
      tally.known++
      if (logprob === 0) tally.zero++
    }
  return tallies
}

const classOf = (segment: Segment, index: number): TokenClass => (isTrained(segment, index) ? 'trained' : 'context')

/** Returns whether all known logprobs are 0, so that they are placeholders. */
export const arePlaceholders = ({ known, zero }: LogprobTally): boolean => zero >= FEWEST && zero === known

/** Returns the trajectory in which the logprobs of a class that are 0 are unknown. A segment without a known logprob has no column. */
export function withoutZeros(trajectory: Trajectory, of: TokenClass): Trajectory {
  return {
    ...trajectory,
    segments: trajectory.segments.map((segment): Segment => {
      const { logprobs, ...rest } = segment
      if (!logprobs?.some((_, index) => isZero(segment, index, of))) return segment
      const known = logprobs.map((logprob, index) => (isZero(segment, index, of) ? null : logprob))
      return known.every((logprob) => logprob === null) ? rest : { ...segment, logprobs: known }
    }),
  }
}

const isZero = (segment: Segment, index: number, of: TokenClass): boolean =>
  numberAt(segment.logprobs, index) === 0 && classOf(segment, index) === of

/** Returns the ranges of tokens of a class with a logprob of 0, counted from the start of the trajectory. */
export function zeroRanges({ segments }: Trajectory, of: TokenClass): readonly Span[] {
  const ranges: { start: number; end: number }[] = []
  let start = 0
  for (const segment of segments) {
    for (let index = 0; index < segment.ids.length; index++) {
      if (!isZero(segment, index, of)) continue
      const last = ranges.at(-1)
      if (last?.end === start + index) last.end++
      else ranges.push({ start: start + index, end: start + index + 1 })
    }
    start += segment.ids.length
  }
  return ranges
}

/** Returns the trajectory with a logprob of 0 at each token of the ranges whose logprob is still unknown. */
export function withZeros(trajectory: Trajectory, ranges: readonly Span[]): Trajectory {
  const isInRange = rangeTest(ranges)
  let start = 0
  const segments = trajectory.segments.map((segment): Segment => {
    const { ids, logprobs } = segment
    const first = start
    start += ids.length
    const restored = ids.map((_, index) => {
      const logprob = numberAt(logprobs, index)
      return logprob === null && isInRange(first + index) ? 0 : logprob
    })
    return restored.some((logprob, index) => logprob !== numberAt(logprobs, index))
      ? { ...segment, logprobs: restored }
      : segment
  })
  return { ...trajectory, segments }
}

/** Returns a function that tests indices, which must ascend from call to call. */
function rangeTest(ranges: readonly Span[]): (index: number) => boolean {
  const ordered = ranges.toSorted((a, b) => a.start - b.start)
  let at = 0
  return (index) => {
    while (at < ordered.length && (ordered[at]?.end ?? 0) <= index) at++
    return (ordered[at]?.start ?? Number.POSITIVE_INFINITY) <= index
  }
}
