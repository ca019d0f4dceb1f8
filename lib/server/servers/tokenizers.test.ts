import { expect, test } from 'vitest'
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { type LoadedTokenizer, TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { chatml } from '#testing/small-templates.ts'
import { downloadTokenizer, generationConfig, type Loading, tokenizerFilesResponse } from './tokenizers.ts'

const loaded: LoadedTokenizer = {
  tokenizer: byteTokenizer,
  template: () => chatTemplate(chatml, {}),
  specialTokens: {},
  compile: (text) => chatTemplate(text, {}),
  stopIds: [],
}

/** Returns a loader whose download continues until the test ends it. */
function slowLoader() {
  const { promise, resolve, reject } = Promise.withResolvers<LoadedTokenizer>()
  let download: DownloadProgress | undefined = {
    kind: 'tokenizer',
    name: 'a/b',
    file: 'tokenizer.json',
    bytes: 1,
    total: 2,
  }
  let left = false
  return {
    loader: {
      load: async (_name: string, signal?: AbortSignal) => {
        signal?.addEventListener('abort', () => {
          left = true
        })
        return promise
      },
      downloads: () => (download ? [download] : []),
    },
    isLeft: () => left,
    end(result: LoadedTokenizer | Error) {
      download = undefined
      if (result instanceof Error) reject(result)
      else resolve(result)
    },
  }
}

async function progressLines(result: LoadedTokenizer | Error): Promise<Loading[]> {
  const slow = slowLoader()
  const lines: Loading[] = []
  for await (const line of downloadTokenizer('a/b', slow.loader)) {
    lines.push(line)
    if (line.state === 'downloading') slow.end(result)
  }
  return lines
}

test('A tokenizer download reports its progress and its end', async () => {
  expect(await progressLines(loaded)).toEqual([
    { state: 'downloading', kind: 'tokenizer', name: 'a/b', file: 'tokenizer.json', bytes: 1, total: 2 },
    {
      state: 'ready',
      name: 'a/b',
      fingerprint: 'bytes',
      vocabularySize: byteTokenizer.vocabularySize,
      hasTemplate: true,
    },
  ])
})

test('A tokenizer download reports why it failed', async () => {
  const lines = await progressLines(new TokenizerError('TOKENIZER_GATED', 'gated', 'ask'))
  expect(lines.at(-1)).toEqual({ state: 'failed', code: 'TOKENIZER_GATED', detail: 'gated', hint: 'ask' })
})

test('A tokenizer download reports a chat template that does not compile', async () => {
  const broken = { ...loaded, template: () => chatTemplate('{% for %}', {}) }
  expect((await progressLines(broken)).at(-1)).toEqual({
    state: 'failed',
    code: 'TEMPLATE_ERROR',
    detail: expect.stringMatching(/^its chat template is broken: \S/),
  })
})

test('A tokenizer download ends when its reader leaves', async () => {
  const slow = slowLoader()
  for await (const _ of downloadTokenizer('a/b', slow.loader)) break
  expect(slow.isLeft()).toBe(true)
})

test('The tokenizer files have a tag, with which a browser that has them gets no second copy', async () => {
  const loader = { files: async (name: string) => ({ tokenizerJson: name }) }
  const ask = (query: string, tag?: string) =>
    tokenizerFilesResponse(
      new Request(`http://127.0.0.1/api/tokenizers/files${query}`, { headers: tag ? { 'if-none-match': tag } : {} }),
      loader,
    )
  const first = await ask('?name=a%2Fb')
  expect(await first.json()).toEqual({ tokenizerJson: 'a/b' })
  const tag = first.headers.get('etag') ?? ''
  expect((await ask('?name=a%2Fb', tag)).status).toBe(304)
  expect((await ask('?name=other', tag)).status).toBe(200)
  await expect(ask('')).rejects.toMatchObject({ details: { status: 400, code: 'BAD_QUERY' } })
})

test('The tokenizer files include the sampling advice of a model’s publishers', async () => {
  const asked = (files: object) =>
    generationConfig(new Request('http://localhost/?name=a/b'), {
      files: async () => ({ tokenizerJson: '{}', ...files }),
    })
  expect(await asked({ generationConfigJson: '{"top_k": 20}' })).toEqual({ generationConfigJson: '{"top_k": 20}' })
  expect(await asked({})).toEqual({})
})
