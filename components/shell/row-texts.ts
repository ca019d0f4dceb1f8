/** What a row of the library says of a trajectory, in words. */

import { countText, rewardText } from '#components/token-view/numbers.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import type { GroupSummary, TrajectorySummary } from '#lib/api/library.ts'

/** The title given, else the question, which is the name of the file where nothing was asked. */
export const titleText = ({ title, question }: Pick<TrajectorySummary, 'title' | 'question'>): string =>
  visibleText(title?.trim() || question.trim() || 'without a question')

export const sourceText = (source: string, format: string | null): string =>
  visibleText(format === null ? source : `${source} · ${format}`)

/** Mean, least and highest reward of a group; '' where none is known. */
export function rewardsText({ rewards, keys }: Pick<GroupSummary, 'rewards' | 'keys'>): string {
  if (!rewards) return ''
  const { known, mean, min, max } = rewards
  const some = known < keys.length ? `, ${countText(known)} known` : ''
  if (min === max) return `reward ${rewardText(min)}${some}`
  return `reward ${rewardText(mean)} mean, ${rewardText(min)} to ${rewardText(max)}${some}`
}

export const flatText = ({ rewards, keys }: Pick<GroupSummary, 'rewards' | 'keys'>): string =>
  `All ${countText(keys.length)} rewards are ${rewardText(rewards?.min ?? null)}: every advantage in GRPO is 0, and the group gives no gradient.`

/** Today only the time, in this year no year; — where it is no time. */
export function whenText(iso: string, now: Date): string {
  const when = new Date(iso)
  if (Number.isNaN(when.getTime())) return '—'
  if (when.toDateString() === now.toDateString())
    return new Intl.DateTimeFormat([], { timeStyle: 'short' }).format(when)
  const isThisYear = when.getFullYear() === now.getFullYear()
  return new Intl.DateTimeFormat([], {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? { hour: '2-digit', minute: '2-digit' } : { year: 'numeric' }),
  }).format(when)
}

export const timeText = (iso: string): string => {
  const when = new Date(iso)
  return Number.isNaN(when.getTime()) ? iso : when.toLocaleString()
}

/** "1–50 of 3,214". */
export function rangeText(start: number, shown: number, total: number): string {
  if (total === 0) return 'none'
  return `${countText(start + 1)}–${countText(start + shown)} of ${countText(total)}`
}

/** The colour of an outcome; its word says the same. */
export const outcomeInk = ({ outcomeKind, outcome }: Pick<TrajectorySummary, 'outcomeKind' | 'outcome'>): string =>
  outcomeKind === 'failed'
    ? 'text-bad'
    : outcomeKind === 'running'
      ? 'text-accent'
      : outcome === 'end_turn'
        ? 'text-dim'
        : 'text-warn'
