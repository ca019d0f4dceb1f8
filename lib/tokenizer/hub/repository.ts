/** Accesses a Hub repository, with its files in the cache that Python's huggingface_hub uses too. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { getHFHubCachePath, getRepoFolderName, HUB_URL, HubApiError, modelInfo, pathsInfo } from '@huggingface/hub'
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { downloadToCache } from './download.ts'

/** The Hub and its cache. */
export interface HubPlace {
  readonly url: string | undefined
  readonly token: string | undefined
  readonly cacheFolder: string | undefined
  /** True to use only the cache. Omitted: missing files are fetched. */
  readonly cachedOnly?: true
}

/** Progress of a download, without its name. */
export type Progress = Omit<DownloadProgress, 'kind' | 'name'>

/** A Hub repository at one commit. */
export interface HubRepository {
  /** Folder of the files of its current commit. */
  readonly folder: string
  /** The requested files that the repository has, in the order of the request. */
  readonly files: readonly RepositoryFile[]
  /**
   * Fetches the files that the cache lacks, in this order. Throws TokenizerError, HubApiError or fetch's own errors.
   */
  fetch(files: readonly RepositoryFile[], onProgress: (progress: Progress) => void, signal: AbortSignal): Promise<void>
}

interface RepositoryFile {
  readonly path: string
  /** Size in bytes. */
  readonly size: number
  /** Checksum of the content, which names it in the cache. */
  readonly checksum: { readonly kind: 'sha256' | 'git'; readonly hex: string }
}

const REPOSITORY = /^[A-Za-z0-9][\w.-]{0,95}(\/[A-Za-z0-9][\w.-]{0,95})?$/
const ANSWER_MS = 20_000

/** Returns true for a name that the Hub allows, such as `Qwen/Qwen3-8B` or `gpt2`. */
export const isRepositoryName = (name: string): boolean => REPOSITORY.test(name) && !name.includes('..')

const cacheOf = (name: string, { cacheFolder }: HubPlace): string =>
  path.join(cacheFolder ?? getHFHubCachePath(), getRepoFolderName({ name, type: 'model' }))

/** Returns the folder of the last fetched commit, or undefined if there is none. */
export async function cachedSnapshot(name: string, hub: HubPlace): Promise<string | undefined> {
  const repository = cacheOf(name, hub)
  const commit = await readFile(path.join(repository, 'refs', 'main'), 'utf8').catch(() => undefined)
  if (commit === undefined || !/^[0-9a-f]{40}$/.test(commit.trim())) return undefined
  return path.join(repository, 'snapshots', commit.trim())
}

/** Requests the repository from the Hub. Throws HubApiError or fetch's own errors. */
export async function hubRepository(
  name: string,
  hub: HubPlace,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<HubRepository> {
  const { url, token } = hub
  const hubUrl = (url ?? HUB_URL).replace(/\/+$/, '')
  const access = {
    hubUrl,
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      const headers = new Headers(init?.headers)
      // The library itself accepts only tokens that begin with hf_, unlike Python's, which the mirrors of companies rely on.
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
      return fetch(input, { ...init, headers, signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) })
    },
  }
  const { sha } = await modelInfo({ name, additionalFields: ['sha'], ...access })
  if (!/^[0-9a-f]{40}$/.test(sha))
    throw new Error(`the Hub returned the invalid commit ${JSON.stringify(sha)} for ${name}`)
  const listed = await pathsInfo({ repo: { type: 'model', name }, paths: [...paths], revision: sha, ...access })
  const files = paths.flatMap((file) => listed.filter((entry) => entry.path === file && entry.type === 'file'))
  const repository = cacheOf(name, hub)
  const folder = path.join(repository, 'snapshots', sha)
  return {
    folder,
    files: files.map(({ path: place, size, oid, lfs }): RepositoryFile => {
      const hex = lfs?.oid ?? oid ?? ''
      if (!/^[0-9a-f]{40,64}$/.test(hex)) throw new Error(`the Hub returned no checksum for ${place}`)
      return { path: place, size, checksum: { kind: lfs ? 'sha256' : 'git', hex } }
    }),
    async fetch(chosen, onProgress, aborted) {
      const total = chosen.reduce((sum, { size }) => sum + size, 0)
      let before = 0
      for (const { path: file, size, checksum } of chosen) {
        onProgress({ file, bytes: before, total })
        const start = before
        await downloadToCache(
          {
            url: `${hubUrl}/${name}/resolve/${sha}/${file}`,
            token,
            size,
            checksum,
            blob: path.join(repository, 'blobs', checksum.hex),
            place: path.join(folder, file),
          },
          (bytes) => onProgress({ file, bytes: start + bytes, total }),
          aborted,
        )
        before += size
      }
      await mkdir(path.join(repository, 'refs'), { recursive: true })
      await writeFile(path.join(repository, 'refs', 'main'), sha)
    },
  }
}

/** Converts an error of the Hub to a message for the user who named the repository. */
export function hubError(name: string, error: unknown, { url, token, cacheFolder }: HubPlace): TokenizerError {
  if (error instanceof TokenizerError) return error
  const page = `${url ?? HUB_URL}/${name}`
  const cause = { cause: error }
  // The error of a connection is the cause of fetch's own error, so this one is of the cache.
  if (error instanceof Error && 'syscall' in error)
    return new TokenizerError(
      'TOKENIZER_NOT_STORED',
      `the files of ${name} cannot be stored (${error.message})`,
      `Free space in ${cacheFolder ?? getHFHubCachePath()} and make it writable for your user, or set HF_HUB_CACHE to another folder.`,
      cause,
    )
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
        `the Hub refuses access to ${name} (${error.statusCode}): it is gated, private or misspelt`,
        token === undefined
          ? `Request access at ${page}, then start Rollscope with HF_TOKEN set; or name a local folder.`
          : `Request access at ${page} with the account of your HF_TOKEN; or name a local folder.`,
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
