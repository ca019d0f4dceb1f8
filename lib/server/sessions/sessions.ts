/** The sessions of this process. A session is in memory while its client calls; all others are in the store. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionCallRow, SessionRow, SessionSettings } from '#lib/api/sessions/session.ts'
import { hasSameJson } from '#lib/json/same-json.ts'
import type { StoredSession } from '#lib/store/sessions/session-table.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { createSessionServing, type SessionServing } from './serving.ts'
import { openSession, rewardLeaf, type Session } from './session.ts'
import { type CallSummary, sessionRow, summaryOfCalls } from './session-row.ts'

/** Access to the sessions. */
export interface Sessions {
  /** Whether calls are sent to the servers unchanged and unrecorded, in all sessions of this process. */
  isPaused: boolean
  /**
   * Creates a session, or returns the existing one with the requested id. `createdAt` is now if it is omitted. Throws HttpProblem 409 for a
   * session that is being deleted, and for settings that differ from those of the existing session.
   */
  create(settings: SessionSettings, id?: string, createdAt?: Date): Session
  /** Returns a session. Throws HttpProblem 404. */
  find(id: string): Session
  /** Returns a session whose calls are all stored. Rejects with HttpProblem 404, or with the error of the store. */
  findStored(id: string): Promise<Session>
  /** Runs an action that counts as a call of the session: its deletion waits for it. */
  during<T>(session: Session, action: () => Promise<T>): Promise<T>
  /** Aborts with HttpProblem when the process ends its calls. */
  readonly closing: AbortSignal
  /** Ends all calls, which keep their tokens. */
  close(): Promise<void>
  /**
   * Returns the sessions that /sessions/auto opened and whose history may be that of a call, in memory or stored, in the order of their last
   * calls. `beginning` is the key of the beginning of the call’s history.
   */
  automatic(beginning: string): readonly Session[]
  /** What answers the calls of sessions with default settings. */
  readonly defaultServing: SessionServing
  /** Returns the rows of the newest sessions. */
  list(): readonly SessionRow[]
  row(session: Session): SessionRow
  /**
   * Removes a session when its calls in flight have ended. Its trajectories stay in the library. Rejects with HttpProblem 404, or with the
   * error of the store.
   */
  remove(id: string): Promise<void>
  /**
   * Sets the reward of a session, or of the trajectory of one leaf; null removes it. The reward of a session is that of all its leaves
   * without one of their own, earlier and later ones. Throws HttpProblem 404, also for a leaf that was deleted from the library.
   */
  reward(id: string, reward: number | null, leaf: string | undefined): void
}

/** Number of sessions that are compared with a call to /sessions/auto, of those whose history begins like the call. */
const MOST_AUTOMATIC = 8
/** Number of sessions in the list. */
const MOST_LISTED = 500
/** Milliseconds without a call after which a session leaves the memory. Its next call reads it from the store. */
const SWEPT_AFTER_MS = 10 * 60_000
/** The same limit while all sessions in memory have more than MOST_TOKENS: those without a call for the longest time leave first. */
const SWEPT_EARLY_MS = 60_000
/** Tokens of all sessions in memory. A token of a session needs about 60 bytes, so that these are about 500 MB. */
const MOST_TOKENS = 8_000_000
/** Milliseconds between two looks for such sessions, and for calls that could not be stored. */
const SWEEP_MS = 60_000
/** Milliseconds between two looks whether the calls of a session that is being deleted have ended. */
const LOOK_MS = 20

