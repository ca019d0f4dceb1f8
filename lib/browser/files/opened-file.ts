/**
 * The file that the user opened. It is shown first and stored at the same time. Until the server has stored it, it exists only here; then
 * it is a stored trajectory like any other, and nothing remains here.
 */
import type { FailedRecords, ImportResult } from '#lib/api/imported.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { errorText } from '#lib/util/text/error-text.ts'
import { ApiError, callApi, readJsonAnswer } from '../api.ts'
import { createStore } from '../store.ts'
import type { ReaderWorker } from '../workers/reader.ts'
import { ServerFileError, SeveralRecordsError } from './file-error.ts'

/** State of the file. `opening` numbers the opened files, so that a view knows whether it still shows the same one. */
export type OpenedFile =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'shown'
      readonly opening: number
      readonly name: string
      readonly trajectory: TrajectoryView
      /** Its records that could not be read. */
      readonly failed: FailedRecords
      readonly storing: Storing
    }
  | { readonly kind: 'stored'; readonly key: string }

/** State of storing a shown file. */
export type Storing =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'failed'; readonly error: ApiError }

/** Access to the opened file. */
export interface OpenedFileStore {
  subscribe(listener: () => void): () => void
  state(): OpenedFile
  /**
   * Reads a file, shows its first trajectory, and returns the number of its trajectories. A file beyond the limits is not shown. A
   * file that only the server can read is stored at once. Throws FileError and ApiError; the shown file then stays.
   */
  open(file: File, signal: AbortSignal, limits?: ShownLimits): Promise<OpenedCount>
  /** Stores a file of another host, which the server downloads. Throws ApiError, or the signal's reason. */
  openUrl(url: string, signal: AbortSignal): Promise<OpenedCount>
  /** Returns the number of the opening that was stored under this key; undefined if it was not opened as a file. */
  openingOf(key: string): number | undefined
  /**
   * Returns how many trajectories were stored with the first one of a file, which has this key; undefined if it was not opened as a file
   * here.
   */
  storedWith(key: string): StoredCounts | undefined
  /** Returns the keys of all trajectories of the file that this one was opened with; none if it was not opened as a file here. */
  keysWith(key: string): readonly string[]
  /** Stores the shown file, or tries again; does nothing while that is under way. */
  store(): Promise<void>
}

/** Limits of a file whose first trajectory is shown. */
interface ShownLimits {
  readonly trajectories: number
  /** Bytes of a file with several records. */
  readonly bytes: number
}

/** Number of trajectories in a file, and whether the first one is shown. */
interface OpenedCount {
  /** At least so many if none is shown. */
  readonly count: number
  readonly isShown: boolean
}

/** How many trajectories of a file are stored. */
export interface StoredCounts {
  readonly all: number
  /** Number of these that were in the library before. */
  readonly existing: number
  /** Records of the file that could not be read, so they are not stored. */
  readonly failed: FailedRecords
}

interface OpenedFileDeps {
  readonly reader: Pick<ReaderWorker, 'file'>
  /** Stores a file. Throws ApiError, or the signal's reason. */
  readonly importFile: (file: File, options?: ImportOptions) => Promise<Omit<ImportResult, 'format' | 'lacked'>>
  /** Stores a file of another host. Throws ApiError, or the signal's reason. */
  readonly importUrl: (url: string, signal: AbortSignal) => Promise<Omit<ImportResult, 'format' | 'lacked'>>
  /** Called when a trajectory is stored, before any page looks for it under its key. It is undefined if only the server knows it. */
  readonly onStored: (key: string, trajectory: TrajectoryView | undefined) => void
  readonly now: () => Date
}

/** Choices of storing a file. */
export interface ImportOptions {
  /** Name that is stored; default: that of the file. */
  readonly name?: string
  /** Restores the texts of trajectories that have only ids. */
  readonly tokenizer?: string | undefined
  readonly signal?: AbortSignal
}

/** Stores all trajectories of a file that can be read. Throws ApiError, or the signal's reason. */
export async function importFile(
  file: File,
  { name = file.name, tokenizer, signal }: ImportOptions = {},
): Promise<ImportResult> {
  const query = new URLSearchParams({ name, ...(tokenizer !== undefined && { tokenizer }) })
  return requestImport(`/api/import?${query}`, { file }, signal)
}

