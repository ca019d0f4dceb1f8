/** Finds a tokenizer by name: the built-in model's, an allowed folder, or a Hub repository. */
import { createHash } from 'node:crypto'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import type { TokenizerFiles } from '#lib/api/tokenizer-files.ts'
import {
  type LoadedTokenizer,
  loadDefinition,
  readDefinition,
  TokenizerError,
} from '#lib/tokenizer/files/tokenizer-files.ts'
import { hasTokenizer, hubFolder, LARGEST_FILE, lacksTokenizerJson } from './hub.ts'
import { readPackedDefinition, storePackedDefinition } from './packed-definitions.ts'
import type { HubPlace, Progress } from './repository.ts'

/** Sources of tokenizers. */
export interface TokenizerPlaces {
  /** Folder or Hub name by the name of a built-in model. */
  readonly builtIn: Readonly<Record<string, string>>
  /** Folders whose subfolders may be named, by absolute or relative path (ROLLSCOPE_TOKENIZERS). */
  readonly folders: readonly string[]
  readonly hub: HubPlace
  /** Folder of packed vocabularies, which load faster and with less memory. Omitted: none are stored. */
  readonly packedFolder?: string
}

/** Loads tokenizers by name. */
export interface TokenizerLoader {
  /**
   * Loads a tokenizer. The same files give the same instance. Concurrent callers share one download, which ends when the
   * last of them aborts. Throws TokenizerError, or the reason of the signal.
   */
  load(name: string, signal?: AbortSignal): Promise<LoadedTokenizer>
  /**
   * Returns the texts that `load` reads, for the browser or Python. Throws TokenizerError, or the reason of the signal.
   */
  files(name: string, signal: AbortSignal): Promise<TokenizerFiles>
  /** Returns the sorted names of the tokenizers in the allowed folders, as `load` accepts them. */
  names(): Promise<readonly string[]>
  /** Returns the running downloads by requested name. */
  downloads(): readonly DownloadProgress[]
}

interface Loading {
  readonly loaded: Promise<LoadedTokenizer>
  readonly controller: AbortController
  waiting: number
  progress: Progress | undefined
}

/** Creates a loader. */
export function createTokenizerLoader(places: TokenizerPlaces): TokenizerLoader {
  const byName = new Map<string, Loading>()
  const byContent = new Map<string, LoadedTokenizer>()
  const load = async (
    name: string,
    onProgress: (progress: Progress | undefined) => void,
    signal: AbortSignal,
  ): Promise<LoadedTokenizer> => {
    const folder = await folderOf(name, places, onProgress, signal)
    onProgress(undefined)
    const files = await readFiles(name, folder, places.folders)
    const content = contentHash(files)
    const known = byContent.get(content)
    if (known) return known
    const loaded = await loadFiles(name, files, content, places.packedFolder)
    // Two names of the same files may be loaded at the same time.
    const first = byContent.get(content) ?? loaded
    byContent.set(content, first)
    return first
  }
  const begin = (name: string): Loading => {
    const controller = new AbortController()
    const { promise: loaded, resolve } = Promise.withResolvers<LoadedTokenizer>()
    const loading: Loading = { loaded, controller, waiting: 0, progress: undefined }
    byName.set(name, loading)
    resolve(
      load(
        name,
        (progress) => {
          loading.progress = progress
        },
        controller.signal,
      ),
    )
    // Failures are not cached, because the next attempt may find the files.
    loaded.catch(() => forget(name, loading))
    return loading
  }
  const forget = (name: string, loading: Loading): void => {
    if (byName.get(name) === loading) byName.delete(name)
  }
  const loader: TokenizerLoader = {
    async load(name, signal) {
      signal?.throwIfAborted()
      const loading = byName.get(name) ?? begin(name)
      loading.waiting++
      try {
        return await unlessLeft(loading.loaded, signal)
      } catch (error) {
        if (loading.waiting === 1 && signal?.aborted) {
          forget(name, loading)
          loading.controller.abort(signal.reason)
        }
        throw error
      } finally {
        loading.waiting--
      }
    },
    async files(name, signal) {
      // This calls load, so that a download is shared and reports its progress.
      await loader.load(name, signal)
      return textsOf(await readFiles(name, await folderOf(name, places, () => {}, signal), places.folders))
    },
    names: () => namesIn(places.folders),
    downloads: () =>
      [...byName].flatMap(([name, { progress }]) =>
        progress === undefined ? [] : [{ kind: 'tokenizer', name, ...progress }],
      ),
  }
  return loader
}

