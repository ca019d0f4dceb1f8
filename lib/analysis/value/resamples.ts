/** What the resamples at one position did: their answers, lengths and tool calls. */
import type { ResampleSpread } from '#lib/api/forest/value.ts'
import { meanOf } from '#lib/trajectory/reward/mean.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** One resample that has ended. */
export interface Resample {
  /** null: the rule gave none. */
  readonly reward: number | null
  /** The final answer; null if there is none. */
  readonly answer: string | null
  /** Tokens that were sampled after the position. */
  readonly sampledTokens: number
  readonly toolCalls: number
  /** Tool calls that failed or are malformed. */
  readonly failedCalls: number
}

/** Distinct answers that are listed for a position; the others are only counted. */
const LISTED_ANSWERS = 10
/** Characters of an answer that are listed. */
const ANSWER_CHARACTERS = 200

/** Returns the spread of resamples; null without one. */
export function resampleSpread(resamples: readonly Resample[]): ResampleSpread | null {
  if (resamples.length === 0) return null
  const lengths = resamples.map(({ sampledTokens }) => sampledTokens).sort((a, b) => a - b)
  const answers = Array.from(
    Map.groupBy(resamples, ({ answer }) => answer),
    ([answer, all]) => ({
      text: answer === null ? null : shortened(answer),
      count: all.length,
      reward: elementAt(all, 0).reward,
    }),
  ).sort((a, b) => b.count - a.count)
  return {
    answers: answers.slice(0, LISTED_ANSWERS),
    distinctAnswers: answers.length,
    sampledTokens: {
      min: elementAt(lengths, 0),
      mean: meanOf(lengths),
      max: elementAt(lengths, lengths.length - 1),
    },
    toolCalls: {
      mean: meanOf(resamples.map(({ toolCalls }) => toolCalls)),
      failed: resamples.reduce((sum, { failedCalls }) => sum + failedCalls, 0),
      withCalls: resamples.filter(({ toolCalls }) => toolCalls > 0).length,
    },
  }
}

function shortened(answer: string): string {
  const characters = Array.from(answer)
  return characters.length > ANSWER_CHARACTERS ? `${characters.slice(0, ANSWER_CHARACTERS).join('')} …` : answer
}
