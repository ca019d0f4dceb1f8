/** Tests tokenizers from a local Hub: downloads, progress, sharing, caching, and errors. */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { startTestHub, TEST_COMMIT, type TestHub, type TestRepository } from '#testing/hub.ts'
import { createTokenizerLoader, type TokenizerLoader } from './load.ts'

const NAME = 'org/name'
const MARTIAN = JSON.stringify({
  model: { type: 'BPE', vocab: {}, merges: [] },
  pre_tokenizer: { type: 'Martian' },
  normalizer: null,
  post_processor: null,
  decoder: null,
  added_tokens: [],
})
const tiny = path.resolve('models/tiny-qwen3')
const files: Record<string, string> = {}
for (const file of ['tokenizer.json', 'tokenizer_config.json'])
  files[file] = await readFile(path.join(tiny, file), 'utf8')

let hub: TestHub
let cacheFolder: string
beforeEach(async () => {
  hub = await startTestHub({ [NAME]: { files } })
  cacheFolder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-hub-'))
})
afterEach(async () => {
  await hub.close()
  await rm(cacheFolder, { recursive: true, force: true })
})

const loaderOf = (token?: string): TokenizerLoader =>
  createTokenizerLoader({ builtIn: {}, folders: [], hub: { url: hub.url, token, cacheFolder } })
const repository = (changed: Partial<TestRepository>) => {
  hub.repositories[NAME] = { files, ...changed }
}
const failure = async (loading: Promise<unknown>): Promise<TokenizerError> => {
  const error = await loading.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(TokenizerError)
  return error
}
/** Returns the files of the cache that are complete, or appear so. */
const kept = async (): Promise<string[]> => {
  const all = await readdir(cacheFolder, { recursive: true, withFileTypes: true })
  return all.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name])).sort()
}

test('the tokenizer loader fetches a tokenizer once, with checksums, into the layout of Python’s cache', async () => {
  const loaded = await loaderOf().load(NAME)
  expect(loaded.tokenizer.encode('<|im_end|>')).toHaveLength(1)
  expect(loaded.template(true)?.text).toContain('tool_call')
  const snapshot = path.join(cacheFolder, 'models--org--name', 'snapshots', TEST_COMMIT)
  expect(await readdir(snapshot)).toEqual(['tokenizer.json', 'tokenizer_config.json'])
  const asked = hub.requests.length
  expect((await loaderOf().load(NAME)).tokenizer.fingerprint).toBe(loaded.tokenizer.fingerprint)
  expect(hub.requests).toHaveLength(asked)
})

test('the tokenizer loader checks LFS files by their own checksum', async () => {
  repository({ isLfs: true })
  expect((await loaderOf().load(NAME)).tokenizer.name).toBe(NAME)
})

test('the tokenizer loader sends the token of a mirror, which need not begin with hf_, with every request', async () => {
  repository({ token: 'eyJ2ZXIiOiIyIn0.key' })
  expect((await failure(loaderOf('another').load(NAME))).code).toBe('TOKENIZER_GATED')
  expect((await loaderOf('eyJ2ZXIiOiIyIn0.key').load(NAME)).tokenizer.name).toBe(NAME)
})

test('two concurrent callers share one download and see its progress', async () => {
  const loader = loaderOf()
  const seen: DownloadProgress[] = []
  repository({ pause: async () => seen.push(...loader.downloads()) })
  const [one, other] = await Promise.all([loader.load(NAME), loader.load(NAME)])
  expect(one).toBe(other)
  expect(hub.requests.filter((asked) => asked.includes('/resolve/'))).toHaveLength(2)
  const total = Buffer.byteLength(Object.values(files).join(''))
  expect(new Set(seen.map((download) => download.total))).toEqual(new Set([total]))
  expect(new Set(seen.map(({ name }) => name))).toEqual(new Set([NAME]))
  expect(seen.map(({ bytes }) => bytes)).toEqual(seen.map(({ bytes }) => bytes).sort((a, b) => a - b))
  expect(seen.at(-1)?.file).toBe('tokenizer.json')
  expect(loader.downloads()).toEqual([])
})

