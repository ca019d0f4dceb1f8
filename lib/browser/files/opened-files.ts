/**
 * Opens several files at once: each is stored by the server, one after the other, in the order of their names. A file that does not open
 * costs only itself. A large file of many records is not stored, because the user can list it.
 */
import type { ImportResult } from '#lib/api/imported.ts'
import type { ByteSource } from '#lib/formats/containers/container.ts'
import { BEGINNING, decodedBeginning, fileTypeOf } from '#lib/formats/reading/file-type.ts'
import { bytesText, LIMITS } from '#lib/util/limits.ts'
import { ApiError } from '../api.ts'
import { mayBeListed } from '../file-index/indexed-file.ts'
import { hintOf } from '../hint-of.ts'
import { createStore } from '../store.ts'
import { fileByteSource } from './file-bytes.ts'
import { FileError } from './file-error.ts'
import { importFile } from './opened-file.ts'
import { type DroppedFiles, type SkippedFile, selectedFiles } from './selected-files.ts'

/** What became of a file. */
type FileResult =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'stored'; readonly imported: ImportResult }
  /** It has many records and was not stored. */
  | { readonly kind: 'large'; readonly file: File }
  | { readonly kind: 'failed'; readonly message: string; readonly hint: string | undefined }
  /** The opening ended before it. */
  | { readonly kind: 'unread' }

/** A file with what became of it. */
export interface OpeningFile {
  readonly path: string
  readonly result: FileResult
}

/** State of opening several files. */
export interface OpeningState {
  /** `finding`: folders are read. */
  readonly status: 'finding' | 'opening' | 'finished' | 'cancelled'
  readonly files: readonly OpeningFile[]
  readonly skipped: readonly SkippedFile[]
}

/** An opening of several files that has started. */
export interface FilesOpening {
  subscribe(listener: () => void): () => void
  state(): OpeningState
  /** Ends the opening. Files that are stored remain. */
  cancel(): void
  /** Resolves when the opening has ended. */
  readonly ended: Promise<void>
}

interface OpeningDeps {
  /** Stores a file. Throws ApiError, or the signal's reason. */
  readonly importFile: typeof importFile
  readonly mayBeListed: (file: File) => Promise<boolean>
}

/** Files with several records above this size are listed and not stored. */
export const MOST_BYTES_AT_ONCE = 8 * 2 ** 20

/** Starts to open the files of a drop or dialog. */
export function openFiles(dropped: DroppedFiles, deps: OpeningDeps = { importFile, mayBeListed }): FilesOpening {
  const { subscribe, state, set } = createStore<OpeningState>({ status: 'finding', files: [], skipped: [] })
  const stopping = new AbortController()
  const { signal } = stopping
  const setResult = (index: number, result: FileResult) =>
    set({ ...state(), files: state().files.map((file, at) => (at === index ? { ...file, result } : file)) })
  const end = () => {
    const now = state()
    const isWhole = now.status === 'opening' && now.files.every(({ result }) => result.kind !== 'waiting')
    set({
      ...now,
      status: isWhole && !signal.aborted ? 'finished' : 'cancelled',
      files: now.files.map(({ path, result }) => ({
        path,
        result: result.kind === 'waiting' || result.kind === 'reading' ? { kind: 'unread' } : result,
      })),
    })
  }
  const run = async () => {
    const { files: selected, skipped } = await selectedFiles(dropped, signal)
    const { withJoinedFiles } = await import('#lib/formats/reading/joined-files.ts')
    const files = await withJoinedFiles(selected)
    set({ status: 'opening', files: files.map(({ path }) => ({ path, result: { kind: 'waiting' } })), skipped })
    for (const [index, { path, file }] of files.entries()) {
      signal.throwIfAborted()
      setResult(index, { kind: 'reading' })
      const result = await openedFile(path, file, signal, deps)
      setResult(index, result.result)
      if (result.isLast) return
    }
  }
  const ended = run()
    .catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    .finally(end)
  return { subscribe, state, cancel: () => stopping.abort(), ended }
}

/** Opens a file. `isLast`: no other file would open, because the server does not answer. */
async function openedFile(
  path: string,
  read: () => File | Promise<File>,
  signal: AbortSignal,
  { importFile, mayBeListed }: OpeningDeps,
): Promise<{ readonly result: FileResult; readonly isLast?: boolean }> {
  try {
    const file = await read()
    await refuseOtherTypes(file.name, fileByteSource(file))
    if (file.size > MOST_BYTES_AT_ONCE && (await mayBeListed(file))) return { result: { kind: 'large', file } }
    if (file.size > LIMITS.fileBytes)
      throw new FileError(`the file is larger than ${bytesText(LIMITS.fileBytes)}`, 'Split it, and open its parts.')
    return { result: { kind: 'stored', imported: await importFile(file, { name: path, signal }) } }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof Error)) throw error
    const isLast = error instanceof ApiError && (error.status === 0 || error.status === 401)
    return { result: { kind: 'failed', message: error.message, hint: hintOf(error) }, isLast }
  }
}

/** Refuses weights, pickles and similar files by their first bytes, so that they are not sent to the server. Throws FileError. */
async function refuseOtherTypes(name: string, bytes: ByteSource): Promise<void> {
  const beginning = decodedBeginning(await bytes.read(0, Math.min(BEGINNING, bytes.size)))
  const type = fileTypeOf(beginning, name)
  if (type) throw new FileError(`expected JSON, found ${type.name}`, type.hint)
}