async function unlessLeft<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  const { promise: left, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([promise, left])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Returns whether a name is a path on disk rather than a Hub name. */
export const isFolderName = (name: string): boolean =>
  path.isAbsolute(name) || name.startsWith('.') || name.startsWith('~')

async function folderOf(
  name: string,
  places: TokenizerPlaces,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<string> {
  const fromHub = (repository: string) => hubFolder(repository, places.hub, onProgress, signal)
  const builtIn = Object.hasOwn(places.builtIn, name) ? places.builtIn[name] : undefined
  if (builtIn !== undefined) return path.isAbsolute(builtIn) ? builtIn : fromHub(builtIn)
  if (isFolderName(name)) return allowedFolder(name, places.folders)
  return (await folderNamed(name, places.folders)) ?? fromHub(name)
}

/** Returns the first allowed folder with a tokenizer of this name; such a name needs no network. */
async function folderNamed(name: string, folders: readonly string[]): Promise<string | undefined> {
  if (name.includes('\0')) return undefined
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined)
    const real = await realpath(path.join(folder, name)).catch(() => undefined)
    if (root === undefined || real === undefined) continue
    if (real.startsWith(root + path.sep) && (await hasTokenizer(real))) return real
  }
  return undefined
}

/** Levels of folders that are searched: models, and organizations with their models. */
const NAME_LEVELS = 2

async function namesIn(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map((folder) => namesUnder(folder, '', NAME_LEVELS)))
  // A name that leaves its folder through a link is listed here, but `load` refuses it.
  const names = [...new Set(found.flat())].sort()
  const isLoadable = await Promise.all(names.map((name) => folderNamed(name, folders)))
  return names.filter((_, index) => isLoadable[index] !== undefined)
}

async function namesUnder(folder: string, prefix: string, levels: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter(
    (entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()),
  )
  const names = await Promise.all(
    folders.map(async ({ name }) => {
      const inner = path.join(folder, name)
      if (await hasTokenizer(inner)) return [`${prefix}${name}`]
      return levels > 1 ? namesUnder(inner, `${prefix}${name}/`, levels - 1) : []
    }),
  )
  return names.flat()
}

/** Returns the real path of an allowed folder. Links are resolved before the comparison, so none leads out of the allowed folders. */
async function allowedFolder(name: string, folders: readonly string[]): Promise<string> {
  const refused = (why: string) =>
    new TokenizerError(
      'TOKENIZER_REFUSED',
      `the folder ${name} ${why}`,
      'Start Rollscope with its parent folder in ROLLSCOPE_TOKENIZERS, or use the model’s Hub name.',
    )
  const real = await realpath(path.resolve(name)).catch(() => undefined)
  if (real === undefined)
    throw folders.length > 0 ? notFound(name) : refused('is not under a folder that ROLLSCOPE_TOKENIZERS names')
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined)
    if (root !== undefined && (real === root || real.startsWith(root + path.sep))) {
      if (!(await stat(real)).isDirectory()) throw refused('is a file: name the folder that contains tokenizer.json')
      return real
    }
  }
  throw refused('is not under a folder that ROLLSCOPE_TOKENIZERS names')
}

/** The files of a tokenizer as bytes. A text of tokenizer.json takes time and memory, and a packed vocabulary needs none. */
type FilesAsBytes = Readonly<Record<keyof TokenizerFiles, Buffer | undefined>> & { readonly tokenizerJson: Buffer }

