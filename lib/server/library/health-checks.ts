/**
 * Checks stored trajectories in a separate thread, newest first, whenever somebody opens the library: reading a long one takes longer than
 * other requests should wait.
 */

import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Health } from '#lib/trajectory/health/health.ts'
import { createRequestThread, hasThreadEnded } from '../limited-thread.ts'
import { type HealthResult, type HealthWorkerStart, uncheckedHealth } from './health-worker-messages.ts'

/** Access to the health of stored trajectories. */
export interface HealthChecks {
  /** Checks every trajectory without a current result. A request during a round of checks begins another round. Returns at once. */
  checkStored(): void
  /** Returns the stored result, or checks the trajectory now. Undefined if there is no such trajectory. */
  healthOf(key: string): Promise<Health | undefined>
  /** Checks a trajectory again, which also stores its packed copy. Returns at once. */
  recheck(key: string): void
  close(): Promise<void>
}

interface Options {
  readonly store: Pick<TrajectoryStore, 'uncheckedKey' | 'putHealth' | 'putUnchecked' | 'health' | 'whenUnlocked'>
  readonly workerFile: string
  readonly start: HealthWorkerStart
}

const IDLE_MS = 30_000

/** Returns the checks; their thread starts with the first one. */
export function createHealthChecks({ store, workerFile, start }: Options): HealthChecks {
  const thread = createRequestThread<string, HealthResult>({
    name: 'rollscope-health',
    workerFile,
    start,
    idleMs: IDLE_MS,
  })
  let isChecking = false
  let isRequested = false
  let isClosed = false

  let lastRetry: Promise<unknown> = Promise.resolve()
  /** Asks a new thread, one request at a time: another trajectory may have ended the thread before. */
  const askAgain = (key: string): Promise<HealthResult> => {
    const retry = lastRetry.then(() => thread.ask(key))
    lastRetry = retry.catch(() => {})
    return retry
  }
  const isLost = (error: unknown): error is Error => !isClosed && hasThreadEnded(error)
  const ask = (key: string): Promise<HealthResult> =>
    thread.ask(key).catch((error: unknown) => (isLost(error) ? askAgain(key) : Promise.reject(error)))

  const check = async (key: string): Promise<Health | undefined> => {
    try {
      const checked = await ask(key)
      if (checked) await store.whenUnlocked()
      if (!checked || isClosed) return checked?.health
      store.putHealth(key, checked.of, checked.health, checked.index)
      return checked.health
    } catch (error) {
      if (!isLost(error)) throw error
      console.error(`the stored trajectory ${key} ends the thread that checks it, so it stays unchecked:`, error)
      const unchecked = uncheckedHealth('not checked', `It could not be checked: ${error.message}`)
      store.putUnchecked(key, unchecked)
      return unchecked
    }
  }

  const checkAll = async (): Promise<void> => {
    while (isRequested && !isClosed) {
      isRequested = false
      // Each look continues after the last key, because it would otherwise read all rows that are checked already.
      for (let key = store.uncheckedKey(); key !== undefined; key = isClosed ? undefined : store.uncheckedKey(key))
        await check(key)
    }
  }

  return {
    checkStored() {
      isRequested = true
      if (isChecking || isClosed) return
      isChecking = true
      checkAll()
        .catch((error) => console.error('stored trajectories could not be checked:', error))
        .finally(() => {
          isChecking = false
        })
    },
    recheck(key) {
      if (isClosed) return
      check(key).catch((error) => console.error('a stored trajectory could not be checked:', error))
    },
    async healthOf(key) {
      return store.health(key) ?? check(key)
    },
    async close() {
      isClosed = true
      await thread.end()
    },
  }
}
