/** The server's side of the engine thread: starts it, sends it jobs, and notices its end. */
import { Worker } from 'node:worker_threads'
import type { ModelFacts } from '#lib/builtin-server/models/onnx-session.ts'
import {
  type Capacity,
  type EngineStart,
  emptyChunk,
  type FromEngine,
  type Job,
  type JobChunk,
  type ToEngine,
} from './job.ts'
import { closeGate, createNativeGate, shutBlocking } from './native-gate.ts'
import { createTally, type EngineCounters } from './tally.ts'

/** A loaded model in its thread. */
export interface EngineThread {
  readonly facts: ModelFacts
  readonly capacity: Capacity
  /** Returns the number of unfinished jobs. */
  jobs(): number
  readonly tally: EngineCounters
  /**
   * Starts a job. `onChunk` receives its chunks, of which only the last one has a finish. It must not throw, because one message contains
   * the chunks of several jobs.
   */
  run(job: Omit<Job, 'key'>, onChunk: (chunk: JobChunk) => void): Generation
  forgetPrefixes(): void
  close(): Promise<void>
}

/** A job under way. */
export interface Generation {
  /** Ends the job; its last chunk follows at once. */
  abort(): void
}

/**
 * Starts the thread and resolves when the model is loaded; rejects if that fails. `onGone` is called if the thread ends by itself after
 * that.
 */
export async function startEngine(
  workerFile: string,
  start: Omit<EngineStart, 'gate' | 'tally'>,
  onGone: () => void,
): Promise<EngineThread> {
  const gate = createNativeGate()
  const tally = createTally()
  const workerData: EngineStart = { ...start, gate, tally }
  // Flags of the server's process, such as those of a debugger or a test runner, are not passed to the worker.
  const worker = new Worker(workerFile, { workerData, execArgv: [], name: 'rollscope-engine' })
  const onProcessExit = (): void => shutBlocking(gate)
  process.once('exit', onProcessExit)
  const post = (message: ToEngine): void => worker.postMessage(message)
  const listeners = new Map<number, (chunk: JobChunk) => void>()
  const facts = await new Promise<ModelFacts>((resolve, reject) => {
    worker.on('message', (message: FromEngine) => {
      switch (message.type) {
        case 'loaded':
          return resolve(message.facts)
        case 'load-failed':
          return reject(new Error(message.message))
        case 'chunks':
          for (const { key, chunk } of message.chunks) listeners.get(key)?.(chunk)
      }
    })
    const gone = (message: string): void => {
      process.off('exit', onProcessExit)
      reject(new Error(message))
      for (const listen of listeners.values()) listen(emptyChunk({ kind: 'failed', status: 500, message }))
      onGone()
    }
    worker.on('error', (error) => gone(`the engine thread failed: ${error.message}`))
    worker.on('exit', () => gone('the engine thread has ended'))
  })
  worker.unref()
  let lastKey = 0
  return {
    facts,
    capacity: start.capacity,
    jobs: () => listeners.size,
    tally,
    run(job, onChunk) {
      const key = ++lastKey
      listeners.set(key, (chunk) => {
        if (chunk.finish) listeners.delete(key)
        // An idle engine keeps no process alive.
        if (listeners.size === 0) worker.unref()
        onChunk(chunk)
      })
      worker.ref()
      post({ type: 'run', job: { ...job, key } })
      return { abort: () => post({ type: 'abort', key }) }
    },
    forgetPrefixes: () => post({ type: 'flush' }),
    async close() {
      await closeGate(gate)
      await worker.terminate()
    },
  }
}
