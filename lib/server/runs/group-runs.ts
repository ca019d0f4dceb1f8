/**
 * Groups of rollouts that run, or that ended a short time ago. The events of all samples are one numbered stream, because browsers open six
 * connections at most. Each sample is an ordinary run (runs.ts).
 */

import type { GroupLine } from '#lib/api/group-line.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { RewardWithReason } from '#lib/trajectory/reward/score.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { HttpProblem } from '../http/problem.ts'
import { createEventLog, type EventLog, type Until } from './event-log.ts'
import { KEPT_BYTES, LINE_BYTES, type Run, type Runs, type StartOptions } from './runs.ts'

/** Access to the groups of this process. */
export interface GroupRuns {
  /** Starts the samples. `scored` returns the result of a sample's rule, which is known when the sample ends. */
  start(
    groupId: string,
    samples: readonly StartOptions[],
    scored: (sample: number) => RewardWithReason | undefined,
  ): readonly Run[]
  /**
   * Yields lines from number `from` on until all samples have ended, or only the lines so far; each is a GroupLine as JSON. A reader of the
   * group counts as a reader of each sample. Throws HttpProblem 404.
   */
  follow(groupId: string, from: number, signal: AbortSignal, until?: Until): AsyncIterable<Uint8Array>
  /** Returns whether a sample of the group that started with it has not ended. */
  isRunning(groupId: string): boolean
  /** Stops all samples and resolves when they have ended. Rejects with HttpProblem 404. */
  cancel(groupId: string): Promise<void>
}

/** A GroupLine whose event is the same line as in the log of its sample. */
interface Logged extends Pick<GroupLine, 'sample' | 'scored'> {
  readonly event: Uint8Array
}

interface Entry {
  readonly log: EventLog<Logged>
  /** Ids of the group's rollouts that have not ended. */
  readonly running: ReadonlySet<string>
}

/** Returns the groups of this process. `keptBytes` limits the events of ended groups that can be read again; the latest are kept. */
export function createGroupRuns(runs: Runs, keptBytes = KEPT_BYTES): GroupRuns {
  const active = new Map<string, Entry>()
  const ended = createMemory<Entry>(keptBytes)
  const find = (groupId: string): Entry => {
    const entry = active.get(groupId) ?? ended.get(groupId)
    if (!entry)
      throw new HttpProblem({
        status: 404,
        code: 'NO_GROUP',
        detail:
          'this group is not running here: it does not exist, it ended some time ago, or another instance of Rollscope runs it',
        hint: 'Trajectories of an ended group are in the library: open them there. Another instance on this data folder stops its groups itself.',
      })
    return entry
  }
  return {
    start(groupId, samples, scored) {
      const log = createEventLog<Logged>()
      const running = new Set<string>()
      const entry: Entry = { log, running }
      let bytes = 0
      active.set(groupId, entry)
      const started = samples.map((options, sample) => {
        running.add(options.rolloutId)
        const onEvent = (event: RolloutEvent, line: Uint8Array) => {
          const found = event.type === 'ended' ? scored(sample) : undefined
          log.add({ sample, event: line, ...(found && { scored: found }) })
          bytes += line.byteLength + LINE_BYTES
          if (event.type !== 'ended') return
          running.delete(options.rolloutId)
          if (running.size > 0) return
          log.end()
          active.delete(groupId)
          ended.set(groupId, entry, bytes)
        }
        return runs.start({ ...options, onEvent })
      })
      return started
    },
    follow: (groupId, from, signal, until) => follow(find(groupId), runs, from, signal, until),
    isRunning: (groupId) => active.has(groupId),
    async cancel(groupId) {
      await Promise.all([...find(groupId).running].map(runs.stop))
    },
  }
}

async function* follow(
  { log, running }: Entry,
  runs: Runs,
  from: number,
  signal: AbortSignal,
  until: Until | undefined,
): AsyncGenerator<Uint8Array> {
  const leaves = [...running].map((rolloutId) => runs.attend(rolloutId, until))
  try {
    for await (const logged of log.follow(from, signal, until)) yield encodeLogged(logged)
  } finally {
    for (const leave of leaves) leave()
  }
}

/** Returns the line of JSON. It contains the line of the sample, which is stored only once. */
function encodeLogged({ sample, event, scored }: Logged): Uint8Array {
  return Buffer.concat([
    Buffer.from(`{"sample":${sample},"event":`),
    event.subarray(0, -1),
    Buffer.from(scored ? `,"scored":${JSON.stringify(scored)}}\n` : '}\n'),
  ])
}
