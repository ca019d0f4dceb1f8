/** Texts of the library's rows. */

import { countText, rewardText } from '#components/token-view/numbers.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import type { GroupSummary, TrajectorySummary } from '#lib/api/library.ts'

/** Returns the title, or else the question, which is the file name for an import without a question. */
export const titleText = ({ title, question }: Pick<TrajectorySummary, 'title' | 'question'>): string =>
  visibleText(title?.trim() || question.trim() || 'without a question')

/** Returns the source of a trajectory, with the format if it was imported. */
export const trajectorySourceText = (source: string, format: string | null): string =>
  visibleText(format === null ? source : `${source} · ${format}`)

/** Returns the mean, lowest and highest reward of a group; '' if none is known. */
export function rewardsText({ rewards, keys }: Pick<GroupSummary, 'rewards' | 'keys'>): string {
  if (!rewards) return ''
  const { known, mean, min, max } = rewards
  const some = known < keys.length ? `, ${countText(known)} known` : ''
  if (min === max) return `reward ${rewardText(min)}${some}`
  return `reward ${rewardText(mean)} mean, ${rewardText(min)} to ${rewardText(max)}${some}`
}

/** Returns the explanation of a group whose rewards are all equal. */
export const flatText = ({ rewards, keys }: Pick<GroupSummary, 'rewards' | 'keys'>): string =>
  `All ${countText(keys.length)} rewards are ${rewardText(rewards?.min ?? null)}: every advantage in GRPO is 0, and the group gives no gradient.`

/** Returns the range of the shown rows, such as “1–50 of 3,214”; `start` counts from 0. */
export function rowRangeText(start: number, count: number, total: number): string {
  if (total === 0) return 'none'
  return `${countText(start + 1)}–${countText(start + count)} of ${countText(total)}`
}

/** Returns the class of the colour of an outcome; its text says the same. */
export const outcomeInk = ({ outcomeKind, outcome }: Pick<TrajectorySummary, 'outcomeKind' | 'outcome'>): string =>
  outcomeKind === 'failed'
    ? 'text-bad'
    : outcomeKind === 'running'
      ? 'text-accent'
      : outcome === 'end_turn'
        ? 'text-dim'
        : 'text-warn'