async function loadFiles(
  name: string,
  files: FilesAsBytes,
  hash: string,
  packedFolder: string | undefined,
): Promise<LoadedTokenizer> {
  const { tokenizerJson, ...others } = files
  const packed = packedFolder === undefined ? undefined : await readPackedDefinition(packedFolder, hash)
  if (packed) return loadDefinition(name, packed, textsOf(others))
  const texts = textsOf(files)
  const definition = readDefinition(texts)
  const loaded = loadDefinition(name, definition, texts)
  if (packedFolder !== undefined) await storePackedDefinition(packedFolder, hash, definition)
  return loaded
}

/** Identifies files by a hash, because their texts are too large for a key. */
function contentHash(files: FilesAsBytes): string {
  const hash = createHash('sha256')
  for (const bytes of Object.values(files)) hash.update(bytes ? `${bytes.length}:` : '-').update(bytes ?? '')
  return hash.digest('hex')
}

/** Returns the texts of files. */
const textsOf = <Name extends keyof TokenizerFiles>(files: Readonly<Record<Name, Buffer | undefined>>) => {
  const entries = Object.entries<Buffer | undefined>(files)
  return Object.fromEntries(entries.map(([name, bytes]) => [name, bytes?.toString('utf8')])) as {
    readonly [Key in Name]: Key extends 'tokenizerJson' ? string : string | undefined
  }
}

const notFound = (name: string) => new TokenizerError('TOKENIZER_NOT_FOUND', `there is no folder ${name}`)

async function readFiles(name: string, folder: string, allowed: readonly string[]): Promise<FilesAsBytes> {
  const places = await Promise.all(
    [folder, ...blobsOf(folder), ...allowed].map((place) => realpath(place).catch(() => undefined)),
  )
  const read = (file: string) => readFileOf(name, path.join(folder, file), places)
  const [tokenizerJson, tokenizerConfigJson, chatTemplateJinja, generationConfigJson] = await Promise.all(
    ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'generation_config.json'].map(read),
  )
  if (tokenizerJson === undefined) throw lacksTokenizerJson(name)
  return { tokenizerJson, tokenizerConfigJson, chatTemplateJinja, generationConfigJson }
}

/** Returns the folder of blobs for a snapshot in the Hub's cache, whose files are links to blobs of the same repository. */
const blobsOf = (folder: string): readonly string[] =>
  path.basename(path.dirname(folder)) === 'snapshots' ? [path.resolve(folder, '..', '..', 'blobs')] : []

/**
 * Returns the bytes of a file, or undefined if there is none. A cloned repository may contain links to any file of this
 * machine, whose text would be shown, recorded and sent as a chat template; so the target of a link must be in an
 * allowed folder too.
 */
async function readFileOf(
  name: string,
  file: string,
  places: readonly (string | undefined)[],
): Promise<Buffer | undefined> {
  const called = `${path.basename(file)} of ${name}`
  const real = await realpath(file).catch(() => undefined)
  if (real === undefined) return undefined
  if (!places.some((place) => place !== undefined && real.startsWith(place + path.sep)))
    throw new TokenizerError(
      'TOKENIZER_REFUSED',
      `${called} is a link to a file outside of its folder`,
      'Copy the file into the folder, or start Rollscope with the target folder of the link in ROLLSCOPE_TOKENIZERS.',
    )
  const found = await stat(real)
  // A pipe or a device would be read endlessly.
  if (!found.isFile()) throw new TokenizerError('TOKENIZER_REFUSED', `${called} is not a regular file`)
  if (found.size > LARGEST_FILE)
    throw new TokenizerError(
      'TOKENIZER_BROKEN',
      `${called} has ${found.size} bytes, which is too large for a tokenizer`,
    )
  try {
    return await readFile(real)
  } catch (error) {
    throw new TokenizerError('TOKENIZER_BROKEN', `${called} cannot be read: ${(error as Error).message}`, undefined, {
      cause: error,
    })
  }
}
