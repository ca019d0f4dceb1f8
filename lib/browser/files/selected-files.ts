/** Finds the files of a drop or of a file dialog, also in folders, in the order of their names. */

import { LIMITS, type Limits } from '#lib/util/limits.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import { compareNames, whySkipped } from '#lib/util/text/file-names.ts'

/** What the user dropped or chose. */
export interface DroppedFiles {
  readonly files: readonly File[]
  /** The same files, and the folders that were dropped. Empty: no folder was dropped. */
  readonly entries: readonly FileSystemEntry[]
}

/** A file of a selection. */
interface SelectedFile {
  /** Name with the folders around it. */
  readonly path: string
  readonly file: () => File | Promise<File>
}

/** A file or folder of a selection that is not opened. */
export interface SkippedFile {
  readonly path: string
  readonly reason: string
}

/** The files of a drop or dialog. */
interface SelectedFiles {
  readonly files: readonly SelectedFile[]
  readonly skipped: readonly SkippedFile[]
}

/**
 * Returns all files of a selection in the order of their paths. Hidden files, and those beyond the limits, are skipped with a reason. A
 * folder that cannot be read is skipped too. Throws the signal's reason.
 */
export async function selectedFiles(
  { files, entries }: DroppedFiles,
  signal: AbortSignal,
  limits: Pick<Limits, 'files' | 'folders'> = LIMITS,
): Promise<SelectedFiles> {
  const found: SelectedFile[] = []
  const skipped: SkippedFile[] = []
  const take = (file: SelectedFile) => {
    if (found.length < limits.files) found.push(file)
    else skipped.push({ path: file.path, reason: `it is beyond the first ${countText(limits.files)} files` })
  }
  const walk = async (siblings: readonly FileSystemEntry[], folder: string, depth: number): Promise<void> => {
    for (const entry of siblings.toSorted((a, b) => compareNames(a.name, b.name))) {
      signal.throwIfAborted()
      const path = `${folder}${entry.name}`
      // A folder that the user dropped may have any name.
      const reason = depth === 0 && entry.isDirectory ? undefined : whySkipped(entry.name)
      if (reason !== undefined) skipped.push({ path, reason })
      else if (isFile(entry)) take({ path, file: () => fileOf(entry) })
      else if (depth === limits.folders) skipped.push({ path, reason: `it is in more than ${depth} folders` })
      else if (isFolder(entry)) {
        const inside = await entriesIn(entry).catch((error: Error) => error)
        if (inside instanceof Error) skipped.push({ path, reason: `the folder cannot be read: ${inside.message}` })
        else await walk(inside, `${path}/`, depth + 1)
      }
    }
  }
  if (entries.length > 0) await walk(entries, '', 0)
  else
    for (const { path, file } of namedByPath(files)) {
      const hidden = hiddenPart(path)
      if (hidden === undefined) take({ path, file: () => file })
      else if (!skipped.some((one) => one.path === hidden.path)) skipped.push(hidden)
    }
  return { files: found, skipped }
}

/** Returns all files of a selection that are not skipped. Throws an error of the file system. */
export async function filesIn(dropped: DroppedFiles): Promise<readonly File[]> {
  if (dropped.entries.length === 0) return dropped.files
  const { files } = await selectedFiles(dropped, new AbortController().signal)
  return Promise.all(files.map(({ file }) => file()))
}

/** A folder dialog gives every file a path that begins with the chosen folder. */
const namedByPath = (files: readonly File[]): readonly { readonly path: string; readonly file: File }[] =>
  files
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .toSorted((a, b) => compareNames(a.path, b.path))

/** Returns the first part of a path that is skipped. The chosen folder itself may have any name. */
function hiddenPart(path: string): SkippedFile | undefined {
  const parts = path.split('/')
  for (const [index, part] of parts.entries()) {
    const reason = index > 0 || parts.length === 1 ? whySkipped(part) : undefined
    if (reason !== undefined) return { path: parts.slice(0, index + 1).join('/'), reason }
  }
  return undefined
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject))

/** Browsers return the entries of a folder in parts of 100. */
async function entriesIn(folder: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = folder.createReader()
  const all: FileSystemEntry[] = []
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (part.length === 0) return all
    all.push(...part)
  }
}
