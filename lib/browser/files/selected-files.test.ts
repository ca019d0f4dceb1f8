import { expect, test } from 'vitest'
import { filesIn, selectedFiles } from './selected-files.ts'

/** A folder as nested objects; a text is the content of a file, and an Error is thrown when the folder is read. */
interface Folder {
  readonly [name: string]: Folder | string | Error
}

/** Returns the entry of a file or folder, as browsers give it. A folder is read in parts of two entries. */
function entryOf(name: string, content: Folder | string | Error): FileSystemEntry {
  if (typeof content === 'string') {
    const file = (resolve: (file: File) => void) => resolve(new File([content], name))
    return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry
  }
  const createReader = () => {
    const rest = content instanceof Error ? [] : Object.entries(content).map(([name, inner]) => entryOf(name, inner))
    return {
      readEntries: (resolve: (entries: FileSystemEntry[]) => void, reject: (error: Error) => void) =>
        content instanceof Error ? reject(content) : resolve(rest.splice(0, 2)),
    }
  }
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry
}

const dropped = (top: Folder) => ({
  files: [],
  entries: Object.entries(top).map(([name, content]) => entryOf(name, content)),
})
/** Returns a file of a folder dialog. */
function inFolder(path: string): File {
  const file = new File([path], path.replace(/.*\//, ''))
  Object.defineProperty(file, 'webkitRelativePath', { value: path })
  return file
}
const { signal } = new AbortController()

/** Returns the paths of the found and of the skipped files. */
async function found(...given: Parameters<typeof selectedFiles>) {
  const { files, skipped } = await selectedFiles(...given)
  return { files: files.map(({ path }) => path), skipped: skipped.map(({ path, reason }) => `${path}: ${reason}`) }
}

test('A dropped folder is walked in the order of names, and hidden files are skipped with a reason', async () => {
  const dump = {
    'rollout_10.json': '10',
    'rollout_9.json': '9',
    '.DS_Store': '',
    '.git': { config: '' },
    evals: { 'a.eval': 'zip', deep: { 'b.json': 'b' } },
    'rollout_0.json': '0',
  }
  const selection = dropped({ 'b.json': 'b', dump })
  expect(await found(selection, signal)).toEqual({
    files: [
      'b.json',
      'dump/evals/a.eval',
      'dump/evals/deep/b.json',
      'dump/rollout_0.json',
      'dump/rollout_9.json',
      'dump/rollout_10.json',
    ],
    skipped: [
      'dump/.DS_Store: its name begins with a dot, so it is hidden',
      'dump/.git: its name begins with a dot, so it is hidden',
    ],
  })
  const files = await filesIn(selection)
  expect(await Promise.all(files.map((file) => file.text()))).toEqual(['b', 'zip', 'b', '0', '9', '10'])
})

test('A folder that the user drops may be hidden itself', async () => {
  expect(await found(dropped({ '.runs': { 'a.json': '' }, '.hidden': '' }), signal)).toEqual({
    files: ['.runs/a.json'],
    skipped: ['.hidden: its name begins with a dot, so it is hidden'],
  })
})

test('A folder that cannot be read costs only itself', async () => {
  expect(await found(dropped({ a: new Error('denied'), b: { 'c.json': '' } }), signal)).toEqual({
    files: ['b/c.json'],
    skipped: ['a: the folder cannot be read: denied'],
  })
})

test('Files and folders beyond the limits are skipped with the limit', async () => {
  const selection = dropped({ a: { '1': '', '2': '', '3': '', in: { in: { '0': '' } } } })
  expect(await found(selection, signal, { files: 2, folders: 2 })).toEqual({
    files: ['a/1', 'a/2'],
    skipped: ['a/3: it is beyond the first 2 files', 'a/in/in: it is in more than 2 folders'],
  })
})

test('Files of a folder dialog have the path of the folder, and each hidden folder is reported once', async () => {
  const names = ['.run/b_10.json', '.run/b_9.json', '.run/.git/config', '.run/.git/HEAD', '.run/x/Thumbs.db']
  expect(await found({ files: names.map(inFolder), entries: [] }, signal)).toEqual({
    files: ['.run/b_9.json', '.run/b_10.json'],
    skipped: [
      '.run/.git: its name begins with a dot, so it is hidden',
      '.run/x/Thumbs.db: the operating system adds it to folders',
    ],
  })
})

test('Walking a folder ends when it is cancelled', async () => {
  const stopping = new AbortController()
  stopping.abort(new Error('cancelled'))
  await expect(selectedFiles(dropped({ a: { b: '' } }), stopping.signal)).rejects.toThrow('cancelled')
})
