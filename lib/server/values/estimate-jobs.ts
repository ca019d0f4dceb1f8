/** Value estimates that run in this process. */
import { createMemory, type Memory } from '#lib/util/bounded-memory.ts'

/** Access to the value estimates of this process. */
export interface EstimateJobs {
  /** Starts the work of an estimate. It must not reject. Its signal aborts with `CANCELLED` or `SUSPENDED`. */
  start(id: string, work: (signal: AbortSignal) => Promise<void>): void
  isRunning(id: string): boolean
  /** Stops an estimate and resolves when it has ended. Does nothing if it is not running here. */
  cancel(id: string): Promise<void>
  /** Resolves when an estimate that is being stopped has ended, and at once for others. */
  untilStopped(id: string): Promise<void>
  /** Stops all estimates for a shutdown. The next instance continues them. */
  suspendAll(): Promise<void>
  /** Final answers of samples that have ended, by the key of the sample and its number of tokens. */
  readonly answers: Memory<string | null>
}

/** The user has cancelled the estimate. */
export const CANCELLED = Symbol('cancelled')
/** The application ends. */
const SUSPENDED = Symbol('suspended')

/** Characters of answers that are kept, because reading a sample again takes milliseconds. */
const KEPT_CHARACTERS = 4_000_000

/** Returns the value estimates of a process. */
export function createEstimateJobs(): EstimateJobs {
  const running = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>()
  const stop = async (id: string, reason: symbol) => {
    const job = running.get(id)
    job?.controller.abort(reason)
    await job?.done
  }
  return {
    start(id, work) {
      if (running.has(id)) return
      const controller = new AbortController()
      const done = work(controller.signal).finally(() => running.delete(id))
      running.set(id, { controller, done })
    },
    isRunning: (id) => running.has(id),
    cancel: (id) => stop(id, CANCELLED),
    async untilStopped(id) {
      const job = running.get(id)
      if (job?.controller.signal.aborted) await job.done
    },
    async suspendAll() {
      await Promise.all([...running.keys()].map((id) => stop(id, SUSPENDED)))
    },
    answers: createMemory(KEPT_CHARACTERS),
  }
}
