/** What a value estimate says, as text. */
import { countText, decimalText, intervalText, rewardText, shortRewardText } from '#components/token-view/numbers.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import type { ValueCliff, ValueEstimate, ValuePoint, ValueRange } from '#lib/api/forest/value.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'

/** Returns a mean reward with its interval, such as `0.61 [0.34–0.88]`. */
export const meanWithInterval = (value: ValuePoint['value']): string =>
  value === null ? '—' : `${shortRewardText(value.mean)} ${intervalText(value)}`

/** Returns a token with its text, such as `211 "ls"`. */
function tokenText(trajectory: TrajectoryView, index: number): string {
  const entry = trajectory.vocab[tokenAt(trajectory, index)?.id ?? -1]
  return `${countText(index)}${typeof entry === 'string' ? ` ${visibleText(JSON.stringify(excerpt(entry, TOKEN_LENGTH)))}` : ''}`
}

/** Returns the size and the place of a drop, such as `−0.5 at token 211 "ls"`. */
export function cliffText(trajectory: TrajectoryView, { from, to, drop }: ValueCliff): string {
  const place =
    to === from + 1
      ? `at token ${tokenText(trajectory, from)}`
      : `between token ${tokenText(trajectory, from)} and token ${tokenText(trajectory, to)}`
  return `−${shortRewardText(drop)} ${place}`
}

/** Returns the values on both sides of the drop, and how sure it is. */
export function cliffEvidence({ points }: ValueEstimate, { from, to, p, test }: ValueCliff): string {
  const at = (token: number) => meanWithInterval(points.find((point) => point.at === token)?.value ?? null)
  return `${at(from)} → ${at(to)}, p = ${decimalText(p)} after Holm’s correction (${TESTS[test]})`
}

const TESTS: Readonly<Record<ValueCliff['test'], string>> = {
  fisher: 'Fisher’s exact test',
  student: 'Student’s t test',
  permutation: 'permutation test',
}

/** Returns the answers at a position with their counts, such as `“13” × 5, “12” × 3`. */
export function answersText({ spread }: ValuePoint): string {
  if (!spread) return '—'
  const listed = spread.answers
    .slice(0, 3)
    .map(
      ({ text, count }) =>
        `${text === null || text === '' ? 'no answer' : `“${visibleText(excerpt(text.replace(/\s+/g, ' '), ANSWER_LENGTH))}”`} × ${count}`,
    )
  const others = spread.distinctAnswers - listed.length
  return [...listed, ...(others > 0 ? [`${others} more`] : [])].join(', ')
}

/** Longest text of a token and of an answer, in UTF-16 units. */
const TOKEN_LENGTH = 24
const ANSWER_LENGTH = 32

/** Returns one position as a sentence. */
export function pointText(trajectory: TrajectoryView, point: ValuePoint): string {
  const { at, rewarded, truncated, failed, spread } = point
  const parts = [
    `before token ${tokenText(trajectory, at)}`,
    `mean reward ${meanWithInterval(point.value)} of ${countWithNoun(rewarded, 'sample')}`,
    ...(spread
      ? [
          answersText(point),
          `${decimalText(spread.sampledTokens.mean, 0)} tokens (${countText(spread.sampledTokens.min)}–${countText(spread.sampledTokens.max)})`,
          `${rewardText(Number(spread.toolCalls.mean.toFixed(1)))} tool calls each`,
        ]
      : []),
    ...(truncated > 0 ? [`${truncated} truncated`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ]
  return parts.join(' · ')
}

/** Returns the positions of an estimate in words. */
export function rangeText(range: ValueRange): string {
  if ('tokens' in range)
    return range.tokens.length === 1 ? `token ${countText(range.tokens[0] ?? 0)}` : `${range.tokens.length} tokens`
  const { from, to } = range
  const inside =
    from === undefined && to === undefined
      ? ''
      : ` of ${countText(from ?? 0)}–${to === undefined ? 'end' : countText(to - 1)}`
  if ('surprising' in range) return `${range.surprising} most surprising tokens${inside}`
  return range.every === 1 ? `trained tokens${inside}` : `trained tokens${inside}, one in ${range.every}`
}
