/** A small group whose tree is known: five samples that call “find” and three that call “ls”. For tests. */
import { type GroupFacts, groupForest } from '#lib/analysis/group/group-forest.ts'
import { groupTree } from '#lib/analysis/group/group-tree.ts'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'

const WORDS = ['how', 'many', '?', 'I', 'list', 'find', 'ls', ' src', ' files', '13', '2', '\n', ' .', '<end>']

/** Returns a trajectory with a prompt and a response, as words of a small vocabulary. */
export function wordTrajectory(key: string, prompt: string, response: string): TrajectoryView {
  const ids = (text: string): number[] =>
    text === '' ? [] : text.split('|').map((word) => WORDS.indexOf(word) + (word === '' ? 12 : 0))
  const length = ids(response).length
  const segments: Segment[] = [
    { kind: 'prompt', ids: ids(prompt), messages: [{ role: 'user', content: prompt }] },
    ...(response === ''
      ? []
      : [
          {
            kind: 'response' as const,
            ids: ids(response),
            logprobs: Array.from({ length }, (_, index) => -0.1 * (index + 1)),
            thinks: [],
            toolCalls: [],
          },
        ]),
  ]
  return {
    ...sampleTrajectory,
    id: key,
    model: { ...sampleTrajectory.model, tokenizer: { name: 'words', fingerprint: 'words', specialIds: [13] } },
    vocab: Object.fromEntries(WORDS.map((word, id) => [id, word])),
    segments,
    outcome: { kind: 'ended', reason: 'end_turn' },
  }
}

/** Returns the row of a trajectory in the library. */
const rowOf = (trajectory: TrajectoryView, index: number, reward: number | null): TrajectorySummary => ({
  key: trajectory.id,
  id: trajectory.id,
  createdAt: '2026-01-01T00:00:00.000Z',
  addedAt: '2026-01-01T00:00:00.000Z',
  title: null,
  question: 'How many?',
  tags: [],
  note: null,
  reward,
  model: 'tiny',
  outcomeKind: 'ended',
  outcome: trajectory.outcome.kind === 'ended' ? trajectory.outcome.reason : trajectory.outcome.kind,
  source: 'rollout',
  importFormat: null,
  missing: [],
  isEncodedAgain: false,
  segments: trajectory.segments.length,
  turns: 1,
  tokens: tokenCount(trajectory),
  trained: trajectory.segments[1]?.ids.length ?? 0,
  meanLogprob: null,
  toolCalls: 0,
  failedCalls: 0,
  group: { id: 'group', index },
  rewardWhy: null,
  health: null,
  fork: null,
})

/** Samples of a group with the answer about them. */
export interface TestGroup {
  readonly forest: GroupForest
  readonly trajectories: readonly TrajectoryView[]
}

/** Returns the group of these trajectories and rewards. */
export function groupOf(
  trajectories: readonly TrajectoryView[],
  rewards: readonly (number | null)[],
  more: Partial<GroupFacts> = {},
): TestGroup {
  const rows = trajectories.map((trajectory, index) => rowOf(trajectory, index, rewards[index] ?? null))
  const tree = groupTree(trajectories.map(({ segments, vocab }) => ({ segments, vocab, tokenizer: 'words' })))
  const facts: GroupFacts = {
    revision: 'r1',
    group: { id: 'group', reward: null },
    isRunning: false,
    formula: 'mean-std',
    missing: [],
    deleted: 0,
    rows,
    findings: rows.map(() => undefined),
    leftOut: [],
    ...more,
  }
  return { forest: groupForest(tree, facts), trajectories }
}

const PROMPT = 'how|many|?'

/** Returns the group of the pictures: `find` is rewarded, `ls` is not, and samples 2 and 5 are identical. */
export function exampleGroup(more: Partial<GroupFacts> = {}): TestGroup {
  const responses: readonly (readonly [string, number])[] = [
    ['I|list|find| src| files|13|<end>', 1],
    ['I|list|find| src|13|<end>', 1],
    ['I|list|ls| src|2|<end>', 0.05],
    ['I|list|find| .|13|<end>', 0.8],
    ['I|list|find| src|13|<end>', 1],
    ['I|list|find| .|2|2', 0.5],
    ['I|list|ls| .|2|<end>', 0.25],
    ['I|list|ls|2|<end>', 0],
  ]
  return groupOf(
    responses.map(([response], index) => wordTrajectory(`k${index + 1}`, PROMPT, response)),
    responses.map(([, reward]) => reward),
    more,
  )
}

/** Returns a group in which `find` is always rewarded and `ls` never, four times each: chance gives that in 2 of 70 assignments. */
export function clearGroup(more: Partial<GroupFacts> = {}): TestGroup {
  const calls = ['find', 'ls'].flatMap((call) => Array.from({ length: 4 }, () => call))
  return groupOf(
    calls.map((call, index) => wordTrajectory(`c${index + 1}`, PROMPT, `I|list|${call}|13|<end>`)),
    calls.map((call) => (call === 'find' ? 1 : 0)),
    more,
  )
}
