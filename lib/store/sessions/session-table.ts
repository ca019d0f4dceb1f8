/**
 * Stores sessions and their calls. A call is written once. Its row has two parts: facts, which lists need, and the content, which is read
 * when a client continues the session.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Labels } from '#lib/trajectory/format/labels.ts'
import { visibleLabelsIn } from '../entry.ts'
import type { Instance } from '../files/instance.ts'
import { withLockTimeout } from '../lock.ts'
import { insertRow } from '../row.ts'
import { transaction, unsyncedTransaction } from '../transaction.ts'

/** A stored session. */
export interface StoredSession {
  readonly id: string
  /** ISO 8601. */
  readonly createdAt: string
  /** JSON of the settings with which it was created. */
  readonly settings: string
  /** Null: none is set. */
  readonly reward: number | null
}

/** A row of a call: the JSON of its facts and of its content. */
interface StoredCall {
  /** Position in the session, from 1. Positions of calls that were not stored are left out. */
  readonly sequence: number
  readonly facts: string
  readonly content: string
}

/** A call that was being answered when its instance ended. */
interface InterruptedCall {
  readonly session: string
  /** The number that `beginSessionCall` returned. */
  readonly begun: number
  /** The text that `beginSessionCall` received. */
  readonly call: string
}

/** What may have changed in a trajectory since its session read it. */
interface LeafState {
  /** How often the record was written. */
  readonly revision: number
  readonly labels: Labels
}

/** What may have changed in a session since an instance read it. */
interface SessionState {
  /** Sequence of the last call; 0 if there is none. */
  readonly lastCall: number
  /** Null: none is set. */
  readonly reward: number | null
}

/** Sessions and their calls. */
export interface SessionTable {
  /** Stores a session. Returns false if a session with its id exists. */
  addSession(session: StoredSession): boolean
  /** Returns a session; undefined if it does not exist. */
  session(id: string): StoredSession | undefined
  /** Returns the newest sessions, at most `limit`, each with the sequence of its last call; 0 if it has none. */
  sessions(limit: number): readonly { readonly session: StoredSession; readonly lastCall: number }[]
  setSessionReward(id: string, reward: number | null): void
  /** Removes a session and its calls. The trajectories of its leaves stay. Returns false if it does not exist. */
  removeSession(id: string): boolean
  /** Stores a call after all others of its session, and returns its sequence; undefined if the session was removed. */
  addSessionCall(id: string, call: Omit<StoredCall, 'sequence'>): number | undefined
  /** Returns the facts of all calls of a session. */
  sessionFacts(id: string): readonly string[]
  /** Returns the calls of a session after a sequence. */
  sessionCalls(id: string, after: number): readonly StoredCall[]
  /** Returns what instances must read again before they use a session; undefined if it does not exist. */
  sessionState(id: string): SessionState | undefined
  /**
   * Stores that this instance answers a call, and returns a number for `endSessionCall`; undefined if the session does not exist. The row
   * survives the end of the process, and does not wait for the disk. `beginning` is a key by which the session is found from then on.
   */
  beginSessionCall(id: string, call: string, beginning?: string): number | undefined
  /** Returns the ids of at most `limit` sessions with this beginning, those first that had it last. */
  sessionsBeginningWith(beginning: string, limit: number): readonly string[]
  /** Removes the row of a call that has ended. */
  endSessionCall(begun: number): void
  /** Returns the calls that instances answered which have ended. */
  interruptedSessionCalls(): readonly InterruptedCall[]
  /** Returns those keys whose trajectory exists and is not deleted. */
  storedLeaves(keys: readonly string[]): ReadonlySet<string>
  /** Returns the state of the trajectory of a leaf; undefined if it does not exist or is deleted. */
  leafState(key: string): LeafState | undefined
}

/** Milliseconds for which the beginning of a call waits for another writer. It matters only if the process ends during the call. */
const BEGIN_WAIT_MS = 50

/** The sequence of the last call of a session. */
const LAST_CALL = 'COALESCE((SELECT MAX(sequence) FROM session_calls WHERE session = sessions.id), 0)'

