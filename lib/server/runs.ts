/**
 * Rollouts that are running, and those that ended a little while ago: each is one numbered stream of events that any
 * number of readers may follow from any number on. Every closed segment is stored before a reader hears of it.
 */
import type { LiveTrajectory, RolloutEvent } from '#lib/core/events.ts'
import { createFold } from '#lib/core/fold.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { Problem } from './problem.ts'

export interface Run {
  readonly rolloutId: string
  /** The key under which the trajectory is stored. */
  readonly key: string
}

export interface Runs {
  /** Throws Problem 409 when a rollout on this trajectory is running. */
  start(options: StartOptions): Run
  /** Events from number `from` on, until the rollout has ended. Throws Problem 404. */
  follow(rolloutId: string, from: number, signal: AbortSignal): AsyncIterable<RolloutEvent>
  /** Throws Problem 404. Resolves when the rollout has ended. */
  cancel(rolloutId: string): Promise<void>
  /** Ends all, for a shutdown. */
  cancelAll(): Promise<void>
}

interface StartOptions {
  readonly rolloutId: string
  readonly key: string
  /** Cancelled when nobody has followed it for a while; undefined: only its owner's signal ends it. */
  readonly detached: boolean
  readonly events: (signal: AbortSignal) => AsyncIterable<RolloutEvent>
  readonly save: (trajectory: Trajectory, from: number) => void
}

interface Entry extends Run {
  readonly events: RolloutEvent[]
  readonly controller: AbortController
  done: Promise<void>
  ended: boolean
  readers: number
  wake: Set<() => void>
  abandoned: ReturnType<typeof setTimeout> | undefined
}

/** Without a reader a detached rollout goes on this long: a reload, a lost tunnel. */
const ABANDONED_MS = 60_000
/** Ended rollouts can be read again this long; after it the stored trajectory says all. */
const KEPT_MS = 10 * 60_000

export function createRuns(): Runs {
  const entries = new Map<string, Entry>()
  const find = (rolloutId: string): Entry => {
    const entry = entries.get(rolloutId)
    if (!entry)
      throw new Problem({
        status: 404,
        code: 'NO_ROLLOUT',
        detail: 'there is no such rollout, or it ended some time ago',
        hint: 'Its trajectory is stored: open that.',
      })
    return entry
  }
  return {
    start(options) {
      if ([...entries.values()].some(({ key, ended }) => key === options.key && !ended))
        throw new Problem({
          status: 409,
          code: 'RUNNING',
          detail: 'a rollout on this trajectory is running',
          hint: 'Wait for it, or stop it.',
        })
      const controller = new AbortController()
      const entry: Entry = {
        rolloutId: options.rolloutId,
        key: options.key,
        events: [],
        controller,
        done: Promise.resolve(),
        ended: false,
        readers: 0,
        wake: new Set(),
        abandoned: undefined,
      }
      entries.set(options.rolloutId, entry)
      entry.done = drive(entry, options).finally(() => {
        setTimeout(() => entries.delete(options.rolloutId), KEPT_MS).unref()
      })
      if (options.detached) watchAbandonment(entry)
      return { rolloutId: options.rolloutId, key: options.key }
    },
    follow: (rolloutId, from, signal) => follow(find(rolloutId), from, signal),
    async cancel(rolloutId) {
      const entry = find(rolloutId)
      entry.controller.abort()
      await entry.done
    },
    async cancelAll() {
      for (const { controller } of entries.values()) controller.abort()
      await Promise.all([...entries.values()].map(({ done }) => done))
    },
  }
}

/** Never rejects: whatever breaks, its readers hear of an end. */
async function drive(entry: Entry, { events, save }: StartOptions): Promise<void> {
  const fold = createFold()
  const store = (event: RolloutEvent) => {
    fold.add(event)
    if (event.type === 'tokens' || !fold.trajectory) return
    const changed = firstChange(fold.trajectory, event)
    if (changed !== undefined) save(recordOf(fold.trajectory), changed)
  }
  try {
    for await (const event of events(entry.controller.signal)) {
      store(event)
      publish(entry, event)
    }
  } catch (error) {
    console.error('a rollout broke:', error)
    const event: RolloutEvent = {
      type: 'ended',
      outcome: {
        kind: 'failed',
        code: 'INTERNAL',
        message: 'Rollscope itself failed; its log says more. What was recorded is kept.',
      },
    }
    publish(entry, event)
    try {
      if (fold.trajectory) store(event)
    } catch (again) {
      console.error('its end could not be stored:', again)
    }
  } finally {
    entry.ended = true
    clearTimeout(entry.abandoned)
    for (const wake of entry.wake) wake()
  }
}

/** The first segment that an event changed in the record; undefined when it changed nothing that is stored. */
function firstChange(trajectory: Trajectory, event: RolloutEvent): number | undefined {
  switch (event.type) {
    case 'started':
    case 'ended':
      return trajectory.segments.length
    case 'segment':
      return trajectory.segments.length - 1
    case 'tool-ended':
      return trajectory.segments.findIndex(
        (segment) => segment.kind === 'response' && segment.toolCalls.some(({ id }) => id === event.callId),
      )
    default:
      return undefined
  }
}

function recordOf({ live: _, ...record }: LiveTrajectory): Trajectory {
  return record
}

function publish(entry: Entry, event: RolloutEvent): void {
  entry.events.push(event)
  for (const wake of entry.wake) wake()
}

async function* follow(entry: Entry, from: number, signal: AbortSignal): AsyncGenerator<RolloutEvent> {
  entry.readers++
  clearTimeout(entry.abandoned)
  try {
    for (let next = from; ; ) {
      while (next < entry.events.length && !signal.aborted) yield entry.events[next++] as RolloutEvent
      if (entry.ended || signal.aborted) return
      await woken(entry, signal)
    }
  } finally {
    entry.readers--
    watchAbandonment(entry)
  }
}

function woken(entry: Entry, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      entry.wake.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    entry.wake.add(wake)
    signal.addEventListener('abort', wake)
  })
}

function watchAbandonment(entry: Entry): void {
  if (entry.readers > 0 || entry.ended) return
  clearTimeout(entry.abandoned)
  entry.abandoned = setTimeout(() => entry.controller.abort(), ABANDONED_MS)
  entry.abandoned.unref()
}
