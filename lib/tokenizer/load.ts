/** Finds a tokenizer by name: the built-in model's, a folder that the user allowed, or a Hub repository. */
import { readFile, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { hubFolder } from './hub.ts'
import { type LoadedTokenizer, loadTokenizerFiles, TokenizerError, type TokenizerFiles } from './tokenizer-files.ts'

export interface TokenizerPlaces {
  /** Name → folder or Hub name, for the model that the application itself runs. */
  readonly builtIn: Readonly<Record<string, string>>
  /** Folders under which any folder may be named (ROLLSCOPE_TOKENIZERS). */
  readonly folders: readonly string[]
  readonly hub: {
    readonly url: string | undefined
    readonly token: string | undefined
    readonly cacheFolder: string | undefined
  }
}

export interface TokenizerLoader {
  /** Throws TokenizerError. The same files give the same instance. */
  load(name: string): Promise<LoadedTokenizer>
}

export function createTokenizerLoader(places: TokenizerPlaces): TokenizerLoader {
  const byName = new Map<string, Promise<LoadedTokenizer>>()
  const byContent = new Map<string, LoadedTokenizer>()
  const load = async (name: string): Promise<LoadedTokenizer> => {
    const files = await readFiles(await folderOf(name, places))
    const content = JSON.stringify(Object.values(files))
    const known = byContent.get(content)
    if (known) return known
    const loaded = loadTokenizerFiles(name, files)
    byContent.set(content, loaded)
    return loaded
  }
  return {
    load(name) {
      const loading = byName.get(name) ?? load(name)
      byName.set(name, loading)
      // A failure is not kept: the next try may find the files.
      loading.catch(() => byName.delete(name))
      return loading
    },
  }
}

async function folderOf(name: string, places: TokenizerPlaces): Promise<string> {
  const builtIn = Object.hasOwn(places.builtIn, name) ? places.builtIn[name] : undefined
  if (builtIn !== undefined) return path.isAbsolute(builtIn) ? builtIn : hubFolder(builtIn, places.hub)
  if (path.isAbsolute(name) || name.startsWith('.') || name.startsWith('~')) return allowedFolder(name, places.folders)
  return hubFolder(name, places.hub)
}

/** Symbolic links are followed before the comparison, so that none leads out of the allowed folders. */
async function allowedFolder(name: string, folders: readonly string[]): Promise<string> {
  const refused = (why: string) =>
    new TokenizerError(
      'TOKENIZER_REFUSED',
      `the folder ${name} ${why}`,
      'Start Rollscope with ROLLSCOPE_TOKENIZERS naming the folder it stands in, or use the model’s Hub name.',
    )
  const real = await realpath(path.resolve(name)).catch(() => undefined)
  if (real === undefined)
    throw folders.length > 0 ? notFound(name) : refused('is not under a folder that ROLLSCOPE_TOKENIZERS names')
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => undefined)
    if (root !== undefined && (real === root || real.startsWith(root + path.sep))) {
      if (!(await stat(real)).isDirectory()) throw refused('is a file: name the folder that holds tokenizer.json')
      return real
    }
  }
  throw refused('is not under a folder that ROLLSCOPE_TOKENIZERS names')
}

const notFound = (name: string) => new TokenizerError('TOKENIZER_NOT_FOUND', `there is no folder ${name}`)

async function readFiles(folder: string): Promise<TokenizerFiles> {
  const read = (file: string) => readFile(path.join(folder, file), 'utf8').catch(() => undefined)
  const [tokenizerJson, tokenizerConfigJson, chatTemplateJinja, generationConfigJson] = await Promise.all(
    ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'generation_config.json'].map(read),
  )
  if (tokenizerJson === undefined)
    throw new TokenizerError(
      'TOKENIZER_NOT_FOUND',
      `${path.basename(folder)} holds no tokenizer.json`,
      'Models with only a SentencePiece or tiktoken file must be converted with transformers first (save_pretrained of the fast tokenizer).',
    )
  return { tokenizerJson, tokenizerConfigJson, chatTemplateJinja, generationConfigJson }
}
