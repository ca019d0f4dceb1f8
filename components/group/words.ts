/** Texts of the group page: rewards, intervals, advantages and labels. */
import { countText, decimalText, intervalText } from '#components/token-view/numbers.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import type { GroupBranch, GroupForest, RewardEstimate } from '#lib/api/forest/group-forest.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { type SampleBranch, type SampleTree, splitsOfTree } from './tree.ts'

/** Returns a mean reward with two decimals. */
export const meanText = (mean: number): string => decimalText(mean, 2)

/** Returns the interval of a mean; '' for a single reward, whose interval is the whole range. */
export const estimateInterval = ({ known, interval }: RewardEstimate): string =>
  known > 1 ? intervalText(interval) : ''

/** Returns a value with its sign, such as `+0.98`; — if it is unknown. */
export const signedText = (value: number | null): string =>
  value === null
    ? '—'
    : `${value > 0 ? '+' : ''}${Math.abs(value) < 0.005 && value !== 0 ? value.toPrecision(1).replaceAll('-', '−') : decimalText(value, 2)}`

/** Returns the text of the first token of a branch at a split: its id if the text is not recorded, and `end` if the samples end there. */
export const firstTokenText = ({ text, id, node }: Pick<GroupBranch, 'text' | 'id' | 'node'>): string =>
  text !== null ? visibleText(text) : node === null ? 'end' : id === null ? 'no token' : `id ${id}`

/** Returns the advantage of a branch in words; '' if it is unknown. */
export const advantageText = (advantage: number | null): string =>
  advantage === null ? '' : `advantage ${signedText(advantage)}`

/** A label of a branch or of a sample, with its look. */
export interface Chip {
  readonly text: string
  readonly look: 'plain' | 'good' | 'warn' | 'bad'
}

/** Returns the labels of a branch: equal rewards, identical samples and truncated ones. */
export function branchChips({ forest }: SampleTree, branch: SampleBranch): readonly Chip[] {
  const samples = branch.samples.map((index) => elementAt(forest.samples, index))
  const rewards = new Set(samples.map(({ row }) => row.reward))
  const truncated = samples.filter(({ isTruncated }) => isTruncated).length
  const running = samples.filter(({ row }) => row.outcomeKind === 'running').length
  const [reward] = rewards
  const chips: Chip[] = []
  if (branch.end === branch.start) chips.push({ text: 'ends here', look: 'plain' })
  if (samples.length > 1 && rewards.size === 1 && reward !== null && reward !== undefined)
    chips.push({
      text: `all ${meanText(reward)}`,
      look: reward >= (forest.rewards?.range.high ?? 1) ? 'good' : 'plain',
    })
  if (samples.length > 1 && branch.children.length === 0) chips.push({ text: 'identical to the end', look: 'plain' })
  if (truncated > 0)
    chips.push({ text: `${truncated === samples.length ? '' : `${countText(truncated)} `}truncated`, look: 'warn' })
  if (running > 0) chips.push({ text: `${countText(running)} running`, look: 'plain' })
  return chips
}

/** Returns the range of some counts, such as `8–10`, with this text between its ends; one number if all are equal, and 0 if there are none. */
export function countRangeText(values: readonly number[], between: string): string {
  if (values.length === 0) return '0'
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return least === most ? countText(least) : `${countText(least)}${between}${countText(most)}`
}

/** Returns where the shown branch is among the splits, for the status line. */
export function branchPositionText(
  tree: SampleTree,
  branch: SampleBranch | undefined,
  token: number | undefined,
): string {
  const splits = splitsOfTree(tree)
  const number = branch
    ? splits.findIndex(({ branches }) => branches.some(({ index }) => index === branch.index)) + 1
    : 0
  return [
    number > 0 && `split ${countText(number)} of ${countText(splits.length)}`,
    token !== undefined && `token ${countText(token)}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** Returns the size of the group, for the status line. */
export function groupSizeText({ samples, counts }: GroupForest): string {
  return `${countWithNoun(samples.length, 'sample')} · ${countText(counts.tokens)} tokens, ${countText(counts.distinctTokens)} distinct`
}
