/** Samples of one prompt, which run at once on a shared prefix. */
import { randomUUID } from 'node:crypto'
import * as z from 'zod/mini'
import type { Group, GroupStarted, ServerRefusal } from '#lib/api/group.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type RewardRule, rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { foreseenProblem } from '../http/foreseen-problem.ts'
import { HttpProblem, type ProblemDetails } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { createGroupScheduler, type GroupScheduler } from './group-scheduler.ts'
import { rewardGroup } from './rewards.ts'
import { prepareRollout, type RolloutRequest, rolloutRequestSchema, UNWATCHED } from './rollouts.ts'
import { type RunConfiguration, runOptions } from './run-options.ts'
import type { Run } from './runs.ts'

const MOST_SAMPLES = 64

/** Schema of the body of a request to start a group. */
export const groupRequestSchema = rolloutRequestSchema
  .safeExtend({
    samples: withDescription(
      z.exactOptional(z.int().check(z.minimum(1), z.maximum(MOST_SAMPLES))),
      'Number of samples, on each of the `servers`. With a sampling_seed, sample i gets the seed + i. Default 1.',
    ),
    servers: withDescription(
      z.exactOptional(z.array(z.string()).check(z.minLength(1))),
      'Names of the saved servers that run the same setup side by side. What a server cannot take is refused for this server alone. Not with `server`.',
    ),
    reward: withDescription(
      z.exactOptional(rewardRuleSchema),
      'The rule that scores the answers. Omitted: no rewards.',
    ),
    detached: withDescription(
      z.exactOptional(z.literal(true)),
      `A group always continues after the connection is closed. ${UNWATCHED}`,
    ),
  })
  .check(
    z.refine(({ server, servers }) => server === undefined || servers === undefined, {
      message: 'either "server" or "servers"',
    }),
    z.superRefine(({ servers = [] }, context) => {
      for (const [index, name] of servers.entries())
        if (servers.indexOf(name) < index)
          context.addIssue({
            code: 'custom',
            message: `each server once: ${JSON.stringify(name)} is there twice`,
            path: ['servers', index],
          })
    }),
    z.refine(({ samples = 1, servers = [''] }) => samples * servers.length <= MOST_SAMPLES, {
      message: `at most ${MOST_SAMPLES} samples on all "servers" together`,
    }),
  )
/** The body of a request to start a group, after its check. */
export type GroupRequest = z.infer<typeof groupRequestSchema>

/** Schema of a change of a group's reward rule. */
export const rewardChangeSchema = z.strictObject({
  reward: withDescription(
    z.nullable(rewardRuleSchema),
    'The new rule. null removes the rule and its rewards. Rewards set by hand are kept.',
  ),
})

/** What one server runs of a group. */
interface ServerPart {
  /** Undefined if the request names no servers. */
  readonly server: string | undefined
  readonly trajectory: Trajectory
  readonly using: RunConfiguration
}

/**
 * Starts all samples of a group, or none. With several servers, those that refuse the request run nothing and are returned with the
 * reason. Throws HttpProblem, and every error of a single rollout.
 */
export async function startGroup(request: GroupRequest, all: Services, signal: AbortSignal): Promise<GroupStarted> {
  const { samples = 1, reward, servers, ...each } = request
  const { parts, refused } =
    servers === undefined
      ? { parts: [{ server: undefined, ...(await partOf(each, all, signal)) }], refused: [] }
      : await partsOf(servers, each, all, signal)
  const groupId = randomUUID()
  const prepared = parts.flatMap(({ server, trajectory, using }, place) =>
    Array.from({ length: samples }, (_, index) => {
      const group = { id: groupId, index: place * samples + index, ...(server !== undefined && { server }) }
      return preparedSample({ ...trajectory, group }, using, index, all)
    }),
  )
  const started = await startPrepared(groupId, prepared, { reward, refused }, all)
  return {
    groupId,
    samples: started.map(({ rolloutId, key }, index) => {
      const server = prepared[index]?.sample.group?.server
      return { rolloutId, trajectoryId: key, ...(server !== undefined && { server }) }
    }),
    ...(refused.length > 0 && { refused }),
  }
}

/** A sample of a group that is ready to run. */
export interface PreparedSample {
  readonly sample: Trajectory
  readonly options: ReturnType<typeof runOptions>
}

/** Prepares a sample of a group, with an id of its own. `index` is added to the seed, because the same seed would give the same sample. */
export function preparedSample(
  trajectory: Trajectory,
  using: RunConfiguration,
  index: number,
  all: Services,
): PreparedSample {
  const sample = { ...trajectory, id: randomUUID() }
  return { sample, options: runOptions(sample, { ...using, request: withSeed(using.request, index) }, all) }
}

