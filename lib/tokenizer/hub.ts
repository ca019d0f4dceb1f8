/** Tokenizer files of a Hub repository, kept in the cache that Python's huggingface_hub uses too. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { getHFHubCachePath, getRepoFolderName, HUB_URL, HubApiError, modelInfo, pathsInfo } from '@huggingface/hub'
import type { Download } from '#lib/core/tokenizer-download.ts'
import { TokenizerError } from '#lib/tokenizer-files/tokenizer-files.ts'
import { downloadToCache } from './download.ts'
import type { TokenizerPlaces } from './load.ts'

/** Of a download whose name is known to who asked for it. */
export type Progress = Omit<Download, 'name'>

const REPOSITORY = /^[A-Za-z0-9][\w.-]{0,95}(\/[A-Za-z0-9][\w.-]{0,95})?$/
/** tokenizer.json comes last: where it is, the others are too. */
const FILES = ['tokenizer_config.json', 'chat_template.jinja', 'generation_config.json', 'tokenizer.json']
/** The largest tokenizers in use have 35 MB. */
const LARGEST_FILE = 128 << 20
const ANSWER_MS = 20_000

/** The folder that holds the files; what the cache has is used as it is, without asking the Hub. */
export async function hubFolder(
  name: string,
  hub: TokenizerPlaces['hub'],
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<string> {
  if (!REPOSITORY.test(name) || name.includes('..'))
    throw new TokenizerError(
      'TOKENIZER_REFUSED',
      `${JSON.stringify(name.slice(0, 80))} is no Hub name`,
      'Hub names look like Qwen/Qwen3-4B; folders start with / and must be under ROLLSCOPE_TOKENIZERS.',
    )
  const repository = path.join(hub.cacheFolder ?? getHFHubCachePath(), getRepoFolderName({ name, type: 'model' }))
  const cached = await cachedSnapshot(repository)
  if (cached !== undefined) return cached
  if (hub.cachedOnly) throw new TokenizerError('TOKENIZER_NOT_FOUND', `the tokenizer ${name} is not on this machine`)
  try {
    return await download(name, repository, hub, onProgress, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw named(name, error, hub)
  }
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
  { url, token }: TokenizerPlaces['hub'],
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<string> {
  const hubUrl = (url ?? HUB_URL).replace(/\/+$/, '')
  const access = {
    hubUrl,
    ...(token !== undefined && { accessToken: token }),
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      fetch(input, { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) }),
  }
  const { sha } = await modelInfo({ name, additionalFields: ['sha'], ...access })
  if (!/^[0-9a-f]{40}$/.test(sha)) throw new Error(`the Hub gives ${name} the odd commit ${JSON.stringify(sha)}`)
  const listed = await pathsInfo({ repo: { type: 'model', name }, paths: FILES, revision: sha, ...access })
  const files = FILES.flatMap((file) => listed.filter((entry) => entry.path === file && entry.type === 'file'))
  if (!files.some((entry) => entry.path === 'tokenizer.json')) throw lacksTokenizerJson(name)
  const unnamed = files.find(({ oid, lfs }) => !/^[0-9a-f]{40,64}$/.test(lfs?.oid ?? oid ?? ''))
  if (unnamed) throw new Error(`the Hub gives ${unnamed.path} no checksum`)
  const tooLarge = files.find(({ size }) => size > LARGEST_FILE)
  if (tooLarge)
    throw new TokenizerError(
      'TOKENIZER_BROKEN',
      `${tooLarge.path} of ${name} has ${tooLarge.size} bytes: that is no tokenizer`,
    )
  const total = files.reduce((sum, { size }) => sum + size, 0)
  let before = 0
  for (const { path: file, size, oid, lfs } of files) {
    onProgress({ file, bytes: before, total })
    const start = before
    await downloadToCache(
      {
        url: `${hubUrl}/${name}/resolve/${sha}/${file}`,
        token,
        size,
        checksum: lfs ? { kind: 'sha256', hex: lfs.oid } : { kind: 'git', hex: oid ?? '' },
        blob: path.join(repository, 'blobs', lfs?.oid ?? oid ?? ''),
        place: path.join(repository, 'snapshots', sha, file),
      },
      (bytes) => onProgress({ file, bytes: start + bytes, total }),
      signal,
    )
    before += size
  }
  await mkdir(path.join(repository, 'refs'), { recursive: true })
  await writeFile(path.join(repository, 'refs', 'main'), sha)
  return path.join(repository, 'snapshots', sha)
}

/** `where`: the repository or folder, as the user knows it. */
export const lacksTokenizerJson = (where: string): TokenizerError =>
  new TokenizerError(
    'TOKENIZER_UNSUPPORTED',
    `${where} holds no tokenizer.json`,
    'Models with only a SentencePiece or tiktoken file must be converted with transformers first (save_pretrained of the fast tokenizer).',
  )

function named(name: string, error: unknown, { url, token }: TokenizerPlaces['hub']): TokenizerError {
  if (error instanceof TokenizerError) return error
  const page = `${url ?? HUB_URL}/${name}`
  const cause = { cause: error }
  if (!(error instanceof HubApiError))
    return new TokenizerError(
      'TOKENIZER_OFFLINE',
      `${name} is not in the local cache, and the Hub cannot be reached (${lastCause(error)})`,
      'Connect to the network once, set HF_ENDPOINT to a mirror, or name a local folder under ROLLSCOPE_TOKENIZERS.',
      cause,
    )
  switch (error.statusCode) {
    case 401:
    case 403:
      return new TokenizerError(
        'TOKENIZER_GATED',
        `the Hub does not give ${name} to you (${error.statusCode}): it is gated, private or misspelt`,
        token === undefined
          ? `Ask for access at ${page}, then start Rollscope with HF_TOKEN set; or name a local folder.`
          : `Ask for access at ${page} with the account of your HF_TOKEN; or name a local folder.`,
        cause,
      )
    case 404:
      return new TokenizerError(
        'TOKENIZER_NOT_FOUND',
        `the Hub has no model ${name}`,
        'Check the spelling, or name a local folder.',
        cause,
      )
    default:
      return new TokenizerError(
        'TOKENIZER_OFFLINE',
        `the Hub answered ${error.statusCode} for ${name}`,
        'Try again later, or name a local folder.',
        cause,
      )
  }
}

function lastCause(error: unknown): string {
  let last = error
  while (last instanceof Error && last.cause instanceof Error) last = last.cause
  return last instanceof Error ? last.message || last.name : String(last)
}
