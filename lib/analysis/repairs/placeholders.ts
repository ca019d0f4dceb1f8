/** Finds logprobs that were never measured: pipelines and speculative decoding write exactly 0 in their place. */

import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
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
      if (!segment.logprobs) return segment
      const { logprobs, ...rest } = segment
      const known = logprobs.map((logprob, index) => (logprob === 0 && classOf(segment, index) === of ? null : logprob))
      return known.every((logprob) => logprob === null) ? rest : { ...segment, logprobs: known }
    }),
  }
}
