/** Samples what is missing of a value estimate: ordinary branches, a limited number at once. */
import { randomUUID } from 'node:crypto'
import { type EstimateFailure, estimateGroupId, type StoredEstimate } from '#lib/store/estimates.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type PreparedBranch, prepareBranch, withEnd } from '../branches/branches.ts'
import { foreseenProblem } from '../http/foreseen-problem.ts'
import type { GroupScheduler } from '../runs/group-scheduler.ts'
import { groupScheduler, preparedSample } from '../runs/groups.ts'
import { rewardRun } from '../runs/rewards.ts'
import type { Services } from '../services.ts'
import { CANCELLED } from './estimate-jobs.ts'
import { missingSamples, type PlannedSample, planOf, type ValuePlan } from './plan.ts'

/** Samples that run at once. The server may run fewer: then their calls take turns. */
export const SAMPLES_AT_ONCE = 16
/** An estimate ends after this many failures without a sample that ended between them: the server is most likely gone. */
const MOST_FAILURES = 3

/** Starts the work of an estimate that this instance has claimed. */
export function startSampling(estimate: StoredEstimate, all: Services): void {
  const { id } = estimate
  all.estimates.start(id, async (signal) => {
    try {
      await sampleMissing(estimate, all, signal)
      all.store.endEstimate(id, 'done')
    } catch (error) {
      try {
        if (!signal.aborted) all.store.endEstimate(id, 'failed', failureOf(error))
        else if (signal.reason === CANCELLED) all.store.endEstimate(id, 'cancelled')
      } catch (storeError) {
        console.error('the end of a value estimate could not be stored:', storeError)
      }
    }
  })
}

/** Ends an estimate with a reason. */
class EstimateError extends Error {
  readonly failure: EstimateFailure
  constructor(failure: EstimateFailure) {
    super(failure.message)
    this.failure = failure
  }
}

function failureOf(error: unknown): EstimateFailure {
  if (error instanceof EstimateError) return error.failure
  const problem = foreseenProblem(error)
  if (problem) return { code: problem.code, message: problem.detail }
  console.error('a value estimate broke:', error)
  return { code: 'INTERNAL', message: 'Rollscope itself failed: see its log' }
}

/** Samples every place of the plan that has no sample which ended. Rejects if the signal aborts or if the samples fail. */
async function sampleMissing(estimate: StoredEstimate, all: Services, cancelled: AbortSignal): Promise<void> {
  const plan = planOf(estimate)
  const broken = new AbortController()
  const signal = AbortSignal.any([cancelled, broken.signal])
  const missing = missingSamples(estimate.id, plan, all)
  const prepare = createPreparation(estimate, plan, all, signal)
  let failures = 0
  let next = 0
  const work = async () => {
    for (let slot = missing[next++]; slot; slot = missing[next++]) {
      signal.throwIfAborted()
      const failure = await sampleSlot(slot, estimate.id, plan, await prepare(slot.position), all, signal)
      failures = failure ? failures + 1 : 0
      if (failure && failures >= MOST_FAILURES) throw new EstimateError(failure)
    }
  }
  const workers = Array.from({ length: Math.min(SAMPLES_AT_ONCE, missing.length) }, () =>
    work().catch((error: unknown) => {
      broken.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(workers)
  signal.throwIfAborted()
}

interface Prepared extends PreparedBranch {
  readonly scheduler: GroupScheduler
}

/** Returns a function that prepares the branch at a position once. All positions share the calls of the server. */
function createPreparation(
  { id, key }: StoredEstimate,
  plan: ValuePlan,
  all: Services,
  signal: AbortSignal,
): (position: number) => Promise<Prepared> {
  const prepared = new Map<number, Promise<Prepared>>()
  let scheduler: Promise<GroupScheduler> | undefined
  const prepare = async (position: number): Promise<Prepared> => {
    const request = { ...plan.settings, at: elementAt(plan.positions, position) }
    const branch = await prepareBranch(key, request, all, signal)
    scheduler ??= groupScheduler(branch.using.serverName, all, signal)
    all.store.setGroupRule(estimateGroupId(id, position), plan.reward)
    return { ...branch, scheduler: await scheduler }
  }
  return (position) => {
    const known = prepared.get(position) ?? prepare(position)
    prepared.set(position, known)
    // The places are sampled in the order of their positions.
    prepared.delete(position - 2)
    return known
  }
}

/**
 * Runs one sample to its end, in place of those that were stopped, interrupted or failed. Returns why it failed; undefined if it did
 * not.
 */
async function sampleSlot(
  { position, sample, replaced }: PlannedSample,
  estimateId: string,
  { n }: ValuePlan,
  { trajectory, using, end, scheduler }: Prepared,
  all: Services,
  signal: AbortSignal,
): Promise<EstimateFailure | undefined> {
  const beginning = {
    ...trajectory,
    createdAt: new Date().toISOString(),
    group: { id: estimateGroupId(estimateId, position), index: sample },
  }
  const store = (record: Trajectory, origin?: { readonly runsHere: boolean }): Promise<string> =>
    all.store.groupCommit(() => {
      for (const { key } of replaced) all.store.remove(key)
      return all.store.add(record, origin)
    })
  if (end) {
    const ended = withEnd({ ...beginning, id: randomUUID() }, end)
    const key = await store(ended)
    rewardRun(key, ended, all.store)
    return undefined
  }
  // With a seed, the same one would repeat the trajectory itself, and make positions alike that are compared.
  const seedOffset = 1 + position * n + sample
  const settings = { ...using, scheduler, request: { ...using.request, detached: false } }
  const { sample: record, options } = preparedSample(beginning, settings, seedOffset, all)
  const key = await store(record, { runsHere: true })
  const { rolloutId } = all.runs.start(options(key))
  const stop = () => void all.runs.cancel(rolloutId).catch(() => {})
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    for await (const _ of all.runs.follow(rolloutId, 0, NEVER));
  } finally {
    signal.removeEventListener('abort', stop)
  }
  const outcome = all.store.row(key)?.outcomeKind === 'failed' ? all.store.get(key)?.outcome : undefined
  return outcome?.kind === 'failed' ? { code: outcome.code, message: outcome.message } : undefined
}

/** A sample is followed to its end, also after it was stopped. */
const NEVER = new AbortController().signal