/** Stores all trajectories of a file that the server downloads. Throws ApiError, or the signal's reason. */
export const importUrl = (url: string, signal: AbortSignal): Promise<ImportResult> =>
  requestImport('/api/import/url', { json: { url } }, signal)

/** Requests an import. Every page loads this file, and few open a file, so the schema is loaded with the first answer. */
async function requestImport(
  path: string,
  body: { readonly file: File } | { readonly json: object },
  signal: AbortSignal | undefined,
): Promise<ImportResult> {
  const response = await callApi(path, { method: 'POST', ...body, signal })
  const { importedSchema } = await import('#lib/api/imported.ts')
  return readJsonAnswer(path, response, importedSchema, signal)
}

/** Returns a store without a file. */
export function createOpenedFile({ reader, importFile, importUrl, onStored, now }: OpenedFileDeps): OpenedFileStore {
  const { subscribe, state, set } = createStore<OpenedFile>({ kind: 'none' })
  let openings = 0
  const stored = new Map<string, StoredCounts & { readonly opening: number; readonly keys: readonly string[] }>()
  let shownFile: File | undefined

  /** Takes a file that the server has stored and that this page has not read. */
  const showStored = ({ trajectories, existing, failed }: Omit<ImportResult, 'format' | 'lacked'>): OpenedCount => {
    const [key] = trajectories
    onStored(key, undefined)
    stored.set(key, { opening: ++openings, keys: trajectories, all: trajectories.length, existing, failed })
    shownFile = undefined
    set({ kind: 'stored', key })
    return { count: trajectories.length, isShown: true }
  }

  return {
    subscribe,
    state,
    openingOf: (key) => stored.get(key)?.opening,
    storedWith: (key) => stored.get(key),
    keysWith: (key) => [...stored.values()].findLast(({ keys }) => keys.includes(key))?.keys ?? [],
    async open(file, signal, limits) {
      const refusesSeveral = limits !== undefined && file.size > limits.bytes
      const read = await reader.file(file, now().toISOString(), signal, { refusesSeveral }).catch((error: unknown) => {
        if (error instanceof ServerFileError) return 'on server'
        if (error instanceof SeveralRecordsError) return 'several'
        throw error
      })
      if (read === 'on server') return showStored(await importFile(file, { signal }))
      if (read === 'several') return { count: 2, isShown: false }
      const { trajectory, count, failed } = read
      if (limits && count > limits.trajectories) return { count, isShown: false }
      shownFile = file
      set({ kind: 'shown', opening: ++openings, name: file.name, trajectory, failed, storing: { kind: 'waiting' } })
      return { count, isShown: true }
    },
    openUrl: async (url, signal) => showStored(await importUrl(url, signal)),
    async store() {
      const current = state()
      if (current.kind !== 'shown' || current.storing.kind === 'pending' || shownFile === undefined) return
      const { opening, trajectory, failed } = current
      /** Another file may be shown by now. */
      const shownState = () => {
        const now = state()
        return now.kind === 'shown' && now.opening === opening ? now : undefined
      }
      set({ ...current, storing: { kind: 'pending' } })
      try {
        const { trajectories, existing, first } = await importFile(shownFile)
        const [key] = trajectories
        const isSame = trajectory.id === first.id && trajectory.createdAt === first.createdAt
        // A record without an id may have been in the library before, with other labels.
        const known = existing > 0 ? undefined : { ...trajectory, ...first }
        onStored(key, isSame ? trajectory : known)
        stored.set(key, { opening, keys: trajectories, all: trajectories.length, existing, failed })
        if (!shownState()) return
        shownFile = undefined
        set({ kind: 'stored', key })
      } catch (error) {
        const still = shownState()
        if (still) set({ ...still, storing: { kind: 'failed', error: storingError(error) } })
        if (!(error instanceof ApiError)) throw error
      }
    },
  }
}

/** The code that reads the answer may be gone, for example because the application was updated while the page was open. */
const storingError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(0, 'STORING_FAILED', errorText(error), 'Reload the page and look in the library: it may be stored.')
