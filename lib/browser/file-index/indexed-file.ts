/**
 * The file whose samples are listed. It is read where it lies: a worker indexes it in the background, each sample is read again when it is
 * opened, and nothing is stored without a request.
 */
import type { ImportResult } from '#lib/api/imported.ts'
import { mayHaveSeveralRecords } from '#lib/formats/reading/several-records.ts'
import { connectWorker } from '#lib/tasks/worker-protocol.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { fileByteSource } from '../files/file-bytes.ts'
import { FileError } from '../files/file-error.ts'
import { importFile } from '../files/opened-file.ts'
import { READ_ERRORS } from '../files/read-errors.ts'
import { createStore } from '../store.ts'
import { type PageWorker, startPageWorker } from '../workers/port.ts'
import { type ReaderWorker, readerWorker } from '../workers/reader.ts'
import type { IndexAnswer, IndexRequest } from './index-host.ts'
import { recordsFile, tableRows } from './record-files.ts'
import type { FileSampleRow } from './sample-row.ts'

/** State of the index. */
type IndexStatus =
  | { readonly kind: 'indexing' }
  /** The user stopped it; it can be resumed. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'finished' }
  /** The file has more trajectories than the list may have. */
  | { readonly kind: 'full' }
  /** The file cannot be read further. */
  | { readonly kind: 'failed'; readonly error: Error }

/** The listed file with its rows so far. */
export interface ShownIndex {
  readonly kind: 'shown'
  /** Numbers the files that were listed, because files may share a name. */
  readonly opening: number
  readonly name: string
  /** Bytes of the file. */
  readonly size: number
  readonly rows: readonly FileSampleRow[]
  /** Bytes that have been indexed. */
  readonly bytes: number
  readonly status: IndexStatus
  /** Indexes of the selected rows. */
  readonly chosen: ReadonlySet<number>
}

/** Access to the listed file. */
export interface IndexedFileStore {
  subscribe(listener: () => void): () => void
  state(): ShownIndex | { readonly kind: 'none' }
  /**
   * Lists the samples of a file in place of the file before; resolves with the first rows. Returns false if the file must be opened as a
   * whole. Throws FileError, ApiError if the worker fails, or the signal's reason.
   */
  open(file: File, signal: AbortSignal): Promise<boolean>
  /** Stops the index; its rows stay. */
  stop(): void
  /** Continues a stopped index after its last row. */
  resume(): void
  /** Changes the selection. */
  choose(rows: ReadonlySet<number>): void
  /** Reads the trajectory of a row. Throws as ReaderWorker does. */
  read(row: FileSampleRow, signal: AbortSignal): Promise<TrajectoryView>
  /** Stores the records of these rows, or of the whole file. Throws ApiError. */
  store(rows: readonly FileSampleRow[] | 'all'): Promise<ImportResult>
}

interface IndexedFileDeps {
  readonly createWorker: () => PageWorker
  readonly reader: Pick<ReaderWorker, 'file'>
  readonly importFile: (file: File) => Promise<ImportResult>
}

const inBrowser: IndexedFileDeps = {
  // Bundlers recognize exactly this expression.
  createWorker: () => new Worker(new URL('./index-worker.ts', import.meta.url), { type: 'module' }),
  reader: readerWorker,
  importFile,
}

