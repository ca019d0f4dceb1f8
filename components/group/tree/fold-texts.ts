/** Texts of the folds of a tree. */

import { countText } from '#components/token-view/numbers.ts'
import { segmentTitle } from '#components/token-view/segment-title.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentIndexAt, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { SampleBranch, SampleTree } from '../tree.ts'
import { countRangeText } from '../words.ts'

/** Returns the text of a folded branch: how many samples and branches it has, how long they are and which tools they called. */
export function foldedBranchText(tree: SampleTree, branch: SampleBranch): string {
  const known = foldTexts.get(branch)
  if (known?.tree === tree) return known.text
  const text = makeFoldText(tree, branch)
  foldTexts.set(branch, { tree, text })
  return text
}

/** Texts of branches: they are drawn in every frame of a scroll. */
const foldTexts = new WeakMap<SampleBranch, { readonly tree: SampleTree; readonly text: string }>()

function makeFoldText(tree: SampleTree, branch: SampleBranch): string {
  const samples = branch.samples.map((index) => elementAt(tree.forest.samples, index))
  const below = countBelow(tree, branch)
  const lengths = samples.map(({ row }) => Math.max(0, row.tokens - branch.start))
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)]
  const calls = samples.flatMap(({ row }) => row.toolCalls ?? [])
  const failed = samples.reduce((sum, { row }) => sum + (row.failedCalls ?? 0), 0)
  const outcomes = [...new Set(samples.map(({ row }) => row.outcome))]
  return [
    `${countWithNoun(samples.length, 'sample')}${below > 0 ? `, ${countWithNoun(below, 'branch', 'branches')} folded` : ''}`,
    shortest === longest
      ? countWithNoun(shortest, 'token')
      : `${countText(shortest)} to ${countText(longest)} tokens each`,
    Math.max(...calls) > 0 &&
      `${countRangeText(calls, ' to ')} ${Math.max(...calls) === 1 ? 'call' : 'calls'}${failed > 0 ? `, ${countText(failed)} failed` : ''}`,
    outcomes.length <= 2 && outcomes.join(' and '),
  ]
    .filter(Boolean)
    .join(' · ')
}

function countBelow(tree: SampleTree, { children }: SampleBranch): number {
  return children.reduce((sum, index) => sum + 1 + countBelow(tree, elementAt(tree.branches, index)), 0)
}

/** Returns the text of a fold within a branch: the number of tokens, the segments they are in, and how many samples have them. */
export function hiddenTokensText(branch: SampleBranch, tokens: Span, trajectory: TrajectoryView | undefined): string {
  const count = countWithNoun(tokens.end - tokens.start, 'more token')
  const shared = branch.samples.length > 1 ? `the same in ${countText(branch.samples.length)} samples` : ''
  return [count, trajectory && segmentNames(trajectory, tokens), shared].filter(Boolean).join(' · ')
}

/** Returns the kinds of the segments of some tokens, such as `tool result and response`. */
function segmentNames(trajectory: TrajectoryView, { start, end }: Span): string {
  const starts = segmentStarts(trajectory)
  const [first, last] = [segmentIndexAt(starts, start), segmentIndexAt(starts, end - 1)]
  if (first < 0 || last < 0) return ''
  const names = new Set(trajectory.segments.slice(first, last + 1).map(segmentTitle))
  return [...names].join(' and ')
}
