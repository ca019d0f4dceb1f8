/** Finds files of one folder that are records of one trajectory, such as the events of a conversation. */
import { parsePythonJson } from '#lib/json/python-json.ts'
import { compareNames } from '#lib/util/text/file-names.ts'
import { formatOf } from '../registry.ts'

/** A file of a folder. */
export interface FolderFile<Content extends Blob = Blob> {
  /** Name with the folders around it. */
  readonly path: string
  readonly file: () => Content | Promise<Content>
}

/**
 * Returns the files in their order. Those of a folder that belong together are one file of JSON lines, which has the path of the folder
 * and the place of the first of them. The first JSON files of a folder decide whether the others are read. A
 * file that cannot be read is returned like any other.
 */
export async function withJoinedFiles<Content extends Blob>(
  files: readonly FolderFile<Content>[],
): Promise<readonly FolderFile<Content | File>[]> {
  const folders = Map.groupBy(
    files.filter(({ path }) => /\.json$/i.test(path)),
    ({ path }) => path.replace(/\/?[^/]*$/, ''),
  )
  /** What takes the place of a file: nothing if it is a part of another one. */
  const replacements = new Map<FolderFile, readonly FolderFile<File>[]>()
  // A single file is not read here, because it is read when it opens.
  for (const [folder, inside] of [...folders].filter(([, { length }]) => length > 1)) {
    const sorted = inside.toSorted((a, b) => compareNames(a.path, b.path))
    const joined: FolderFile[] = []
    for (const [index, file] of sorted.entries()) {
      if (joined.length === 0 && index === TRIED) break
      if (await isPart(file)) joined.push(file)
    }
    const [first] = joined
    if (first === undefined || joined.length === 1) continue
    for (const file of joined) replacements.set(file, [])
    const path = folder === '' ? first.path : folder
    replacements.set(first, [{ path, file: async () => joinedFile(path, joined) }])
  }
  return files.flatMap((file): readonly FolderFile<Content | File>[] => replacements.get(file) ?? [file])
}

/** Number of files of a folder that are read if none of them is a part. */
const TRIED = 3
/** A larger file is opened alone. An event may contain an image. */
const MOST_BYTES = 16 * 2 ** 20

/** Returns whether a file is a record of a format whose files belong together. */
async function isPart({ file }: FolderFile): Promise<boolean> {
  try {
    const content = await file()
    if (content.size > MOST_BYTES) return false
    return formatOf(parsePythonJson(await content.text()))?.joinsFiles ?? false
  } catch {
    return false
  }
}

async function joinedFile(path: string, files: readonly FolderFile[]): Promise<File> {
  const contents: BlobPart[] = []
  for (const { file } of files) contents.push(await file(), '\n')
  return new File(contents, path.replace(/.*\//, ''))
}
