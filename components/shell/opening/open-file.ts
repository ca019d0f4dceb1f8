/** Decides how a file opens. It is loaded with the first file that the user opens, so that pages load less. */
import { indexedFile } from '#lib/browser/file-index/indexed-file.ts'
import type { OpenedFileStore } from '#lib/browser/files/opened-file.ts'
import { MOST_BYTES_AT_ONCE } from '#lib/browser/files/opened-files.ts'

/** Files beyond these limits are listed and stored on request. Others show their first trajectory and are stored. */
const SHOWN_LIMITS = { trajectories: 50, bytes: MOST_BYTES_AT_ONCE }

/** Address of the trajectories of the file that is listed. */
const LIST_HREF = '/file'

/** Returns the address of the first of several trajectories in the opened file. */
const openedHref = (count: number): string => `/open${count > 1 ? `?opened=${count}` : ''}`

/**
 * Opens a file and returns the address that shows it: the list of its trajectories if it has many or is large, otherwise the first one.
 * Throws FileError, ApiError, TaskError, or the signal's reason.
 */
export async function openUserFile(openedFile: OpenedFileStore, file: File, signal: AbortSignal): Promise<string> {
  const { count, isShown } = await openedFile.open(file, signal, SHOWN_LIMITS)
  if (isShown) return openedHref(count)
  if (await indexedFile.open(file, signal)) return LIST_HREF
  return openedHref((await openedFile.open(file, signal)).count)
}

/** Opens the file at an address, and returns the address that shows its first trajectory. Throws ApiError, or the signal's reason. */
export async function openUrl(openedFile: OpenedFileStore, url: string, signal: AbortSignal): Promise<string> {
  return openedHref((await openedFile.openUrl(url, signal)).count)
}
