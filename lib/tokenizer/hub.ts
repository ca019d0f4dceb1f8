/** Tokenizer files of a Hub repository, kept in the cache that Python's huggingface_hub uses too. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import {
  downloadFileToCacheDir,
  getHFHubCachePath,
  getRepoFolderName,
  HubApiError,
  modelInfo,
  pathsInfo,
} from '@huggingface/hub'
import type { TokenizerPlaces } from './load.ts'
import { TokenizerError } from './tokenizer-files.ts'

const REPOSITORY = /^[A-Za-z0-9][\w.-]{0,95}(\/[A-Za-z0-9][\w.-]{0,95})?$/
const FILES = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja', 'generation_config.json']

/** The folder that holds the files; what the cache has is used as it is, without asking the Hub. */
export async function hubFolder(name: string, hub: TokenizerPlaces['hub']): Promise<string> {
  if (!REPOSITORY.test(name) || name.includes('..'))
    throw new TokenizerError(
      'TOKENIZER_REFUSED',
      `${JSON.stringify(name.slice(0, 80))} is no Hub name`,
      'Hub names look like Qwen/Qwen3-4B; folders start with / and must be under ROLLSCOPE_TOKENIZERS.',
    )
  const repository = path.join(hub.cacheFolder ?? getHFHubCachePath(), getRepoFolderName({ name, type: 'model' }))
  return (
    (await cachedSnapshot(repository)) ??
    (await download(name, repository, hub).catch((error) => Promise.reject(named(name, error))))
  )
}

async function cachedSnapshot(repository: string): Promise<string | undefined> {
  const commit = await readFile(path.join(repository, 'refs', 'main'), 'utf8').catch(() => undefined)
  if (commit === undefined || !/^[0-9a-f]{40}$/.test(commit.trim())) return undefined
  const snapshot = path.join(repository, 'snapshots', commit.trim())
  const found = await stat(path.join(snapshot, 'tokenizer.json')).catch(() => undefined)
  return found ? snapshot : undefined
}

async function download(
  name: string,
  repository: string,
  { url, token, cacheFolder }: TokenizerPlaces['hub'],
): Promise<string> {
  const access = { ...(url !== undefined && { hubUrl: url }), ...(token !== undefined && { accessToken: token }) }
  const { sha } = await modelInfo({ name, additionalFields: ['sha'], ...access })
  const repo = { type: 'model', name } as const
  const present = await pathsInfo({ repo, paths: FILES, revision: sha, ...access })
  for (const { path: file } of present)
    await downloadFileToCacheDir({
      repo,
      path: file,
      revision: sha,
      ...(cacheFolder !== undefined && { cacheDir: cacheFolder }),
      ...access,
    })
  await mkdir(path.join(repository, 'refs'), { recursive: true })
  await writeFile(path.join(repository, 'refs', 'main'), sha)
  return path.join(repository, 'snapshots', sha)
}

function named(name: string, error: unknown): TokenizerError {
  if (error instanceof HubApiError) {
    if (error.statusCode === 401 || error.statusCode === 403)
      return new TokenizerError(
        'TOKENIZER_GATED',
        `the Hub does not give ${name} to you (${error.statusCode}): it is gated, private or misspelt`,
        'Accept its terms on the Hub and start Rollscope with HF_TOKEN, or name a local folder.',
        { cause: error },
      )
    if (error.statusCode === 404)
      return new TokenizerError(
        'TOKENIZER_NOT_FOUND',
        `the Hub has no model ${name}`,
        'Check the spelling, or name a local folder.',
        { cause: error },
      )
    return new TokenizerError(
      'TOKENIZER_OFFLINE',
      `the Hub answered ${error.statusCode} for ${name}`,
      'Try again later, or name a local folder.',
      { cause: error },
    )
  }
  return new TokenizerError(
    'TOKENIZER_OFFLINE',
    `${name} is not in the local cache and the Hub cannot be reached`,
    'Connect to the network once, set HF_ENDPOINT to a mirror, or name a local folder under ROLLSCOPE_TOKENIZERS.',
    { cause: error },
  )
}