/** Prepares the statements for sessions on a connection of an instance. */
export function createSessionTable(database: DatabaseSync, instance: Pick<Instance, 'id' | 'isAlive'>): SessionTable {
  const one = database.prepare('SELECT * FROM sessions WHERE id = ?')
  const newest = database.prepare(
    `SELECT sessions.*, ${LAST_CALL} AS last FROM sessions ORDER BY sessions.sequence DESC LIMIT ?`,
  )
  const facts = database.prepare('SELECT facts FROM session_calls WHERE session = ? ORDER BY sequence')
  const setReward = database.prepare('UPDATE sessions SET reward = ? WHERE id = ?')
  const remove = database.prepare('DELETE FROM sessions WHERE id = ?')
  const state = database.prepare(`SELECT reward, ${LAST_CALL} AS last FROM sessions WHERE id = ?`)
  const put = database.prepare('INSERT INTO session_calls (session, sequence, facts, content) VALUES (?, ?, ?, ?)')
  const calls = database.prepare('SELECT * FROM session_calls WHERE session = ? AND sequence > ? ORDER BY sequence')
  const begin = database.prepare('INSERT INTO session_calls_begun (session, running_in, call) VALUES (?, ?, ?)')
  const addBeginning = database.prepare('INSERT OR IGNORE INTO session_beginnings (session, beginning) VALUES (?, ?)')
  const withBeginning = database.prepare(
    'SELECT session FROM session_beginnings WHERE beginning = ? ORDER BY id DESC LIMIT ?',
  )
  const end = database.prepare('DELETE FROM session_calls_begun WHERE id = ?')
  const others = database.prepare('SELECT DISTINCT running_in FROM session_calls_begun WHERE running_in <> ?')
  const begun = database.prepare('SELECT * FROM session_calls_begun WHERE running_in = ? ORDER BY id')
  const leaf = database.prepare(
    'SELECT revision, labels, tokens FROM trajectories WHERE key = ? AND deleted_at IS NULL',
  )
  const leaves = database.prepare(
    'SELECT key FROM trajectories WHERE key IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL',
  )
  const stateOf = (id: string): SessionState | undefined => {
    const row = state.get(id)
    return row && { lastCall: Number(row.last), reward: rewardIn(row) }
  }
  return {
    addSession: ({ id, createdAt, settings, reward }) =>
      // A call that names its session needs no write, which another program may block.
      one.get(id) === undefined &&
      transaction(database, () => {
        if (one.get(id)) return false
        insertRow(database, 'sessions', { id, created_at: createdAt, settings, reward })
        return true
      }),
    session(id) {
      const row = one.get(id)
      return row && sessionIn(row)
    },
    sessions: (limit) => newest.all(limit).map((row) => ({ session: sessionIn(row), lastCall: Number(row.last) })),
    setSessionReward(id, reward) {
      setReward.run(reward, id)
    },
    removeSession: (id) => Number(remove.run(id).changes) > 0,
    addSessionCall: (id, call) =>
      transaction(database, () => {
        const before = stateOf(id)
        if (!before) return undefined
        put.run(id, before.lastCall + 1, call.facts, call.content)
        return before.lastCall + 1
      }),
    sessionFacts: (id) => facts.all(id).map((call) => String(call.facts)),
    sessionCalls: (id, after) =>
      calls.all(id, after).map((row) => ({
        sequence: Number(row.sequence),
        facts: String(row.facts),
        content: String(row.content),
      })),
    sessionState: stateOf,
    beginSessionCall: (id, call, beginning) =>
      withLockTimeout(database, BEGIN_WAIT_MS, () =>
        unsyncedTransaction(database, () => {
          if (!one.get(id)) return undefined
          if (beginning !== undefined) addBeginning.run(id, beginning)
          return Number(begin.run(id, instance.id, call).lastInsertRowid)
        }),
      ),
    sessionsBeginningWith: (beginning, limit) =>
      withBeginning.all(beginning, limit).map(({ session }) => String(session)),
    endSessionCall(number) {
      end.run(number)
    },
    interruptedSessionCalls: () =>
      others
        .all(instance.id)
        .map((row) => Number(row.running_in))
        .filter((other) => !instance.isAlive(other))
        .flatMap((other) => begun.all(other))
        .map((row) => ({ session: String(row.session), begun: Number(row.id), call: String(row.call) })),
    storedLeaves: (keys) => new Set(leaves.all(JSON.stringify(keys)).map(({ key }) => String(key))),
    leafState(key) {
      const row = leaf.get(key)
      return row && { revision: Number(row.revision), labels: visibleLabelsIn(row) }
    },
  }
}

const sessionIn = (row: Readonly<Record<string, unknown>>): StoredSession => ({
  id: String(row.id),
  createdAt: String(row.created_at),
  settings: String(row.settings),
  reward: rewardIn(row),
})

const rewardIn = ({ reward }: Readonly<Record<string, unknown>>): number | null =>
  reward === null ? null : Number(reward)