describe('an abandoned download', () => {
  const begun = (loader: TokenizerLoader) => expect.poll(() => loader.downloads()[0]?.bytes ?? 0).toBeGreaterThan(0)
  const never = () => new Promise(() => {})

  test('stops with its last caller, keeps nothing, and can be started again', async () => {
    const loader = loaderOf()
    repository({ pause: never })
    const [first, second] = [new AbortController(), new AbortController()]
    const loads = [loader.load(NAME, first.signal), loader.load(NAME, second.signal)]
    const ends = loads.map((load) => load.catch((error) => error.message))
    await begun(loader)
    first.abort(new Error('one left'))
    expect(await ends[0]).toBe('one left')
    expect(loader.downloads()).toHaveLength(1)
    second.abort(new Error('all left'))
    expect(await ends[1]).toBe('all left')
    expect(loader.downloads()).toEqual([])
    await expect.poll(kept).toEqual([])
    repository({})
    expect((await loader.load(NAME)).tokenizer.name).toBe(NAME)
  })

  test('is not started for an aborted signal', async () => {
    await expect(loaderOf().load(NAME, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    expect(hub.requests).toEqual([])
  })
})

describe('an unavailable tokenizer is reported with advice for', () => {
  test.each<[string, Partial<TestRepository>, string, RegExp]>([
    ['a gated one', { refused: 401 }, 'TOKENIZER_GATED', /Request access at .*org\/name.* HF_TOKEN/],
    ['a gated one whose facts are public', { filesRefused: 403 }, 'TOKENIZER_GATED', /Request access at/],
    ['one that is not there', { refused: 404 }, 'TOKENIZER_NOT_FOUND', /no model org\/name.*spelling/],
    ['a failing Hub', { refused: 500 }, 'TOKENIZER_OFFLINE', /answered 500.*Try again later/],
    [
      'one without tokenizer.json',
      { files: { 'tokenizer.model': 'x' } },
      'TOKENIZER_UNSUPPORTED',
      /org\/name contains no tokenizer\.json/,
    ],
    [
      'one that is no JSON',
      { files: { 'tokenizer.json': '{"model"' } },
      'TOKENIZER_BROKEN',
      /not JSON.*download it again/,
    ],
    [
      'a kind that cannot be read',
      { files: { 'tokenizer.json': MARTIAN } },
      'TOKENIZER_UNSUPPORTED',
      /unsupported kind.*Martian/,
    ],
    [
      'a file that changes on the way',
      { spoilt: 'tokenizer.json' },
      'TOKENIZER_BROKEN',
      /differs from the Hub’s listing/,
    ],
  ])('%s', async (_what, changed, code, words) => {
    repository(changed)
    const error = await failure(loaderOf().load(NAME))
    expect(error.code).toBe(code)
    expect(`${error.message}. ${error.hint}`).toMatch(words)
  })

  test('the message for a refused tokenizer names the missing access if a token is set', async () => {
    repository({ refused: 403 })
    expect((await failure(loaderOf('hf_x').load(NAME))).hint).toContain('the account of your HF_TOKEN')
  })

  test('a Hub that cannot be reached', async () => {
    const loader = createTokenizerLoader({
      builtIn: {},
      folders: [],
      hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder },
    })
    const { code, message } = await failure(loader.load(NAME))
    expect([code, message]).toEqual(['TOKENIZER_OFFLINE', expect.stringContaining('the Hub cannot be reached')])
  })

  test('a cache that cannot be written', async () => {
    await writeFile(path.join(cacheFolder, 'models--org--name'), 'a file in the place of a folder')
    const { code, message, hint } = await failure(loaderOf().load(NAME))
    expect([code, message]).toEqual([
      'TOKENIZER_NOT_STORED',
      expect.stringMatching(/^the files of org\/name cannot be stored \(\w+: .*mkdir/),
    ])
    expect(hint).toContain(`Free space in ${cacheFolder}`)
  })

  test('an interrupted download leaves no complete file, and the next one succeeds', async () => {
    repository({ cut: 'tokenizer.json' })
    const loader = loaderOf()
    expect((await failure(loader.load(NAME))).code).toBe('TOKENIZER_OFFLINE')
    expect((await kept()).filter((file) => file.includes('incomplete') || file === 'tokenizer.json')).toEqual([])
    repository({})
    expect((await loader.load(NAME)).tokenizer.name).toBe(NAME)
  })

  test('the tokenizer loader completes a snapshot that Python began', async () => {
    await loaderOf().load(NAME)
    const snapshot = path.join(cacheFolder, 'models--org--name', 'snapshots', TEST_COMMIT)
    await rm(path.join(snapshot, 'tokenizer.json'))
    await writeFile(path.join(snapshot, 'config.json'), '{}')
    expect((await loaderOf().load(NAME)).tokenizer.name).toBe(NAME)
    expect(existsSync(path.join(snapshot, 'tokenizer.json'))).toBe(true)
  })
})
