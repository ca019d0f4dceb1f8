/**
 * What sessions saved, compared with a chat pipeline: of each leaf, of a session, and of all listed sessions. No call of a client waits for
 * it: it is computed when somebody requests it, once for each leaf.
 */
import type { AllSavings, LeafSavings, SavedCounts, SavedSums, SessionSavings } from '#lib/api/sessions/savings.ts'
import type { SessionRow, SessionSettings } from '#lib/api/sessions/session.ts'
import { type LeafPicker, pickLeaves } from '#lib/session/forest/samples.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { HttpProblem } from '../../http/problem.ts'
import { createLimitedThread } from '../../limited-thread.ts'
import type { Services } from '../../services.ts'
import { createSessionServing, type SessionServing } from '../serving.ts'
import { openSession, type Session } from '../session.ts'
import { createLeafComparison } from './leaf-savings.ts'
import type { SavingsThread } from './savings-question.ts'

/** Access to what sessions saved. */
export interface Savings {
  /** Returns what the chosen leaves of a session saved. Throws like SessionServing. */
  ofSession(session: Session, pickers: readonly LeafPicker[], signal: AbortSignal): Promise<SessionSavings>
  /** Returns what is known of all listed sessions, and begins to compare the others. */
  ofAll(): AllSavings
  close(): Promise<void>
}

/** What is known of a session at some number of calls. */
interface KnownTotal {
  readonly createdAt: string
  readonly calls: number
  /** Undefined: it was never compared. */
  readonly saved: SavedSums | undefined
  /** Milliseconds of the clock at which it could not be compared. Undefined: it was. */
  readonly failedMs: number | undefined
}

const IDLE_MS = 30_000
const LONGEST_MS = 60_000
/** Milliseconds after which a session that could not be compared is compared again. */
const AGAIN_MS = 60_000
/** Largest number of leaves whose results are kept. */
const MOST_KEPT_LEAVES = 50_000
/** Largest number of different settings whose serving is kept: the sessions of a process have few. */
const MOST_SERVINGS = 32

const NOTHING: SavedCounts = { drifts: 0, trainedTokens: 0, cachedTokens: 0, rows: 0 }

/** Returns the thread that compares paths. It starts with the first one and ends after half a minute without one. */
export const createSavingsThread = (workerFile: string): SavingsThread =>
  createLimitedThread({ name: 'rollscope-savings', workerFile, start: {}, idleMs: IDLE_MS, longestMs: LONGEST_MS })

/** Returns the savings of the sessions of a process. */
export function createSavings(services: () => Services, thread: SavingsThread): Savings {
  const compareLeaf = createLeafComparison(thread)
  const results = createMemory<LeafSavings>(MOST_KEPT_LEAVES)
  const running = new Map<string, Promise<LeafSavings | undefined>>()
  const servings = createMemory<SessionServing>(MOST_SERVINGS)
  let totals = new Map<string, KnownTotal>()
  let isComparing = false

  /** Sessions with equal settings share what answers them, so that 300 of them describe their server once. */
  const servingOf = ({ group: _, isAuto: __, ...settings }: SessionSettings): SessionServing => {
    const key = JSON.stringify(settings)
    const serving = servings.get(key) ?? createSessionServing(settings, services())
    servings.set(key, serving, 1)
    return serving
  }

  /** The path of a leaf never changes, so its result is kept by its number. */
  const leafSavings = async (session: Session, leaf: number): Promise<LeafSavings | undefined> => {
    const key = `${session.id} ${session.createdAt} ${leaf}`
    const known = results.get(key) ?? running.get(key)
    if (known) return known
    const comparing = compareLeaf(session, leaf, servingOf(session.settings), services().sessions.closing)
    running.set(key, comparing)
    try {
      const savings = await comparing
      if (savings) results.set(key, savings, 1)
      return savings
    } finally {
      running.delete(key)
    }
  }

  const ofSession: Savings['ofSession'] = async (session, pickers, signal) => {
    const leaves: LeafSavings[] = []
    const picked =
      session.settings.mode === 'observe' ? [] : pickLeaves(session.forest.nodes, pickers, session.living()).leaves
    for (const { sequence } of picked) {
      signal.throwIfAborted()
      const savings = await leafSavings(session, sequence)
      if (savings) leaves.push(savings)
    }
    return { leaves, total: sumOf(leaves) }
  }

  const isCurrent = ({ id, createdAt, calls }: SessionRow): boolean => {
    const known = totals.get(id)
    return (
      known?.createdAt === createdAt &&
      known.calls === calls &&
      (known.failedMs === undefined || performance.now() - known.failedMs < AGAIN_MS)
    )
  }

  const compareRow = async ({ id, createdAt, calls, state }: SessionRow): Promise<void> => {
    const { sessions, store } = services()
    const before = totals.get(id)
    const saved = before?.createdAt === createdAt ? before.saved : undefined
    try {
      const stored = store.session(id)
      if (!stored) return
      // An idle session does not stay in memory for this.
      const session = state === 'live' ? sessions.find(id) : openSession(stored, services())
      const { leaves, total } = await ofSession(session, ['all'], sessions.closing)
      totals.set(id, { createdAt, calls, saved: { ...total, leaves: leaves.length }, failedMs: undefined })
    } catch (error) {
      // The session was deleted after it was listed, or its deletion waits for a call.
      const isDeleted = error instanceof HttpProblem && error.details.code === 'NO_SESSION'
      if (sessions.closing.aborted || isDeleted) return
      console.error(`the session ${id} could not be compared with a chat pipeline:`, error)
      totals.set(id, { createdAt, calls, saved, failedMs: performance.now() })
    }
  }

  const compareRows = async (rows: readonly SessionRow[]): Promise<void> => {
    if (isComparing) return
    isComparing = true
    try {
      for (const row of rows) if (!services().sessions.closing.aborted) await compareRow(row)
    } finally {
      isComparing = false
    }
  }

  return {
    ofSession,
    ofAll() {
      const rows = services()
        .sessions.list()
        .filter(({ mode, leaves }) => mode === 'tito' && leaves > 0)
      const found = rows.flatMap(({ id, createdAt }) => {
        const known = totals.get(id)
        return known?.createdAt === createdAt ? [[id, known] as const] : []
      })
      totals = new Map(found)
      const sessions = found.flatMap(([id, { saved }]) => (saved ? [{ id, ...saved }] : []))
      const waiting = rows.filter((row) => !isCurrent(row))
      void compareRows(waiting)
      return {
        total: { ...sumOf(sessions), leaves: sessions.reduce((sum, { leaves }) => sum + leaves, 0) },
        sessions,
        waiting: waiting.length,
        failed: found.filter(([, { failedMs }]) => failedMs !== undefined).length,
      }
    },
    close: () => thread.close(),
  }
}

const sumOf = (all: readonly SavedCounts[]): SavedCounts =>
  all.reduce(
    (sum, { drifts, trainedTokens, cachedTokens, rows }) => ({
      drifts: sum.drifts + drifts,
      trainedTokens: sum.trainedTokens + trainedTokens,
      cachedTokens: sum.cachedTokens + cachedTokens,
      rows: sum.rows + rows,
    }),
    NOTHING,
  )
