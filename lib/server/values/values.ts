/** Value estimates: samples that continue a trajectory from chosen tokens, to find where its reward was lost. */
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { estimatedTokens } from '#lib/analysis/value/cost.ts'
import { choosePositions } from '#lib/analysis/value/positions.ts'
import {
  FEWEST_RESAMPLES,
  MOST_RESAMPLES,
  MOST_VALUE_TOKENS,
  USUAL_RESAMPLES,
  type ValueCost,
  type ValueDryRun,
  type ValueEstimate,
  type ValueEstimates,
  valueRangeSchema,
} from '#lib/api/forest/value.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { estimateOfGroup, type StoredEstimate } from '#lib/store/estimates.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type RewardRule, rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { ancestorsOf } from '../branches/ancestors.ts'
import { branchSettings, maxNewTokensIn, prepareBranch } from '../branches/branches.ts'
import { HttpProblem } from '../http/problem.ts'
import { endedTrajectory, noTrajectory, storedRow } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { reportEstimate } from './estimate-report.ts'
import { missingSamples, planOf, type ValuePlan } from './plan.ts'
import { startSampling } from './sample-missing.ts'

/** Schema of the body of a request for a value estimate. */
export const valueRequestSchema = z
  .strictObject({
    at: z
      .int()
      .min(0)
      .exactOptional()
      .describe('A single position: the index of a sampled token, which is sampled anew with all that follow it.'),
    range: z.exactOptional(valueRangeSchema),
    n: z
      .int()
      .min(FEWEST_RESAMPLES)
      .max(MOST_RESAMPLES)
      .exactOptional()
      .describe(
        `Samples at each position. With a sampling_seed, each sample of the estimate gets another seed. Default ${USUAL_RESAMPLES}.`,
      ),
    reward: withDescription(
      z.exactOptional(rewardRuleSchema),
      'The rule that scores the samples. Omitted: the one of the trajectory’s group, or of its latest estimate, or of a trajectory that it was forked from.',
    ),
    dryRun: z.boolean().exactOptional().describe('Only check the request and answer the cost. Default false.'),
    ...branchSettings,
    sampling: branchSettings.sampling.describe(
      'Sampling parameters. Omitted: those with which the response at each position was sampled. Greedy ones are refused, because all ' +
        'samples would be the same.',
    ),
  })
  .refine(({ at, range }) => (at === undefined) !== (range === undefined), {
    message: 'exactly one of "at" and "range"',
  })
/** The body of a request for a value estimate, after its check. */
export type ValueRequest = z.infer<typeof valueRequestSchema>

/** Estimates of a trajectory that are listed. */
const LISTED_ESTIMATES = 20

/** Starts an estimate, or only checks it. Throws HttpProblem, EngineError or TemplateError. */
export async function startValue(
  key: string,
  request: ValueRequest,
  all: Services,
  signal: AbortSignal,
): Promise<ValueEstimate | ValueDryRun> {
  const { at, range = { tokens: [at ?? 0] }, n = USUAL_RESAMPLES, reward: sent, dryRun, ...settings } = request
  const parent = endedTrajectory(key, all, 'Wait until it has ended, or stop it. Then estimate.')
  const field = at === undefined ? 'range' : 'at'
  const chosen = choosePositions(parent, range)
  if (!chosen.ok) throw new HttpProblem({ status: 422, ...chosen.why, field })
  const { positions } = chosen
  const cost = costOf(parent, positions, n, settings)
  if (cost.tokens > MOST_VALUE_TOKENS)
    throw new HttpProblem({
      status: 422,
      code: 'TOO_MANY_TOKENS',
      detail: `the estimate is expected to sample ${cost.tokens} tokens, and ${MOST_VALUE_TOKENS} are allowed`,
      hint: 'Choose fewer positions or samples, or a smaller sampling.max_new_tokens.',
      field,
    })
  // The first and the last position are checked before anything is stored; the others differ only in where they cut.
  for (const position of new Set([Math.min(...positions), Math.max(...positions)]))
    await checkPosition(key, position, settings, all, signal)
  const reward = sent ?? usualRule(storedRow(key, all), all)
  if (dryRun) return { cost, reward }
  if (!reward)
    throw new HttpProblem({
      status: 422,
      code: 'NO_REWARD_RULE',
      detail:
        'neither the trajectory’s group nor an earlier estimate has a reward rule, so its samples would have no rewards',
      hint: 'Send `reward`, for example {"kind": "number", "expected": 13}.',
      field: 'reward',
    })
  const plan: ValuePlan = { range, n, reward, positions: [...positions], tokens: cost.tokens, settings }
  const id = randomUUID()
  const row = { id, key, createdAt: new Date().toISOString(), plan: JSON.stringify(plan) }
  await all.store.groupCommit(() => all.store.addEstimate(row))
  const estimate = storedEstimate(id, all)
  startSampling(estimate, all)
  return reportEstimate(estimate, all)
}