/** Creates the sessions of a process. `store` is that of the services. */
export function createSessions(services: () => Services, mostTokens = MOST_TOKENS): Sessions {
  const open = new Map<string, Session>()
  const leaving = new Set<string>()
  const closing = new AbortController()
  let defaultServing: SessionServing | undefined
  const storeRest = (session: Session): Promise<void> => session.exclusive(session.storeRest)
  /** Returns whether everything is stored. A failure is already in the log. */
  const triesToStoreRest = (session: Session): Promise<boolean> =>
    storeRest(session).then(
      () => true,
      () => false,
    )
  const isUnused = ({ running, lastUsedMs }: Session, sweptAfterMs: number): boolean =>
    running === 0 && performance.now() - lastUsedMs >= sweptAfterMs
  /** Stores what could not be stored, and forgets the sessions that nobody uses. */
  const sweep = async () => {
    let tokens = [...open.values()].reduce((sum, session) => sum + tokensOf(session), 0)
    for (const [id, session] of [...open].sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs)) {
      if (session.running > 0 || !(await triesToStoreRest(session))) continue
      if (!isUnused(session, tokens > mostTokens ? SWEPT_EARLY_MS : SWEPT_AFTER_MS)) continue
      open.delete(id)
      tokens -= tokensOf(session)
    }
    if (open.size > 0) return
    clearInterval(sweeping)
    sweeping = undefined
  }
  let sweeping: ReturnType<typeof setInterval> | undefined
  const keep = (session: Session): Session => {
    open.set(session.id, session)
    sweeping ??= setInterval(sweep, SWEEP_MS).unref()
    return session
  }
  const lookUp = (id: string): Session | undefined => {
    const known = open.get(id)
    if (leaving.has(id)) return undefined
    if (known?.refresh()) {
      known.lastUsedMs = performance.now()
      return known
    }
    open.delete(id)
    const stored = services().store.session(id)
    return stored && keep(openSession(stored, services()))
  }
  const find = (id: string): Session => {
    const session = lookUp(id)
    if (!session) throw noSession(id)
    return session
  }
  const row = (session: Session): SessionRow => {
    const summary = summaryOfCalls(session.rows)
    return sessionRow(session, summary, services().store.storedLeaves(summary.leaves), Date.now())
  }
  /** Summaries of the listed sessions that are not in memory. The page reads the list again and again. */
  let summaries = new Map<string, CallSummary>()
  /** A deleted session may be created again with the same id. */
  const summaryKey = ({ id, createdAt }: StoredSession, lastCall: number): string => `${id} ${createdAt} ${lastCall}`
  const readSummary = (id: string): CallSummary =>
    summaryOfCalls(
      services()
        .store.sessionFacts(id)
        .map((text) => JSON.parse(text) as SessionCallRow),
    )
  return {
    isPaused: false,
    find,
    async findStored(id) {
      const session = find(id)
      await storeRest(session)
      return session
    },
    row,
    create(settings, id = `ses_${randomBytes(6).toString('hex')}`, createdAt = new Date()) {
      if (leaving.has(id))
        throw new HttpProblem({
          status: 409,
          code: 'SESSION_LEAVES',
          detail: `the session ${id} is being deleted`,
          hint: 'Create it again when the deletion has been answered.',
        })
      const isNew = services().store.addSession({
        id,
        createdAt: createdAt.toISOString(),
        settings: JSON.stringify(settings),
        reward: null,
      })
      const session = find(id)
      if (!isNew) checkSameSettings(session, settings)
      return session
    },
    async during(session, action) {
      session.running++
      try {
        return await action()
      } finally {
        session.running--
        session.lastUsedMs = performance.now()
      }
    },
    closing: closing.signal,
    async close() {
      clearInterval(sweeping)
      closing.abort(ending())
      while ([...open.values()].some(({ running }) => running > 0)) await pause(LOOK_MS)
      await Promise.all([...open.values()].map(triesToStoreRest))
    },
    get defaultServing() {
      defaultServing ??= createSessionServing({}, services())
      return defaultServing
    },
    automatic: (beginning) =>
      services()
        .store.sessionsBeginningWith(beginning, MOST_AUTOMATIC)
        .toReversed()
        .flatMap((id) => lookUp(id) ?? [])
        .sort((a, b) => lastCallMs(a) - lastCallMs(b)),
    list() {
      // A session records its interrupted calls when it is opened.
      for (const { session } of services().store.interruptedSessionCalls()) if (!leaving.has(session)) find(session)
      const listed = new Map<string, CallSummary>()
      const { store } = services()
      // A session whose deletion waits for a call is not found by its id either.
      const listable = store.sessions(MOST_LISTED).filter(({ session }) => !leaving.has(session.id))
      const sources = listable.map(({ session, lastCall }) => {
        const known = open.get(session.id)
        if (known) return { source: known, summary: summaryOfCalls(known.rows) }
        const key = summaryKey(session, lastCall)
        const summary = summaries.get(key) ?? readSummary(session.id)
        listed.set(key, summary)
        const settings = JSON.parse(session.settings) as SessionSettings
        return { source: { ...session, settings, running: 0 }, summary }
      })
      summaries = listed
      const stored = store.storedLeaves(sources.flatMap(({ summary }) => summary.leaves))
      return sources.map(({ source, summary }) => sessionRow(source, summary, stored, Date.now()))
    },
    async remove(id) {
      const session = find(id)
      leaving.add(id)
      try {
        while (session.running > 0) await pause(LOOK_MS)
        // Its trajectories stay in the library.
        await storeRest(session)
        services().store.removeSession(id)
        open.delete(id)
      } finally {
        leaving.delete(id)
      }
    },
    reward(id, reward, leaf) {
      const session = find(id)
      const { store } = services()
      const keys = session.keys()
      if (leaf === undefined) {
        store.setSessionReward(id, reward)
        session.refresh()
        for (const key of keys) rewardLeaf(session, key, services())
        return
      }
      if (!keys.includes(leaf))
        throw new HttpProblem({
          status: 404,
          code: 'NO_LEAF',
          detail: `the session ${id} has no trajectory ${JSON.stringify(leaf.slice(0, 100))}`,
          hint: 'GET /api/sessions/{id} lists the trajectories of its calls.',
          field: 'leaf',
        })
      if (!store.label(leaf, { reward })) throw deletedLeaf(id, leaf)
      if (reward === null) rewardLeaf(session, leaf, services())
    },
  }
}

