/** Scores one sample by a rule, with the reason in words. */

import type { Outcome } from '../format/trajectory.ts'
import { partText, segmentMessages } from '../messages/message-parts.ts'
import { segmentsOf } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { lastBoxed, lastNumber, type WrittenNumber } from './read-number.ts'
import type { RewardRule } from './rule.ts'

/** A reward with its reason. */
export interface RewardWithReason {
  /** null if there is no answer to score or no result. */
  readonly reward: number | null
  readonly why: string
}

/**
 * Returns what the last match of a regular expression captured: its first group, or all of it without groups. Users
 * type the patterns, which may never finish, so the implementation must set a limit.
 */
export type SearchPattern = (
  pattern: string,
  flags: string,
  text: string,
) => { readonly kind: 'found'; readonly text: string } | { readonly kind: 'absent' } | { readonly kind: 'too-slow' }

/** Scores a trajectory. A run that failed or was stopped has no answer that the model is responsible for. */
export function scoreOf(trajectory: TrajectoryView, rule: RewardRule, search: SearchPattern): RewardWithReason {
  const unscored = whyUnscored(trajectory.outcome)
  if (unscored !== undefined) return { reward: null, why: unscored }
  const answer = answerOf(trajectory)
  if (answer === undefined) return { reward: null, why: 'there is no answer' }
  return scoreOfAnswer(answer, rule, search)
}

/** Returns the last response without its thinking and its calls, or undefined if there is none. */
export function answerOf(trajectory: TrajectoryView): string | undefined {
  const segments = segmentsOf(trajectory)
  const index = segments.findLastIndex(({ kind }) => kind === 'response')
  const segment = segments[index]
  if (!segment) return undefined
  return segmentMessages(trajectory, index)
    .flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'text'))
    .map((part) => partText(part, segment, trajectory))
    .join('\n')
    .trim()
}

/** Scores an answer by a rule. */
export function scoreOfAnswer(answer: string, rule: RewardRule, search: SearchPattern): RewardWithReason {
  if (rule.kind === 'number') return scoreOfNumber(answer, rule)
  if (rule.kind === 'pattern') return scoreOfPattern(answer, rule, search)
  return rewardWithReason(isSame(answer, rule.expected, rule.ignoreCase), quoteText(answer), quoteText(rule.expected))
}

const UNSCORED: readonly string[] = ['cancelled', 'aborted', 'interrupted']

function whyUnscored(outcome: Outcome): string | undefined {
  if (outcome.kind === 'running') return 'the run has not ended'
  if (outcome.kind === 'failed') return 'the run failed'
  return UNSCORED.includes(outcome.reason) ? `the run ended with ${outcome.reason}` : undefined
}

function scoreOfPattern(
  answer: string,
  { pattern, ignoreCase = false, expected }: Extract<RewardRule, { kind: 'pattern' }>,
  search: SearchPattern,
): RewardWithReason {
  const result = search(pattern, ignoreCase ? 'iu' : 'u', answer)
  if (result.kind === 'too-slow') return { reward: null, why: 'the pattern takes too long on this answer' }
  if (result.kind === 'absent') return { reward: 0, why: `/${pattern}/ is not found` }
  if (expected === undefined) return { reward: 1, why: `/${pattern}/ found ${quoteText(result.text)}` }
  return rewardWithReason(isSame(result.text, expected, ignoreCase), quoteText(result.text), quoteText(expected))
}

function scoreOfNumber(
  answer: string,
  { expected, tolerance = 0 }: Extract<RewardRule, { kind: 'number' }>,
): RewardWithReason {
  const boxed = lastBoxed(answer)
  const found = lastNumber(boxed ?? answer)
  if (!found) return { reward: 0, why: boxed === undefined ? 'no number found' : `no number in ${quoteText(boxed)}` }
  const isNear = (value: number) => Math.abs(value - expected) <= tolerance + rounding(expected)
  const near = [found.value, found.percent].find((value) => value !== undefined && isNear(value))
  return rewardWithReason(
    near !== undefined,
    numberText(found),
    tolerance > 0 ? `${expected} ± ${tolerance}` : `${expected}`,
  )
}

/** 0.1 + 0.2 must equal 0.3. */
const rounding = (expected: number): number => Math.abs(expected) * 4 * Number.EPSILON

const numberText = ({ text, value }: WrittenNumber): string => (text === `${value}` ? text : `${text} = ${value}`)

const rewardWithReason = (fits: boolean, found: string, expected: string): RewardWithReason => ({
  reward: fits ? 1 : 0,
  why: `found ${found}, expected ${expected}`,
})

function isSame(found: string, expected: string, ignoreCase = false): boolean {
  const spelled = (text: string) => (ignoreCase ? text.trim().toLowerCase() : text.trim())
  return spelled(found) === spelled(expected)
}

const SHOWN = 80

const quoteText = (text: string): string => {
  const inLine = text.trim().replace(/\s+/g, ' ')
  return `“${inLine.length > SHOWN ? `${inLine.slice(0, SHOWN)} …` : inLine}”`
}