function costOf(
  parent: Trajectory,
  positions: readonly number[],
  n: number,
  { sampling, limits }: Pick<ValueRequest, 'sampling' | 'limits'>,
): ValueCost {
  const limited = { maxNewTokens: maxNewTokensIn(sampling), maxTokens: limits?.maxTokens }
  return {
    positions,
    resamples: positions.length * n,
    tokens: estimatedTokens(parent, positions, n, limited),
  }
}

/** Checks that the trajectory can be sampled again at a position. Throws HttpProblem, EngineError or TemplateError. */
async function checkPosition(
  key: string,
  at: number,
  settings: ValuePlan['settings'],
  all: Services,
  signal: AbortSignal,
): Promise<void> {
  const { using } = await prepareBranch(key, { ...settings, at }, all, signal)
  const { temperature, top_k: topK } = using.request.sampling ?? {}
  if (temperature === 0 || topK === 1)
    throw new HttpProblem({
      status: 422,
      code: 'GREEDY',
      detail: `${temperature === 0 ? 'the temperature is 0' : 'top_k is 1'}, so all samples at a position would be the same`,
      hint: 'Send `sampling` with a temperature above 0, for example {"temperature": 1}.',
      field: 'sampling',
    })
}

/** Returns the rule of the trajectory's group, otherwise that of its latest estimate, otherwise one of those that it was forked from. */
function usualRule(row: TrajectorySummary, all: Services): RewardRule | null {
  for (const { key, group } of [row, ...ancestorsOf(row, all.store).map((ancestor) => ancestor.row)]) {
    const ofGroup = group && all.store.groupRule(group.id)
    if (ofGroup) return ofGroup
    const [latest] = all.store.estimatesOf(key, 1)
    if (latest) return planOf(latest).reward
  }
  return null
}

/** Lists the estimates of a trajectory. Throws HttpProblem 404. */
export function estimatesOf(key: string, all: Services): ValueEstimates {
  const row = storedRow(key, all)
  return {
    estimates: all.store.estimatesOf(key, LISTED_ESTIMATES).map((estimate) => {
      const { range, n, positions } = planOf(estimate)
      const { id, createdAt, state } = continued(estimate, all)
      return { id, createdAt, state, range, n, positions: positions.length }
    }),
    inherited: inheritedEstimates(row, all),
    reward: usualRule(row, all),
  }
}

/** Returns the finished estimates of the trajectories from which one was forked, with positions in the tokens that it shares. */
function inheritedEstimates(row: TrajectorySummary, all: Services): ValueEstimates['inherited'] {
  return ancestorsOf(row, all.store)
    .filter((ancestor) => ancestor.row.key !== row.key)
    .flatMap(({ row: { key, fork }, shared }) =>
      all.store.estimatesOf(key, LISTED_ESTIMATES).flatMap((estimate) => {
        const { id, createdAt, state } = estimate
        const { range, n, positions } = planOf(estimate)
        // The value at a position is that of the tokens before it, so the position after the last shared token counts too.
        const { length } = positions.filter((at) => at <= shared && at < row.tokens)
        if (state !== 'done' || length === 0) return []
        return [{ id, createdAt, state, range, n, key, fork: fork?.token ?? null, shared, positions: length }]
      }),
    )
    .slice(0, LISTED_ESTIMATES)
}

