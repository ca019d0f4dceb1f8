/** Provides the tokenizer files of a Hub repository, in the cache that Python's huggingface_hub uses too. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import {
  cachedSnapshot,
  type HubPlace,
  hubError,
  hubRepository,
  isRepositoryName,
  type Progress,
} from './repository.ts'

/** Names of the files. tokenizer.json is last, so if it exists, the others do too. */
const FILES = ['tokenizer_config.json', 'chat_template.jinja', 'generation_config.json', 'tokenizer.json']
/** Maximum size of a tokenizer file in bytes. The largest ones in use have 35 MB. */
export const LARGEST_FILE = 128 << 20

/** Returns the folder with the files; cached files are used without a request to the Hub. */
export async function hubFolder(
  name: string,
  hub: HubPlace,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<string> {
  if (!isRepositoryName(name))
    throw new TokenizerError(
      'TOKENIZER_REFUSED',
      `${JSON.stringify(name.slice(0, 80))} is not a Hub name`,
      'Hub names look like Qwen/Qwen3-4B; folders start with / and must be under ROLLSCOPE_TOKENIZERS.',
    )
  const cached = await cachedSnapshot(name, hub)
  if (cached !== undefined && (await hasTokenizer(cached))) return cached
  if (hub.cachedOnly) throw new TokenizerError('TOKENIZER_NOT_FOUND', `the tokenizer ${name} is not on this machine`)
  try {
    return await download(name, hub, onProgress, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw hubError(name, error, hub)
  }
}

/** Returns whether a folder has a tokenizer file. */
export const hasTokenizer = (folder: string): Promise<boolean> =>
  stat(path.join(folder, 'tokenizer.json')).then(
    (file) => file.isFile(),
    () => false,
  )

async function download(
  name: string,
  hub: HubPlace,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<string> {
  const repository = await hubRepository(name, hub, FILES, signal)
  if (!repository.files.some((entry) => entry.path === 'tokenizer.json')) throw lacksTokenizerJson(name)
  const tooLarge = repository.files.find(({ size }) => size > LARGEST_FILE)
  if (tooLarge)
    throw new TokenizerError(
      'TOKENIZER_BROKEN',
      `${tooLarge.path} of ${name} has ${tooLarge.size} bytes, which is too large for a tokenizer`,
    )
  await repository.fetch(repository.files, onProgress, signal)
  return repository.folder
}

/** Returns the error; `where` is the repository or folder as the user knows it. */
export const lacksTokenizerJson = (where: string): TokenizerError =>
  new TokenizerError(
    'TOKENIZER_UNSUPPORTED',
    `${where} contains no tokenizer.json`,
    'Models with only a SentencePiece or tiktoken file must be converted with transformers first (save_pretrained of the fast tokenizer).',
  )
