/**
 * Reads trajectories in a worker: the page receives them packed, and neither parsing nor checking blocks it. The worker is kept for a
 * while, because the first trajectory that it reads is the slowest, and then ended together with the memory that parsing used.
 */
import { ApiError, storedToken } from '../api.ts'
import { FileError } from '../files/file-error.ts'
import type { FromReader, ReadAnswer, ReadFailure, ReadSource, ToReader } from './read-host.ts'

/** Reads trajectories for the page. */
export interface Reader {
  /** Returns the first trajectory of a file. Throws FileError, ApiError if the worker fails, or the signal's reason. */
  file(file: File, now: string, signal: AbortSignal): Promise<ReadAnswer>
  /** Returns the trajectory in the server's answer for this path; posts `json` if given. Throws ApiError, or the signal's reason. */
  call(path: string, signal: AbortSignal, json?: object): Promise<ReadAnswer>
  /** Starts the worker, for a trajectory that is about to be read. */
  prepare(): void
}

type ReadWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

interface ReaderDeps {
  readonly createWorker: () => ReadWorker
  /** Milliseconds for which an idle worker is kept. */
  readonly idleMs: number
  readonly newId: () => string
}

const inBrowser: ReaderDeps = {
  // Bundlers recognize exactly this expression.
  createWorker: () => new Worker(new URL('./read-worker.ts', import.meta.url), { type: 'module' }),
  idleMs: 20_000,
  newId: () =>
    Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(''),
}

interface Reading {
  readonly resolve: (read: ReadAnswer) => void
  readonly reject: (error: unknown) => void
}

/** Returns a reader, whose worker starts with the first trajectory. */
export function createReader({ createWorker, idleMs, newId }: ReaderDeps = inBrowser): Reader {
  const readings = new Map<number, Reading>()
  let nextId = 0
  let worker: ReadWorker | undefined
  let idle: ReturnType<typeof setTimeout> | undefined

  function end(): void {
    clearTimeout(idle)
    worker?.terminate()
    worker = undefined
  }

  function rest(): void {
    clearTimeout(idle)
    if (readings.size === 0) idle = setTimeout(end, idleMs)
  }

  function start(): ReadWorker {
    const made = createWorker()
    made.onmessage = ({ data }: MessageEvent<FromReader>) => {
      const reading = readings.get(data.id)
      readings.delete(data.id)
      rest()
      if (data.kind === 'read') reading?.resolve(data.read)
      else reading?.reject(errorOf(data.failure))
    }
    made.onerror = (event) => {
      event.preventDefault?.()
      end()
      const lost = [...readings.values()]
      readings.clear()
      const error = new ApiError(
        0,
        'WORKER_FAILED',
        `The trajectory cannot be read: ${event.message || 'the page’s worker failed'}.`,
        'It may be larger than this browser has memory for.',
      )
      for (const { reject } of lost) reject(error)
    }
    return made
  }

  function read(source: ReadSource, signal: AbortSignal): Promise<ReadAnswer> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<ReadAnswer>()
    const id = nextId++
    const giveUp = () => {
      if (!readings.delete(id)) return
      worker?.postMessage({ kind: 'cancel', id } satisfies ToReader)
      rest()
      reject(signal.reason)
    }
    readings.set(id, { resolve, reject })
    signal.addEventListener('abort', giveUp, { once: true })
    clearTimeout(idle)
    worker ??= start()
    worker.postMessage({ kind: 'read', id, source } satisfies ToReader)
    return promise.finally(() => signal.removeEventListener('abort', giveUp))
  }

  return {
    file: (file, now, signal) => read({ kind: 'file', file, now, id: newId() }, signal),
    call: (path, signal, json) =>
      read({ kind: 'call', address: new URL(path, window.location.href).href, token: storedToken(), json }, signal),
    prepare() {
      worker ??= start()
      rest()
    },
  }
}

function errorOf(failure: ReadFailure): Error {
  switch (failure.kind) {
    case 'file':
      return new FileError(failure.message, failure.hint)
    case 'call': {
      const { status, code, message, hint, field, remedy } = failure
      return new ApiError(status, code, message, hint, { field, remedy })
    }
    case 'other':
      return new Error(failure.message)
  }
}

/** The reader of all pages. */
export const reader = createReader()