/** Returns an estimate with what its samples so far show. Throws HttpProblem 404. */
export async function estimateNamed(id: string, all: Services): Promise<ValueEstimate> {
  const estimate = continued(storedEstimate(id, all), all)
  return reportEstimate(estimate, all)
}

/** Stops an estimate, also one whose trajectory was deleted. The samples so far are kept. Throws HttpProblem. */
export async function cancelEstimate(id: string, all: Services): Promise<ValueEstimate> {
  const { state } = knownEstimate(id, all)
  if (all.estimates.isRunning(id)) await all.estimates.cancel(id)
  else if (state === 'running') {
    if (!all.store.claimEstimate(id)) throw runsElsewhere()
    all.store.endEstimate(id, 'cancelled')
  }
  return reportEstimate(knownEstimate(id, all), all)
}

/** Stops the samples of a group; those of an estimate are stopped with it. Throws HttpProblem 404. */
export async function cancelSamples(groupId: string, all: Services): Promise<void> {
  const id = estimateOfGroup(groupId)
  if (all.estimates.isRunning(id)) await all.estimates.cancel(id)
  else await all.groups.cancel(groupId)
}

/** Samples what is missing of an estimate. Throws HttpProblem, also if nothing is missing. */
export async function resumeEstimate(id: string, all: Services): Promise<ValueEstimate> {
  await all.estimates.untilStopped(id)
  const estimate = storedEstimate(id, all)
  if (!all.estimates.isRunning(id)) {
    endedTrajectory(estimate.key, all, 'Wait until it has ended, or stop it. Then resume the estimate.')
    const plan = planOf(estimate)
    if (estimate.state === 'done' && missingSamples(id, plan, all).length === 0) throw isComplete(plan)
    if (!all.store.claimEstimate(id)) throw runsElsewhere()
    startSampling(estimate, all)
  }
  return estimateNamed(id, all)
}

const isComplete = ({ positions, n }: ValuePlan): HttpProblem =>
  new HttpProblem({
    status: 409,
    code: 'COMPLETE',
    detail: `nothing is left to sample: all ${positions.length * n} samples of the estimate have ended`,
    hint: 'Start another estimate for more samples or other positions.',
  })

const runsElsewhere = (): HttpProblem =>
  new HttpProblem({
    status: 409,
    code: 'RUNNING_ELSEWHERE',
    detail: 'another instance of the application runs this estimate',
    hint: 'Use the window of that instance.',
  })

/** Continues all estimates of instances that have ended. */
export function continueAbandoned(all: Services): void {
  try {
    for (const estimate of all.store.abandonedEstimates()) continued(estimate, all)
  } catch (error) {
    console.error('value estimates could not be continued:', error)
  }
}

/** Returns an estimate after this instance has continued it, if its own has ended. */
function continued(estimate: StoredEstimate, all: Services): StoredEstimate {
  const isAbandoned =
    estimate.state === 'running' && !all.estimates.isRunning(estimate.id) && all.store.claimEstimate(estimate.id)
  if (isAbandoned) startSampling(estimate, all)
  return estimate
}

/** Returns an estimate whose trajectory is not deleted. Throws HttpProblem 404. */
function storedEstimate(id: string, all: Services): StoredEstimate {
  const estimate = knownEstimate(id, all)
  if (all.store.isDeleted(estimate.key)) throw noTrajectory(estimate.key, all.store)
  return estimate
}

/** Returns an estimate, also of a deleted trajectory. Throws HttpProblem 404. */
function knownEstimate(id: string, { store }: Services): StoredEstimate {
  const estimate = store.estimate(id)
  if (estimate) return estimate
  throw new HttpProblem({
    status: 404,
    code: 'NO_ESTIMATE',
    detail: `there is no value estimate ${id.slice(0, 80)}`,
    hint: 'GET /api/trajectories/{key}/value lists those of a trajectory.',
  })
}
