/** What a reader of a group must know before its numbers. */
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import type { GroupRewards } from '#lib/trajectory/reward/group-rewards.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { GroupTree } from './group-tree.ts'

type Note = GroupForest['notes'][number]

/** Numbers of a group that notes depend on. */
interface NotedGroup {
  /** Number of samples in the answer, and of those that it leaves out. */
  readonly shown: number
  readonly leftOut: number
  readonly rewards: GroupRewards | undefined
}

/** Returns the notes on a group. */
export function groupNotes(
  { nodes, leaves, sharedTokens, tokenizers }: GroupTree,
  { shown, leftOut, rewards }: NotedGroup,
): readonly Note[] {
  const notes: Note[] = []
  const add = (code: Note['code'], message: string) => notes.push({ code, message })
  const inTree = leaves.filter((leaf) => leaf !== null).length
  if (leftOut > 0)
    add('left-out', `The group has ${countWithNoun(shown + leftOut, 'sample')}; the first ${shown} are shown.`)
  if (shown === 1) add('single-sample', 'The group has a single sample, so it has no advantage.')
  if (!rewards) add('no-rewards', 'No sample has a reward.')
  else if (rewards.scored > 1 && rewards.deviation === 0)
    add(
      'equal-rewards',
      `All rewards are ${rewards.mean}: the advantage is 0 everywhere, and the group gives no gradient.`,
    )
  if (tokenizers > 1)
    add(
      'several-tokenizers',
      `The samples have ${tokenizers} different tokenizers, so the same ids may be different texts.`,
    )
  if (inTree < 2) return notes
  const roots = nodes.filter(({ parent }) => parent === null).length
  if (roots > 1) add('no-common-prefix', `The samples have no common prefix: they begin in ${roots} different ways.`)
  else if (!nodes.some(({ kind, start, end, samples }) => kind === 'response' && end > start && samples.length > 1))
    add('prompt-only', `The samples share only the prompt: all differ from token ${sharedTokens} on.`)
  return notes
}
