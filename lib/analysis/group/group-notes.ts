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
  readonly deleted: number
  /** Number of samples in the answer that are running. */
  readonly running: number
  readonly rewards: GroupRewards | undefined
}

/** Returns the notes on a group. */
export function groupNotes(
  { nodes, leaves, sharedTokens, tokenizers }: GroupTree,
  { shown, leftOut, deleted, running, rewards }: NotedGroup,
): readonly Note[] {
  const notes: Note[] = []
  const add = (code: Note['code'], message: string) => notes.push({ code, message })
  const inTree = leaves.filter((leaf) => leaf !== null).length
  if (leftOut > 0)
    add('left-out', `The group has ${countWithNoun(shown + leftOut, 'sample')}; the first ${shown} are shown.`)
  if (deleted > 0) add('deleted-samples', deletedText(deleted, shown + leftOut))
  if (shown === 1) add('single-sample', 'The group has a single sample, so it has no advantage.')
  if (!rewards) add('no-rewards', `No sample has a reward${running > 0 ? ` yet: ${areRunning(running)}` : ''}.`)
  else if (rewards.scored > 1 && rewards.deviation === 0)
    add('equal-rewards', equalRewardsText(rewards, shown + leftOut - rewards.scored, running))
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

const areRunning = (count: number): string => `${countWithNoun(count, 'sample is', 'samples are')} running`

const deletedText = (deleted: number, left: number): string =>
  `${deleted} of ${countWithNoun(deleted + left, 'sample')} ${deleted === 1 ? 'was' : 'were'} deleted: counts, rewards and advantages are of the other ${left}.`

/** Returns what equal rewards mean. Samples without a reward may still get another one. */
function equalRewardsText({ mean, scored }: GroupRewards, unscored: number, running: number): string {
  if (unscored === 0) return `All rewards are ${mean}: the advantage is 0 everywhere, and the group gives no gradient.`
  const without = `${countWithNoun(unscored, 'sample has', 'samples have')} no reward`
  return running > 0
    ? `The ${scored} rewards so far are all ${mean}: ${without} yet, and ${areRunning(running)}.`
    : `The ${scored} known rewards are all ${mean}, so these samples have the advantage 0: ${without}.`
}
