/**
 * Checks stored trajectories in a thread of its own, the newest first, whenever somebody looks at the library: reading a
 * long one takes longer than other requests should wait.
 */
import { Worker } from 'node:worker_threads'
import type { Health } from '#lib/core/health.ts'
import type { Revision } from '#lib/store/health.ts'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { FromHealthWorker, HealthWorkerStart, ToHealthWorker } from './health-worker-messages.ts'

export interface HealthChecks {
  /** Checks what is not checked as it is now, until nothing is left. Returns at once. */
  checkStored(): void
  /** What is known of one, checked now where it is not known. Undefined where there is none. */
  healthOf(key: string): Promise<Health | undefined>
  close(): Promise<void>
}

interface Options {
  readonly store: Pick<TrajectoryStore, 'uncheckedKey' | 'putHealth' | 'health'>
  readonly workerFile: string
  readonly start: HealthWorkerStart
}

/** A thread that nobody has asked for this long ends: it holds tokenizers. */
const IDLE_MS = 30_000

export function createHealthChecks({ store, workerFile, start }: Options): HealthChecks {
  let thread: ReturnType<typeof startThread> | undefined
  let idle: ReturnType<typeof setTimeout> | undefined
  let isChecking = false
  let isClosed = false

  const check = async (key: string): Promise<Health | undefined> => {
    clearTimeout(idle)
    thread ??= startThread(workerFile, start, () => {
      thread = undefined
    })
    try {
      const checked = await thread.check(key)
      if (!checked || isClosed) return checked?.health
      store.putHealth(key, checked.of, checked.health)
      return checked.health
    } finally {
      clearTimeout(idle)
      idle = setTimeout(() => thread?.end(), IDLE_MS).unref()
    }
  }

  const checkAll = async (): Promise<void> => {
    for (let before: string | undefined; !isClosed; ) {
      const key = store.uncheckedKey()
      // One that stays unchecked, because it changed meanwhile, waits for the next time.
      if (key === undefined || key === before) return
      await check(key)
      before = key
    }
  }

  return {
    checkStored() {
      if (isChecking || isClosed) return
      isChecking = true
      checkAll()
        .catch((error) => console.error('stored trajectories could not be checked:', error))
        .finally(() => {
          isChecking = false
        })
    },
    async healthOf(key) {
      return store.health(key) ?? check(key)
    },
    async close() {
      isClosed = true
      clearTimeout(idle)
      await thread?.end()
    },
  }
}

type Checked = { readonly of: Revision; readonly health: Health } | undefined

function startThread(workerFile: string, workerData: HealthWorkerStart, onGone: () => void) {
  // Flags of the server's process, such as those of a debugger or a test runner, are not the worker's.
  const worker = new Worker(workerFile, { workerData, execArgv: [], name: 'rollscope-health' })
  worker.unref()
  const waiting = new Map<number, PromiseWithResolvers<Checked>>()
  let last = 0
  const gone = (error: Error): void => {
    onGone()
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('message', ({ id, checked }: FromHealthWorker) => {
    waiting.get(id)?.resolve(checked)
    waiting.delete(id)
  })
  worker.on('error', gone)
  worker.on('exit', () => gone(new Error('the thread that checks trajectories has ended')))
  return {
    check(key: string): Promise<Checked> {
      const id = ++last
      const answer = Promise.withResolvers<Checked>()
      waiting.set(id, answer)
      worker.postMessage({ id, key } satisfies ToHealthWorker)
      return answer.promise
    },
    end: () => worker.terminate(),
  }
}
