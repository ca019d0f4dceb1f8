/** What a value estimate says, as text. */
import { countText, decimalText, rewardText } from '#components/token-view/numbers.ts'
import type { ValueCliff, ValueEstimate, ValuePoint, ValueRange } from '#lib/api/forest/value.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Returns a mean reward with its interval, such as `0.61 [0.34–0.88]`. */
export const meanText = (value: ValuePoint['value']): string =>
  value === null ? '—' : `${shortText(value.mean)} ${intervalText(value)}`

/** Returns an interval, such as `[0.34–0.88]`. */
export const intervalText = ({ low, high }: NonNullable<ValuePoint['value']>): string =>
  `[${shortText(low)}–${shortText(high)}]`

const shortText = (value: number): string => rewardText(Number(value.toFixed(2)))

/** Returns a token with its text, such as `211 “ls”`. */
function tokenText(trajectory: TrajectoryView, index: number): string {
  const entry = trajectory.vocab[tokenAt(trajectory, index)?.id ?? -1]
  return `${countText(index)}${typeof entry === 'string' ? ` ${JSON.stringify(entry.slice(0, 24))}` : ''}`
}

/** Returns the size and the place of a drop, such as `−0.5 at token 211 "ls"`. */
export function cliffText(trajectory: TrajectoryView, { from, to, drop }: ValueCliff): string {
  const place =
    to === from + 1
      ? `at token ${tokenText(trajectory, from)}`
      : `between token ${tokenText(trajectory, from)} and token ${tokenText(trajectory, to)}`
  return `−${shortText(drop)} ${place}`
}

/** Returns the values on both sides of the drop, and how sure it is. */
export function cliffEvidence({ points }: ValueEstimate, { from, to, p, test }: ValueCliff): string {
  const at = (token: number) => meanText(points.find((point) => point.at === token)?.value ?? null)
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
    .map(({ text, count }) => `${text === null || text === '' ? 'no answer' : `“${clip(text)}”`} × ${count}`)
  const others = spread.distinctAnswers - listed.length
  return [...listed, ...(others > 0 ? [`${others} more`] : [])].join(', ')
}

const ANSWER_LENGTH = 32

const clip = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > ANSWER_LENGTH ? `${line.slice(0, ANSWER_LENGTH)}…` : line
}

/** Returns one position as a sentence. */
export function pointText(trajectory: TrajectoryView, point: ValuePoint): string {
  const { at, rewarded, truncated, failed, spread } = point
  const parts = [
    `before token ${tokenText(trajectory, at)}`,
    `mean reward ${meanText(point.value)} of ${countWithNoun(rewarded, 'sample')}`,
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
