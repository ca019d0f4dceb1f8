/**
 * Rollouts that run, or that ended a short time ago. Each is a numbered stream of events that any number of readers follow from any number
 * on. Every closed segment is stored before a reader hears of it.
 */

import type { GroupCommit } from '#lib/store/group-commit.ts'
import { StoreError } from '#lib/store/store-error.ts'
import type { LiveTrajectory, RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { encodeLine } from '../http/ndjson.ts'
import { HttpProblem } from '../http/problem.ts'
import { createEventLog, type EventLog, type Until } from './event-log.ts'

/** A started rollout. */
export interface Run {
  readonly rolloutId: string
  /** Key under which the trajectory is stored. */
  readonly key: string
}

/** Access to the rollouts of this process. */
export interface Runs {
  /**
   * Starts a rollout. Throws HttpProblem 409 if a rollout on this trajectory runs, or if the end of the last one was stored only now, and
   * StoreError if that end still cannot be stored.
   */
  start(options: StartOptions): Run
  /**
   * Yields events from number `from` on, each as a line of JSON, until the rollout has ended, or only the events so far. Throws HttpProblem
   * 404.
   */
  follow(rolloutId: string, from: number, signal: AbortSignal, until?: Until): AsyncIterable<Uint8Array>
  /** Counts as a reader until the returned function is called. Throws HttpProblem 404. */
  attend(rolloutId: string, until?: Until): () => void
  /** Reports that somebody has looked at this trajectory, which restarts the time of a rollout without a reader. */
  lookedAt(key: string): void
  /** Stops a rollout and resolves when it has ended. Rejects with HttpProblem 404. */
  cancel(rolloutId: string): Promise<void>
  /** Does the same for its owner, who need not know whether it has already ended. */
  stop(rolloutId: string): Promise<void>
  /** Stops all rollouts, for a shutdown. */
  cancelAll(): Promise<void>
}

/** A rollout to start. */
export interface StartOptions {
  readonly rolloutId: string
  readonly key: string
  /** True: it stops when nobody has followed it for a while. False: only its owner's signal ends it. */
  readonly detached: boolean
  readonly events: (signal: AbortSignal) => AsyncIterable<RolloutEvent>
  /** Stores the record, whose segments from `from` on have changed. Throws the error of the store. */
  readonly save: (trajectory: Trajectory, from: number) => void
  /** Receives each event, and the line that its readers get, at the same time as they do. */
  readonly onEvent?: (event: RolloutEvent, line: Uint8Array) => void
}

interface Entry extends Run {
  /** Lines instead of events: they are written once for all readers, and their size is known. */
  readonly log: EventLog<Uint8Array>
  /** Bytes of its lines, including the overhead of each. */
  bytes: number
  readonly controller: AbortController
  done: Promise<void>
  readers: number
  /** Milliseconds for which it continues without a reader. */
  patienceMs: number
  abandoned: ReturnType<typeof setTimeout> | undefined
}

/**
 * Milliseconds for which a detached rollout continues without a reader: enough for a reload, a lost tunnel, or the time between two looks.
 */
const ABANDONED_MS = 60_000
/** The same limit if a reader returns again and again: browsers let a hidden page do so once a minute. */
const ABANDONED_LOOKS_MS = 180_000
/**
 * Limit in bytes for the events of all ended rollouts: hundreds of short ones, or a few of 50,000 tokens. Older ones are read from the
 * stored trajectory. No timer removes them, because a timer would keep the request that began its rollout in memory.
 */
export const KEPT_BYTES = 12 << 20
/** Approximate overhead of a line in memory, in bytes. */
export const LINE_BYTES = 200
/** Milliseconds between two attempts to store an end. */
const STORE_AGAIN_MS = 5_000

interface RunsOptions {
  /** Commits what runs save in the same turn of the event loop together. Omitted: each save is on its own. */
  readonly groupCommit?: GroupCommit['groupCommit']
  /** Limit for the events of ended rollouts that can be read again; the latest are kept. */
  readonly keptBytes?: number
}

/** Returns the rollouts of this process. */
export function createRuns({
  groupCommit = async (change) => change(),
  keptBytes = KEPT_BYTES,
}: RunsOptions = {}): Runs {
  const running = new Map<string, Entry>()
  /** Only the logs are kept, because a signal keeps all its listeners in memory. */
  const ended = createMemory<EventLog<Uint8Array>>(keptBytes)
  const unstored = createUnstoredEnds(groupCommit)
  /** Returns a running rollout; undefined if it has ended. Throws HttpProblem 404. */
  const findRunning = (rolloutId: string): Entry | undefined => {
    const entry = running.get(rolloutId)
    if (!entry) findEnded(rolloutId)
    return entry
  }
  const findEnded = (rolloutId: string): EventLog<Uint8Array> => {
    const log = ended.get(rolloutId)
    if (!log)
      throw new HttpProblem({
        status: 404,
        code: 'NO_ROLLOUT',
        detail:
          'this rollout is not running here: it does not exist, it ended some time ago, or another instance of Rollscope runs it',
        hint: 'The trajectory of an ended rollout is in the library: open it there.',
      })
    return log
  }
  const stop = async (rolloutId: string): Promise<void> => {
    const entry = running.get(rolloutId)
    entry?.controller.abort()
    await entry?.done
  }
  return {
    start(options) {
      if ([...running.values()].some(({ key, log }) => key === options.key && !log.hasEnded))
        throw new HttpProblem({
          status: 409,
          code: 'RUNNING',
          detail: 'a rollout of this trajectory is running',
          hint: 'Wait until it has ended, or stop it.',
        })
      if (unstored.store(options.key))
        throw new HttpProblem({
          status: 409,
          code: 'CHANGED',
          detail: 'the end of the last run could only be stored now',
          hint: 'The page shows the current version. Check it, then send again.',
        })
      const controller = new AbortController()
      const entry: Entry = {
        rolloutId: options.rolloutId,
        key: options.key,
        log: createEventLog(),
        bytes: 0,
        controller,
        done: Promise.resolve(),
        readers: 0,
        patienceMs: ABANDONED_MS,
        abandoned: undefined,
      }
      const { rolloutId } = options
      running.set(rolloutId, entry)
      entry.done = drive(entry, options, groupCommit, unstored).finally(() => {
        running.delete(rolloutId)
        ended.set(rolloutId, entry.log, entry.bytes)
      })
      if (options.detached) watchAbandonment(entry)
      return { rolloutId: options.rolloutId, key: options.key }
    },
    follow(rolloutId, from, signal, until) {
      const entry = running.get(rolloutId)
      return entry ? follow(entry, from, signal, until) : findEnded(rolloutId).follow(from, signal, until)
    },
    attend(rolloutId, until) {
      const entry = findRunning(rolloutId)
      return entry ? attend(entry, until) : () => {}
    },
    lookedAt(key) {
      for (const entry of running.values()) if (entry.key === key) watchAbandonment(entry)
    },
    async cancel(rolloutId) {
      findRunning(rolloutId)
      await stop(rolloutId)
    },
    stop,
    async cancelAll() {
      for (const { controller } of running.values()) controller.abort()
      await Promise.all([...running.values()].map(({ done }) => done))
      unstored.storeAll()
    },
  }
}

/** Runs a rollout to its end and never rejects: readers get an end after any error. */
async function drive(
  entry: Entry,
  { key, events, save, onEvent = () => {} }: StartOptions,
  groupCommit: GroupCommit['groupCommit'],
  unstoredEnds: UnstoredEnds,
): Promise<void> {
  const fold = createFold()
  /** Index of the first segment whose change is not stored. */
  let unstored = Number.POSITIVE_INFINITY
  const publish = (event: RolloutEvent) => {
    const line = encodeLine(event)
    entry.bytes += line.byteLength + LINE_BYTES
    entry.log.add(line)
    onEvent(event, line)
  }
  /** Applies an event. Returns a function that stores what it changed; undefined if it changed nothing that is stored. */
  const changeOf = (event: RolloutEvent): (() => void) | undefined => {
    fold.add(event)
    if (event.type === 'tokens' || !fold.trajectory) return undefined
    const changed = firstChange(fold.trajectory, event)
    if (changed === undefined) return undefined
    unstored = Math.min(unstored, changed)
    const [record, from] = [recordOf(fold.trajectory), unstored]
    return () => save(record, from)
  }
  try {
    for await (const event of events(entry.controller.signal)) {
      const change = changeOf(event)
      if (change) await groupCommit(change)
      if (change) unstored = Number.POSITIVE_INFINITY
      publish(event)
    }
  } catch (error) {
    console.error('a rollout broke:', error)
    const event: RolloutEvent = { type: 'ended', outcome: failureOf(error) }
    let change: (() => void) | undefined
    // The end is stored first, because a reader who hears of it may look at the stored trajectory.
    try {
      change = changeOf(event)
      if (change) await groupCommit(change)
    } catch (again) {
      console.error('its end could not be stored:', again)
      if (change) unstoredEnds.add(key, change)
    }
    try {
      publish(event)
    } catch (again) {
      console.error('its end could not be sent to all clients:', again)
    }
  } finally {
    entry.log.end()
    clearTimeout(entry.abandoned)
  }
}

const INTERNAL: Exclude<Outcome, { kind: 'running' }> = {
  kind: 'failed',
  code: 'INTERNAL',
  message: 'Rollscope itself failed: see its log. The recorded part is kept.',
}

function failureOf(error: unknown): Exclude<Outcome, { kind: 'running' }> {
  if (!(error instanceof StoreError)) return INTERNAL
  const { code, message, hint } = error
  return { kind: 'failed', code, message: `The run could not be stored: ${message}`, hint }
}

interface UnstoredEnds {
  add(key: string, store: () => void): void
  /** Stores the end of a trajectory and returns true; false if there is none. Throws the error of the store. */
  store(key: string): boolean
  /** Tries to store every end. */
  storeAll(): void
}

/**
 * Returns the ends that could not be stored. They are tried again until the process ends; the next start then finds these runs interrupted.
 */
function createUnstoredEnds(groupCommit: GroupCommit['groupCommit']): UnstoredEnds {
  const ends = new Map<string, () => void>()
  let isStoring = false
  let timer: ReturnType<typeof setInterval> | undefined
  const store = (key: string): boolean => {
    ends.get(key)?.()
    return ends.delete(key)
  }
  const storeAll = () => {
    for (const key of ends.keys()) {
      try {
        store(key)
      } catch {
        // The failure is already in the log, and the following ends would most likely fail too.
        break
      }
    }
    endWhenStored()
  }
  const endWhenStored = () => {
    if (ends.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  /** Does the same without blocking the process while another program has locked the database. */
  const storeAgain = async () => {
    if (isStoring) return
    isStoring = true
    try {
      for (const [key, change] of ends) {
        await groupCommit(change)
        if (ends.get(key) === change) ends.delete(key)
      }
    } catch {
      // The failure is already in the log.
    }
    isStoring = false
    endWhenStored()
  }
  return {
    add(key, store) {
      ends.set(key, store)
      timer ??= setInterval(storeAgain, STORE_AGAIN_MS).unref()
    },
    store,
    storeAll,
  }
}

/** Returns the index of the first segment that an event changed in the record; undefined if it changed nothing that is stored. */
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

async function* follow(
  entry: Entry,
  from: number,
  signal: AbortSignal,
  until: Until | undefined,
): AsyncGenerator<Uint8Array> {
  const leave = attend(entry, until)
  try {
    yield* entry.log.follow(from, signal, until)
  } finally {
    leave()
  }
}

function attend(entry: Entry, until: Until = 'end'): () => void {
  entry.readers++
  clearTimeout(entry.abandoned)
  return () => {
    entry.readers--
    if (until === 'now') entry.patienceMs = ABANDONED_LOOKS_MS
    watchAbandonment(entry)
  }
}

function watchAbandonment(entry: Entry): void {
  if (entry.readers > 0 || entry.log.hasEnded) return
  clearTimeout(entry.abandoned)
  entry.abandoned = setTimeout(() => entry.controller.abort(), entry.patienceMs)
  entry.abandoned.unref()
}