/** Stores and starts the samples of a group. All are stored or none, because a trajectory that is stored as running must have a run. */
export async function startPrepared(
  groupId: string,
  prepared: readonly PreparedSample[],
  { reward, refused = [] }: { readonly reward: RewardRule | undefined; readonly refused?: readonly ServerRefusal[] },
  all: Services,
): Promise<readonly Run[]> {
  const keys = await all.store.groupCommit(() => {
    all.store.setGroupRule(groupId, reward)
    all.store.setGroupStart(groupId, { samples: prepared.length, refused })
    return all.store.addAll(
      prepared.map(({ sample }) => sample),
      { runsHere: true },
    )
  })
  const options = prepared.map(({ options }, index) => options(elementAt(keys, index)))
  return all.groups.start(groupId, options, (index) => scoredOf(options[index]?.key, groupId, all))
}

/** Prepares what one server runs. The calls of its samples take turns. */
async function partOf(
  request: RolloutRequest,
  all: Services,
  signal: AbortSignal,
): Promise<Omit<ServerPart, 'server'>> {
  const { trajectory, using } = await prepareRollout({ ...request, detached: true }, all, signal)
  return {
    trajectory,
    using: { ...using, scheduler: await groupScheduler(using.serverName, all, signal) },
  }
}

/** Prepares what each server runs. Throws HttpProblem if a server does not exist, or if every server refuses the request. */
async function partsOf(
  servers: readonly string[],
  request: RolloutRequest,
  all: Services,
  signal: AbortSignal,
): Promise<{ readonly parts: readonly ServerPart[]; readonly refused: readonly ServerRefusal[] }> {
  // A name that does not exist is an error of the request, and no answer of a server.
  for (const server of servers) all.servers.client(server)
  const answers = await Promise.all(
    servers.map(async (server): Promise<ServerPart | ServerFailure> => {
      try {
        return { server, ...(await partOf({ ...request, server }, all, signal)) }
      } catch (error) {
        const problem = signal.aborted ? undefined : foreseenProblem(error)
        if (!problem) throw error
        return { server, problem, error }
      }
    }),
  )
  const parts = answers.flatMap((answer) => ('problem' in answer ? [] : [answer]))
  const failures = answers.flatMap((answer) => ('problem' in answer ? [answer] : []))
  const [first] = failures
  if (first && parts.length === 0) throw allRefused(first, failures)
  return {
    parts,
    refused: failures.map(({ server, problem: { code, detail, hint, field } }) => ({
      server,
      code,
      detail,
      ...(hint !== undefined && { hint }),
      ...(field !== undefined && { field }),
    })),
  }
}

interface ServerFailure {
  readonly server: string
  readonly problem: ProblemDetails
  readonly error: unknown
}

/** Returns the error of a request that every server refuses: the one that all have, or one that names each. */
function allRefused(first: ServerFailure, failures: readonly ServerFailure[]): unknown {
  if (failures.every(({ problem }) => problem.detail === first.problem.detail)) return first.error
  return new HttpProblem({
    status: 422,
    code: 'NO_SERVER_RUNS',
    detail: failures.map(({ server, problem }) => `${server}: ${problem.detail}`).join('; '),
    hint: 'Change what the servers refuse, or choose other servers.',
    field: 'servers',
  })
}

/** Returns a group, and counts as a look at its samples, which extends their time. Throws HttpProblem 404. */
export function groupNamed(groupId: string, { store, groups, runs }: Services): Group {
  const samples = store.groupRows(groupId)
  if (samples.length === 0)
    throw new HttpProblem({
      status: 404,
      code: 'NO_GROUP',
      detail: `there is no group ${groupId.slice(0, 80)}`,
      hint: 'Its samples may be deleted, on another machine, or in another ROLLSCOPE_DATA folder. The library lists the groups that are stored here.',
    })
  for (const { key } of samples) runs.lookedAt(key)
  const start = store.groupStart(groupId)
  const deleted = start ? Math.max(0, start.samples - samples.length) : store.countDeletedSamples(groupId)
  return {
    groupId,
    reward: store.groupRule(groupId) ?? null,
    isRunning: groups.isRunning(groupId),
    samples,
    ...(deleted > 0 && { deleted }),
    ...(start && start.refused.length > 0 && { refused: start.refused }),
  }
}

/** Replaces the rule and rewards the ended samples again. Throws HttpProblem 404. */
export async function changeReward(groupId: string, rule: RewardRule | null, all: Services): Promise<Group> {
  groupNamed(groupId, all)
  await rewardGroup(groupId, rule ?? undefined, all.store)
  return groupNamed(groupId, all)
}

/** Returns the scheduler of a group on a server. */
export const groupScheduler = async (serverName: string, all: Services, signal: AbortSignal): Promise<GroupScheduler> =>
  createGroupScheduler(await runsAtOnce(serverName, all, signal))

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

/** Returns the request with the sample's own seed. */
function withSeed<T extends { readonly sampling?: SamplingRequest }>(request: T, index: number): T {
  const seed = request.sampling?.sampling_seed
  return typeof seed === 'number'
    ? { ...request, sampling: { ...request.sampling, sampling_seed: seed + index } }
    : request
}

function scoredOf(key: string | undefined, groupId: string, { store }: Services) {
  const row = store.groupRows(groupId).find((sample) => sample.key === key)
  return row && row.rewardWhy !== null ? { reward: row.reward, why: row.rewardWhy } : undefined
}