/** Returns a store without a file. */
export function createIndexedFile({ createWorker, reader, importFile }: IndexedFileDeps = inBrowser): IndexedFileStore {
  const { subscribe, state, set } = createStore<ShownIndex | { readonly kind: 'none' }>({ kind: 'none' })
  let opened: { readonly file: File; readonly worker: ReturnType<typeof connect> } | undefined
  let openings = 0
  const connect = () => connectWorker<IndexRequest, IndexAnswer>(startPageWorker(createWorker), READ_ERRORS, () => {})

  const fileShown = (): File => {
    if (!opened) throw new FileError('No file is open here.', 'Open the file again.')
    return opened.file
  }

  /** Returns a file with the records of the rows. Those of a table are read by a worker of their own. */
  const fileOf = async (file: File, rows: readonly FileSampleRow[], signal?: AbortSignal): Promise<File> => {
    const places = tableRows(rows)
    if (places.length === 0) return recordsFile(file, rows)
    const worker = connect()
    try {
      const request = { kind: 'records', file, places } as const
      const answer = await worker.send(request, signal && { signal }).catch((error: Error) => {
        signal?.throwIfAborted()
        throw readError(file, error)
      })
      if (answer.kind !== 'records') throw new Error('the worker answered with other rows')
      return new File([answer.lines], file.name, { lastModified: file.lastModified })
    } finally {
      void worker.end(ENDED)
    }
  }

  /** Requests rows until the index ends or is stopped. */
  const proceed = async (current: NonNullable<typeof opened>): Promise<void> => {
    const isShown = () => opened === current
    for (;;) {
      const before = state()
      if (!isShown() || before.kind === 'none' || before.status.kind !== 'indexing') return
      const answer = await current.worker.send({ kind: 'rows' }).catch((error: Error) => error)
      const now = state()
      if (!isShown() || now.kind === 'none') return
      if (answer instanceof Error) set({ ...now, status: { kind: 'failed', error: readError(current.file, answer) } })
      else if (answer.kind === 'rows') set(withRows(now, answer))
      if (answer instanceof Error || (answer.kind === 'rows' && answer.end)) await current.worker.end(ENDED)
    }
  }
  /** The only run of `proceed` for the shown file; a stop and a resume within one answer continue it. */
  let running: { readonly of: typeof opened } | undefined
  const start = () => {
    const current = opened
    if (!current || running?.of === current) return
    const run = { of: current }
    running = run
    void proceed(current).finally(() => {
      if (running === run) running = undefined
    })
  }

  return {
    subscribe,
    state,
    async open(file, signal) {
      const worker = connect()
      try {
        const answer = await worker.send({ kind: 'rows', file }, { signal }).catch((error: Error) => {
          signal.throwIfAborted()
          throw readError(file, error)
        })
        if (answer.kind !== 'rows') {
          void worker.end(ENDED)
          return false
        }
        void opened?.worker.end(ENDED)
        opened = { file, worker }
        const { name, size } = file
        const empty = {
          kind: 'shown',
          opening: ++openings,
          name,
          size,
          rows: [],
          bytes: 0,
          chosen: new Set<number>(),
        } as const
        set(withRows({ ...empty, status: { kind: 'indexing' } }, answer))
        if (answer.end) void worker.end(ENDED)
        start()
        return true
      } catch (error) {
        void worker.end(ENDED)
        throw error
      }
    },
    stop() {
      const now = state()
      if (now.kind === 'shown' && now.status.kind === 'indexing') set({ ...now, status: { kind: 'stopped' } })
    },
    resume() {
      const now = state()
      if (now.kind !== 'shown' || now.status.kind !== 'stopped') return
      set({ ...now, status: { kind: 'indexing' } })
      start()
    },
    choose(chosen) {
      const now = state()
      if (now.kind === 'shown') set({ ...now, chosen })
    },
    async read(row, signal) {
      const file = fileShown()
      const now = new Date(file.lastModified).toISOString()
      return (await reader.file(await fileOf(file, [row], signal), now, signal, { at: row.within })).trajectory
    },
    store: async (rows) => {
      const file = fileShown()
      return importFile(rows === 'all' ? file : await fileOf(file, rows))
    },
  }
}

const ENDED = new Error('the worker has ended')

function withRows(now: ShownIndex, { rows, bytes, end }: Extract<IndexAnswer, { kind: 'rows' }>): ShownIndex {
  const status = end === undefined ? now.status : ({ kind: end === 'full' ? 'full' : 'finished' } as const)
  return { ...now, rows: [...now.rows, ...rows], bytes, status }
}

const readError = (file: File, error: Error): FileError =>
  error instanceof FileError
    ? error
    : new FileError(
        `${file.name} cannot be read: ${error.message || 'the page’s worker failed'}`,
        'It may need more memory than this browser has. Split it, or push its parts.',
      )

/** The listed file of all pages: a user who opens a sample and returns finds the list as it was. */
export const indexedFile = createIndexedFile()

/** Returns whether a file may have more than one record. It reads the beginning of the file and parses nothing. Throws FileError. */
export const mayBeListed = (file: File): Promise<boolean> => mayHaveSeveralRecords(fileByteSource(file))