/** Returns how many tokens a session has in memory. Its branches share the tokens before their forks. */
const tokensOf = ({ forest }: Session): number =>
  forest.nodes.reduce((sum, { tokens }) => sum + tokens.prompt + tokens.reply, 0)

/** Returns when the last call of a session was sent, in milliseconds since 1970. A session that answers a call is the latest. */
const lastCallMs = ({ running, rows, createdAt }: Session): number =>
  running > 0 ? Number.MAX_SAFE_INTEGER : Date.parse(rows.at(-1)?.startedAt ?? createdAt)

/** Throws HttpProblem for the first setting that a session has not: what it recorded was made with its own. */
function checkSameSettings({ id, settings: own }: Session, { isAuto: _, ...settings }: SessionSettings): void {
  const values = new Map<string, unknown>(Object.entries(own))
  for (const [field, value] of Object.entries(settings)) {
    const now = values.get(field)
    if (hasSameJson(now ?? null, value ?? null)) continue
    throw new HttpProblem({
      status: 409,
      code: 'SESSION_EXISTS',
      detail: `the session ${id} exists and has ${now === undefined ? `no ${field}` : `${field} ${JSON.stringify(now).slice(0, 200)}`}`,
      hint: `Leave out ${field} to continue the session, or choose another session_id.`,
      field,
    })
  }
}

const deletedLeaf = (id: string, leaf: string): HttpProblem =>
  new HttpProblem({
    status: 404,
    code: 'LEAF_DELETED',
    detail: `the trajectory ${leaf} of the session ${id} was deleted from the library`,
    hint: `It is in no export of the session. POST /api/trajectories/${leaf}/restore restores it for at least a day.`,
    field: 'leaf',
  })

const ending = (): HttpProblem =>
  new HttpProblem({
    status: 503,
    code: 'ENDING',
    detail: 'Rollscope ended during this call, so it has no answer',
    hint: 'Send it again.',
  })

const noSession = (id: string): HttpProblem =>
  new HttpProblem({
    status: 404,
    code: 'NO_SESSION',
    detail: `there is no session ${JSON.stringify(id.slice(0, 100))}`,
    hint: 'Create it with POST /sessions {"session_id": …}, or use the address /sessions/auto.',
  })
