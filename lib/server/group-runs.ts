/**
 * Groups of rollouts that are running, and those that ended a little while ago: the events of all samples as one numbered
 * stream, for browsers open six connections at most. Each sample is a run like any other (runs.ts).
 */
import type { RolloutEvent } from '#lib/core/events.ts'
import type { GroupLine } from '#lib/core/group-line.ts'
import type { Scored } from '#lib/core/reward/score.ts'
import { createEventLog, type EventLog } from './event-log.ts'
import { Problem } from './problem.ts'
import { KEPT_MS, type Run, type Runs, type StartOptions } from './runs.ts'

export interface GroupRuns {
  /** `scored`: what a sample’s rule has found, known when it ends. */
  start(
    groupId: string,
    samples: readonly StartOptions[],
    scored: (sample: number) => Scored | undefined,
  ): readonly Run[]
  /** Lines from number `from` on, until all samples have ended. Who follows the group follows each sample. Throws Problem 404. */
  follow(groupId: string, from: number, signal: AbortSignal): AsyncIterable<GroupLine>
  /** Whether one of its samples, as they began with it, has not ended. */
  isRunning(groupId: string): boolean
  /** Throws Problem 404. Resolves when all samples have ended. */
  cancel(groupId: string): Promise<void>
}

interface Entry {
  readonly log: EventLog<GroupLine>
  /** Ids of its rollouts that have not ended. */
  readonly running: ReadonlySet<string>
}

export function createGroupRuns(runs: Runs): GroupRuns {
  const entries = new Map<string, Entry>()
  const find = (groupId: string): Entry => {
    const entry = entries.get(groupId)
    if (!entry)
      throw new Problem({
        status: 404,
        code: 'NO_GROUP',
        detail: 'there is no such group, or it ended some time ago',
        hint: 'Its trajectories are stored: open those.',
      })
    return entry
  }
  return {
    start(groupId, samples, scored) {
      const log = createEventLog<GroupLine>()
      const running = new Set<string>()
      const started = samples.map((options, sample) => {
        running.add(options.rolloutId)
        const told = (event: RolloutEvent) => {
          const found = event.type === 'ended' ? scored(sample) : undefined
          log.add({ sample, event, ...(found && { scored: found }) })
          if (event.type !== 'ended') return
          running.delete(options.rolloutId)
          if (running.size > 0) return
          log.end()
          setTimeout(() => entries.delete(groupId), KEPT_MS).unref()
        }
        return runs.start({ ...options, told })
      })
      entries.set(groupId, { log, running })
      return started
    },
    follow: (groupId, from, signal) => follow(find(groupId), runs, from, signal),
    isRunning: (groupId) => (entries.get(groupId)?.running.size ?? 0) > 0,
    async cancel(groupId) {
      await Promise.all([...find(groupId).running].map((rolloutId) => runs.cancel(rolloutId)))
    },
  }
}

async function* follow(
  { log, running }: Entry,
  runs: Runs,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<GroupLine> {
  const leaves = [...running].map((rolloutId) => runs.attend(rolloutId))
  try {
    yield* log.follow(from, signal)
  } finally {
    for (const leave of leaves) leave()
  }
}
