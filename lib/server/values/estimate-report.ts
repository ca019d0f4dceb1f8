/** Reports a value estimate: what its samples so far show. */
import { setImmediate } from 'node:timers/promises'
import { isTruncated } from '#lib/analysis/group/truncation.ts'
import { CONFIDENCE_LEVEL, valueCurve } from '#lib/analysis/value/curve.ts'
import { type Resample, resampleSpread } from '#lib/analysis/value/resamples.ts'
import type { ValueEstimate } from '#lib/api/forest/value.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { estimateGroupId, type StoredEstimate } from '#lib/store/estimates.ts'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { answerOf } from '#lib/trajectory/reward/score.ts'
import { isTrained, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { noTrajectory, readableTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { hasEnded, type PlannedSample, plannedSamples, planOf, type ValuePlan } from './plan.ts'

/** Returns what the samples of an estimate show, also of a deleted trajectory. Throws HttpProblem 404 if it is purged. */
export async function reportEstimate(
  { id, key, createdAt, state, failure, plan: text }: StoredEstimate,
  all: Services,
): Promise<ValueEstimate> {
  const plan = planOf({ plan: text })
  const slots = plannedSamples(id, plan, all)
  const ended = slots.filter(isEnded)
  const samples = Map.groupBy(ended, ({ position }) => position)
  const before = countsBeforePositions(id, key, plan, all)
  const rewardsAt = (position: number) => (samples.get(position) ?? []).flatMap(({ row }) => row.reward ?? [])
  const isComplete = state === 'done' && ended.length + slots.filter(hasFailed).length === slots.length
  const { means, cliff, reading } = valueCurve(
    plan.positions.map((at, position) => ({ at, rewards: rewardsAt(position) })),
    isComplete,
  )
  const points: ValueEstimate['points'][number][] = []
  for (const [position, at] of plan.positions.entries()) {
    const own = slots.filter((slot) => slot.position === position)
    const resamples: Resample[] = []
    for (const { row } of samples.get(position) ?? [])
      resamples.push({ ...counts(row, elementAt(before, position)), answer: await answerIn(row, all) })
    points.push({
      at,
      keys: own.flatMap(({ row }) => (row ? [row.key] : [])),
      groupId: estimateGroupId(id, position),
      rewarded: rewardsAt(position).length,
      truncated: own.filter(({ row }) => row && isTruncated(row)).length,
      failed: own.filter(hasFailed).length,
      value: elementAt(means, position),
      spread: resampleSpread(resamples),
    })
  }
  return {
    id,
    key,
    createdAt,
    state,
    failure,
    n: plan.n,
    range: plan.range,
    reward: plan.reward,
    server: plan.settings.server ?? null,
    cost: { positions: plan.positions, resamples: slots.length, tokens: plan.tokens },
    progress: {
      ended: ended.length,
      resamples: slots.length,
      sampledTokens: slots.reduce(
        (sum, { row, position }) => sum + (row ? counts(row, elementAt(before, position)).sampledTokens : 0),
        0,
      ),
    },
    points,
    confidence: { level: CONFIDENCE_LEVEL, correction: 'bonferroni', intervals: plan.positions.length },
    cliff,
    reading,
  }
}

const isEnded = (slot: PlannedSample): slot is PlannedSample & { readonly row: TrajectorySummary } =>
  slot.row !== undefined && hasEnded(slot.row)

const hasFailed = ({ row }: PlannedSample): boolean => row?.outcomeKind === 'failed'

/** Counts of the tokens before a position, which all samples share. */
interface SharedCounts {
  readonly trained: number
  readonly toolCalls: number
  readonly failedCalls: number
}

/** Largest number of positions whose counts are kept: a page polls its estimate while it runs, and reading a long trajectory takes long. */
const MOST_KEPT_POSITIONS = 10_000

const countsOf = memoizeByIdentity((_: TrajectoryStore) => createMemory<readonly SharedCounts[]>(MOST_KEPT_POSITIONS))

/** Returns the counts before each position of a plan. The trajectory is read again only when it has changed. */
function countsBeforePositions(
  id: string,
  key: string,
  { positions }: ValuePlan,
  all: Services,
): readonly SharedCounts[] {
  const memory = countsOf(all.store)
  const name = `${all.store.revision(key)} ${id}`
  const known = memory.get(name)
  if (known) return known
  const parent = all.store.getWithDeleted(key)
  if (!parent) throw noTrajectory(key, all.store)
  const counts = positions.map((at) => countsBefore(parent, at))
  memory.set(name, counts, counts.length)
  return counts
}

function countsBefore(parent: Trajectory, at: number): SharedCounts {
  const starts = segmentStarts(parent)
  const sum = { trained: 0, toolCalls: 0, failedCalls: 0 }
  for (const [index, segment] of parent.segments.entries()) {
    const inside = at - elementAt(starts, index)
    if (inside <= 0 || segment.kind !== 'response') continue
    for (let token = 0; token < Math.min(inside, segment.ids.length); token++)
      if (isTrained(segment, token)) sum.trained++
    const calls = segment.toolCalls.filter(({ span }) => span.end <= inside)
    sum.toolCalls += calls.length
    sum.failedCalls += calls.filter(isFailed).length
  }
  return sum
}

const isFailed = (call: ToolCall): boolean =>
  call.kind === 'malformed' || (call.result !== undefined && call.result.status !== 'success')

function counts(row: TrajectorySummary, before: SharedCounts): Omit<Resample, 'answer'> {
  const after = (total: number, shared: number) => Math.max(0, total - shared)
  return {
    reward: row.reward,
    sampledTokens: after(row.trained, before.trained),
    toolCalls: after(row.toolCalls ?? 0, before.toolCalls),
    failedCalls: after(row.failedCalls ?? 0, before.failedCalls),
  }
}

/** Returns the final answer of a sample that has ended. Reading many samples takes long, so other requests run in between. */
async function answerIn({ key, tokens }: TrajectorySummary, { estimates, store }: Services): Promise<string | null> {
  const name = `${key} ${tokens}`
  const known = estimates.answers.get(name)
  if (known !== undefined) return known
  const trajectory = readableTrajectory(key, store)
  const answer = (trajectory && answerOf(trajectory)) ?? null
  estimates.answers.set(name, answer, name.length + (answer?.length ?? 0))
  await setImmediate()
  return answer
}
