/**
 * Defines a group of samples as trees in the HTTP API. The answer has no token ids of nodes: a page draws a node from the
 * trajectory of its `sample`, which has the same tokens between `start` and `end`.
 */
import * as z from 'zod/mini'
import { ADVANTAGE_FORMULAS } from '#lib/trajectory/reward/advantage.ts'
import { rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { summarySchema } from '../library.ts'
import { treeCountsSchema } from './tree.ts'

const count = z.int().check(z.minimum(0))
const indexOfSample = withDescription(count, 'Index in `samples`.')
const samplesHere = z.array(indexOfSample)

/** Most samples of one answer. */
export const MOST_GROUP_SAMPLES = 256

const intervalSchema = z.object({ low: z.number(), high: z.number() })

const estimateSchema = withDescription(
  z.object({
    known: withDescription(count.check(z.minimum(1)), 'Number of samples with a reward.'),
    mean: z.number(),
    interval: withDescription(intervalSchema, 'The 95 % interval of the mean, within `rewards.range`.'),
    method: withDescription(
      z.enum(['clopper-pearson', 'student', 'hoeffding']),
      'clopper-pearson: all rewards are 0 or 1. student: Student’s t. hoeffding: a single reward, or equal ones, which have no deviation.',
    ),
  }),
  'The mean reward of some samples.',
)
/** The mean reward of some samples, with its interval. */
export type RewardEstimate = Plain<z.infer<typeof estimateSchema>>

const sampleSchema = z.object({
  row: withDescription(
    summarySchema,
    'Its row in the library, with key, title, reward, outcome, tokens and trained tokens.',
  ),
  advantage: withDescription(
    z.nullable(z.number()),
    'Of the whole sample, before length normalisation. null: no reward, or no other sample has one.',
  ),
  tokenAdvantage: withDescription(
    z.nullable(z.number()),
    'Of each of its trained tokens: `advantage`, or with a formula by length `advantage` / trained tokens. null: as `advantage`.',
  ),
  leaf: withDescription(
    z.nullable(count),
    'The node in which it ends, as an index in `nodes`. null: it has no tokens, or it cannot be read.',
  ),
  identicalTo: withDescription(samplesHere, 'The other samples with the same tokens in the same segments.'),
  isTruncated: withDescription(
    z.boolean(),
    'Whether a limit of tokens ended it: length, context_full, max_tokens or truncated.',
  ),
  finding: withDescription(
    z.nullable(z.object({ code: z.enum(['damaged', 'deleted', 'no-tokens']), message: z.string() })),
    'Why it is not in the tree. null: it is.',
  ),
})
/** A sample of a group. */
export type GroupSample = Plain<z.infer<typeof sampleSchema>>

const nodeSchema = z.object({
  parent: withDescription(z.nullable(count), 'Index in `nodes`. null: a root.'),
  kind: z.enum(['prompt', 'response']),
  segment: withDescription(count, 'Index of the segment that contains it, in each of its samples.'),
  start: withDescription(count, 'Index of its first token, counted from the start of the trajectory.'),
  end: withDescription(count, 'Index after its last token. Equal to `start` for a segment without tokens.'),
  opensSegment: withDescription(z.boolean(), 'Whether its first token is the first one of the segment.'),
  samples: withDescription(samplesHere, 'The samples that have these tokens here, in ascending order.'),
  ends: withDescription(samplesHere, 'Those of them that end with its last token.'),
  sample: withDescription(
    indexOfSample,
    'The sample from whose trajectory its tokens can be drawn. Neighbouring nodes use the same sample where possible.',
  ),
  reward: withDescription(z.nullable(estimateSchema), 'null: none of its samples has a reward.'),
  advantage: withDescription(
    z.nullable(z.number()),
    'Mean of `tokenAdvantage` over its samples that have one. null: none has.',
  ),
})
/** Tokens of a group without a split between them. */
export type GroupNode = Plain<z.infer<typeof nodeSchema>>

const branchSchema = z.object({
  node: withDescription(z.nullable(count), 'Index in `nodes`. null: these samples end here.'),
  id: withDescription(z.nullable(count), 'Its first token id. null: the samples end, or the segment has no tokens.'),
  text: withDescription(
    z.nullable(z.string()),
    'The text of this token; bytes that are not UTF-8 alone are U+FFFD. null: no token, or its text is not recorded.',
  ),
  probability: withDescription(
    z.nullable(z.number().check(z.minimum(0))),
    'exp of the recorded logprob of this token, from the first of the samples that sampled it. null: not recorded or not sampled.',
  ),
  samples: samplesHere,
  reward: withDescription(z.nullable(estimateSchema), 'null: none of the samples has a reward.'),
  advantage: withDescription(z.nullable(z.number()), 'As in `nodes`.'),
})
/** One way to continue at a split. */
export type GroupBranch = Plain<z.infer<typeof branchSchema>>

const splitSchema = z.object({
  position: withDescription(count, 'Index of the first token that differs, counted from the start of the trajectory.'),
  node: withDescription(z.nullable(count), 'The node before it, as an index in `nodes`. null: nothing is shared.'),
  branches: withDescription(
    z.array(branchSchema),
    'At least two, those with most samples first, then in the order of their first sample.',
  ),
})
/** A position at which samples differ. */
export type GroupSplit = Plain<z.infer<typeof splitSchema>>

const decisiveSchema = z.object({
  split: withDescription(count, 'Index in `splits`.'),
  position: withDescription(count, 'Index of the token, counted from the start of the trajectory.'),
  high: withDescription(count, 'The branch with the higher mean reward, as an index in the `branches` of the split.'),
  low: withDescription(count, 'The branch with the lower mean reward, as an index in the `branches` of the split.'),
  difference: withDescription(z.number(), 'Mean reward of `high` less that of `low`.'),
  interval: withDescription(
    intervalSchema,
    'The 95 % interval of the difference, from the intervals of both means (Zou and Donner 2008), for this position alone.',
  ),
  tested: withDescription(count, 'Number of splits with at least two branches of at least two samples with a reward.'),
  chance: withDescription(
    z.number().check(z.minimum(0), z.maximum(1)),
    'Share of random assignments of the same rewards to the samples in which some of the tested splits has a difference at least as large. It accounts for all tested positions.',
  ),
  method: withDescription(
    z.enum(['exact', 'sampled']),
    'How `chance` was computed: over all assignments, or over a fixed number of random ones.',
  ),
  isSignificant: withDescription(
    z.boolean(),
    'Whether `chance` is at most 0.05. Otherwise this is only the largest difference, which may be chance.',
  ),
})
/** The token with the largest difference in mean reward between its branches. */
export type DecisiveToken = Plain<z.infer<typeof decisiveSchema>>

/** Codes of the notes on a group. */
const GROUP_NOTES = [
  'left-out',
  'deleted-samples',
  'single-sample',
  'no-rewards',
  'equal-rewards',
  'no-common-prefix',
  'prompt-only',
  'several-tokenizers',
] as const

/** The answer of GET /api/groups/{id}/forest and of POST /api/forest. */
export const groupForestSchema = z.object({
  revision: withDescription(
    z.string(),
    'Changes with the tokens, the labels and the list of samples, and with the formula. A request with `known` gets 204 while it is the same.',
  ),
  group: withDescription(
    z.nullable(
      z.object({
        id: z.string(),
        reward: withDescription(z.nullable(rewardRuleSchema), 'The reward rule. null: none.'),
      }),
    ),
    'null: the samples were selected by their keys.',
  ),
  isRunning: withDescription(z.boolean(), 'Whether a sample is running.'),
  formula: withDescription(z.enum(ADVANTAGE_FORMULAS), 'The formula of the advantages.'),
  samples: withDescription(
    z.array(sampleSchema),
    'In the order of their index in the group, or of the keys of the request. Number i on screen is index i − 1.',
  ),
  missing: withDescription(z.array(z.string()), 'Keys of the request that no stored trajectory has.'),
  nodes: withDescription(
    z.array(nodeSchema),
    'Tokens without a split between them. Each node is followed by its continuations (depth first), those with most samples first.',
  ),
  splits: withDescription(z.array(splitSchema), 'In the order of `nodes`.'),
  decisive: withDescription(
    z.nullable(decisiveSchema),
    'null: no split has two branches with at least two rewards each, or no mean differs.',
  ),
  sharedTokens: withDescription(count, 'Number of tokens with which all samples of the tree begin.'),
  rewards: withDescription(
    z.nullable(
      z.object({
        scored: withDescription(count, 'Number of samples with a reward.'),
        passed: withDescription(count, 'Number of samples with a reward of at least 1.'),
        mean: z.number(),
        deviation: withDescription(z.number(), 'Sample standard deviation (n − 1). 0 for a single sample.'),
        range: withDescription(
          intervalSchema,
          '0 to 1 if all rewards are within it, otherwise the smallest and the largest reward.',
        ),
      }),
    ),
    'null: no sample has a reward.',
  ),
  notes: withDescription(
    z.array(z.object({ code: z.enum(GROUP_NOTES), message: withDescription(z.string(), 'The note in words.') })),
    'What a reader of the group must know. Empty: nothing.',
  ),
  counts: treeCountsSchema,
})
/** A group of samples as trees. */
export type GroupForest = Plain<z.infer<typeof groupForestSchema>>
