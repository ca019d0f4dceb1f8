/**
 * Reads trajectories. Packed answers of the server are read on the page, which takes some milliseconds. Files and JSON are read in a
 * worker, so that neither parsing nor checking blocks the page; it is kept for a while, because the first trajectory that it reads is the
 * slowest, and then ended together with the memory that parsing used.
 */
import { createOnDemandWorker } from '#lib/tasks/worker-protocol.ts'
import { PACKED_TYPE, readPackedAnswer } from '#lib/trajectory/tokens/packed-bytes.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, callApi, unreachableError } from '../api.ts'
import { READ_ERRORS } from '../files/read-errors.ts'
import { type PageWorker, startPageWorker } from './port.ts'
import type { ReadAnswer, ReadSource } from './read-host.ts'

/** Reads trajectories for the page. */
export interface ReaderWorker {
  /** Returns a trajectory of a file. Throws FileError, ServerFileError, SeveralRecordsError, ApiError if the worker fails, or the signal's reason. */
  file(file: File, now: string, signal: AbortSignal, options?: FileOptions): Promise<ReadAnswer>
  /** Returns the trajectory in the server's answer for this path; posts `json` if given. Throws ApiError, or the signal's reason. */
  call(path: string, signal: AbortSignal, json?: object): Promise<TrajectoryView>
  /** Starts the worker, for a file that is about to be read. */
  prepare(): void
}

interface FileOptions {
  /** Position of the trajectory in the file. Omitted: the first. */
  readonly at?: number
  /** True if a file with several records throws SeveralRecordsError as soon as the second one is found. Omitted: false. */
  readonly refusesSeveral?: boolean
}

interface ReaderDeps {
  readonly createWorker: () => PageWorker
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

/** Returns a reader, whose worker starts with the first trajectory. */
export function createReader({ createWorker, idleMs, newId }: ReaderDeps = inBrowser): ReaderWorker {
  const worker = createOnDemandWorker<ReadSource, ReadAnswer>({
    start: (receive, onGone) => startPageWorker(createWorker)(receive, ({ message }) => onGone(workerFailed(message))),
    classes: READ_ERRORS,
    idleMs,
    ended: () => new Error('the worker has ended'),
  })
  const readJson = async (response: Response, signal: AbortSignal): Promise<TrajectoryView> => {
    worker.prepare()
    const bytes = await bytesOf(response, signal)
    return (await worker.send({ kind: 'json', bytes }, { signal, transfer: [bytes] })).trajectory
  }
  return {
    file: (file, now, signal, { at = 0, refusesSeveral = false } = {}) =>
      worker.send({ kind: 'file', file, now, id: newId(), at, refusesSeveral }, { signal }),
    async call(path, signal, json) {
      const options = json ? { method: 'POST', json } : { accept: `${PACKED_TYPE}, */*` }
      const response = await callApi(path, { signal, ...options })
      if (response.headers.get('content-type') !== PACKED_TYPE) return readJson(response, signal)
      const packed = readPackedAnswer(await bytesOf(response, signal))
      if (packed) return packed.trajectory
      // The page and the server differ in their version.
      return readJson(await callApi(path, { signal }), signal)
    },
    prepare: worker.prepare,
  }
}

/** Returns the body of an answer. Throws ApiError if the connection ends before it, or the signal's reason. */
const bytesOf = (response: Response, signal: AbortSignal): Promise<ArrayBuffer> =>
  response.arrayBuffer().catch((error: unknown) => {
    throw signal.aborted ? error : unreachableError()
  })

const workerFailed = (why: string): ApiError =>
  new ApiError(
    0,
    'WORKER_FAILED',
    `The trajectory cannot be read: ${why || 'the page’s worker failed'}.`,
    'It may need more memory than this browser has.',
  )

/** The reader of all pages. */
export const readerWorker = createReader()
