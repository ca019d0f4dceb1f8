/** Samples of one prompt, which run at once on a shared prefix. */
import { randomUUID } from 'node:crypto'
import * as z from 'zod/mini'
import type { Group, GroupStarted } from '#lib/api/group.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type RewardRule, rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { createGroupScheduler } from './group-scheduler.ts'
import { rewardGroup } from './rewards.ts'
import { beginning, type RolloutRequest, rolloutRequestSchema, UNWATCHED } from './rollouts.ts'
import { runOptions } from './run-options.ts'

const MOST_SAMPLES = 64

/** Schema of the body of a request to start a group. */
export const groupRequestSchema = rolloutRequestSchema.safeExtend({
  samples: withDescription(
    z.int().check(z.minimum(1), z.maximum(MOST_SAMPLES)),
    'Number of samples. With a sampling_seed, sample i gets the seed + i.',
  ),
  reward: withDescription(z.exactOptional(rewardRuleSchema), 'The rule that scores the answers. Omitted: no rewards.'),
  detached: withDescription(
    z.exactOptional(z.literal(true)),
    `A group always continues after the connection is closed. ${UNWATCHED}`,
  ),
})
/** The body of a request to start a group, after its check. */
export type GroupRequest = z.infer<typeof groupRequestSchema>

/** Schema of a change of a group's reward rule. */
export const rewardChangeSchema = z.strictObject({
  reward: withDescription(
    z.nullable(rewardRuleSchema),
    'The new rule. null removes the rule and its rewards. Rewards set by hand are kept.',
  ),
})

/** Starts all samples of a group, or none. Throws HttpProblem, and every error of a single rollout. */
export async function startGroup(request: GroupRequest, all: Services, signal: AbortSignal): Promise<GroupStarted> {
  const { samples, reward, ...each } = request
  const { trajectory, using } = await beginning({ ...each, detached: true }, all, signal)
  const together = createGroupScheduler(await runsAtOnce(using.serverName, all, signal))
  const groupId = randomUUID()
  const prepared = Array.from({ length: samples }, (_, index) => {
    const sample: Trajectory = { ...trajectory, id: randomUUID(), group: { id: groupId, index } }
    return { sample, options: runOptions(sample, { ...using, request: withSeed(using.request, index), together }, all) }
  })
  all.store.setGroupRule(groupId, reward)
  // All samples are stored or none, because a trajectory that is stored as running must have a run.
  const keys = all.store.addAll(
    prepared.map(({ sample }) => sample),
    { runsHere: true },
  )
  const options = prepared.map(({ options }, index) => options(elementAt(keys, index)))
  const started = all.groups.start(groupId, options, (index) => scoredOf(options[index]?.key, groupId, all))
  return { groupId, samples: started.map(({ rolloutId, key }) => ({ rolloutId, trajectoryId: key })) }
}

/** Returns a group, and counts as a look at its samples, which extends their time. Throws HttpProblem 404. */
export function groupNamed(groupId: string, { store, groups, runs }: Services): Group {
  const samples = store.groupRows(groupId)
  if (samples.length === 0)
    throw new HttpProblem({ status: 404, code: 'NO_GROUP', detail: `there is no group ${groupId.slice(0, 80)}` })
  for (const { key } of samples) runs.lookedAt(key)
  return { groupId, reward: store.groupRule(groupId) ?? null, isRunning: groups.isRunning(groupId), samples }
}

/** Replaces the rule and rewards the ended samples again. Throws HttpProblem 404. */
export async function changeReward(groupId: string, rule: RewardRule | null, all: Services): Promise<Group> {
  groupNamed(groupId, all)
  await rewardGroup(groupId, rule ?? undefined, all.store)
  return groupNamed(groupId, all)
}

/** Returns how many requests the server runs at once; undefined if it does not report that. The group then discovers it. */
async function runsAtOnce(serverName: string, { servers }: Services, signal: AbortSignal): Promise<number | undefined> {
  try {
    const load = await servers.client(serverName).load(signal)
    return load?.maxRunning !== undefined && load.maxRunning > 0 ? load.maxRunning : undefined
  } catch (error) {
    if (error instanceof EngineError) return undefined
    throw error
  }
}

/** Returns the request with the sample's own seed, because the same seed would give the same sample. */
function withSeed<T extends Pick<RolloutRequest, 'sampling'>>(request: T, index: number): T {
  const seed = request.sampling?.sampling_seed
  return typeof seed === 'number'
    ? { ...request, sampling: { ...request.sampling, sampling_seed: seed + index } }
    : request
}

function scoredOf(key: string | undefined, groupId: string, { store }: Services) {
  const row = store.groupRows(groupId).find((sample) => sample.key === key)
  return row && row.rewardWhy !== null ? { reward: row.reward, why: row.rewardWhy } : undefined
}
