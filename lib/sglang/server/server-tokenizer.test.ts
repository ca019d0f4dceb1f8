import { describe, expect, test } from 'vitest'
import { EngineError } from '#lib/engine/http/errors.ts'
import { checkTokenizer } from '#lib/engine/tokenizer/tokenizer-check.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { scriptedTokenizer } from '#testing/sglang/scripted-tokenizer.ts'
import { chatml } from '#testing/small-templates.ts'
import infoDetokenizeList from '../recordings/info-detokenize-list.json' with { type: 'json' }
import infoTokenizeMessages from '../recordings/info-tokenize-messages.json' with { type: 'json' }
import { serverTokenizer } from './server-tokenizer.ts'

const never = new AbortController().signal

interface Asked {
  readonly path: string
  readonly json: unknown
}

/** Creates a tokenizer whose server gives one answer to each request, or refuses. */
function answering(...answers: readonly unknown[]) {
  const asked: Asked[] = []
  const left = [...answers]
  const tokenizer = serverTokenizer(async (path, json, schema) => {
    asked.push({ path, json })
    const answer = left.shift()
    if (answer instanceof Error) throw answer
    return schema.parse(answer)
  })
  return { tokenizer, asked }
}

const unknownPath = new EngineError('UPSTREAM_REJECTED', 'Not Found', { status: 404 })

describe('server tokenizer', () => {
  test('encodes texts unchanged, whatever the server would add to them', async () => {
    const plain = answering({ tokens: [[], [1737], [443]] })
    expect(await plain.tokenizer.tokenize(['abc', 'def'], never)).toEqual([[1737], [443]])
    expect(plain.asked).toEqual([
      { path: '/tokenize', json: { prompt: ['', 'abc', 'def'], add_special_tokens: false } },
    ])
    const adding = answering(
      { tokens: [[1], [1, 1737]] },
      {
        tokens: [
          [1, 2],
          [1, 7, 8, 2],
        ],
      },
      { tokens: [[2], [9, 2]] },
    )
    expect(await adding.tokenizer.tokenize(['abc'], never)).toEqual([[1737]])
    expect(await adding.tokenizer.tokenize(['abc'], never)).toEqual([[7, 8]])
    expect(await adding.tokenizer.tokenize(['abc'], never)).toEqual([[9]])
    const odd = answering({ tokens: [[1], [5]] })
    await expect(odd.tokenizer.tokenize(['abc'], never)).rejects.toMatchObject({ code: 'INCONSISTENT' })
  })

  test('reports the tokens that the server adds around a text', async () => {
    const { tokenizer, asked } = answering({ tokens: [[1, 7, 2]] }, { tokens: [[], [7]] })
    expect(await tokenizer.frame(never)).toEqual({ before: [1], after: [2] })
    expect(asked[0]).toEqual({ path: '/tokenize', json: { prompt: ['a'], add_special_tokens: true } })
  })

  test('sends messages with tools and options, if there are any', async () => {
    const { tokenizer, asked } = answering(infoTokenizeMessages.response, infoTokenizeMessages.response)
    const { messages } = infoTokenizeMessages.request.body
    const input = { messages, tools: undefined, addGenerationPrompt: false, options: {} }
    expect(await tokenizer.tokenizeMessages(input, never)).toEqual(infoTokenizeMessages.response.tokens)
    await tokenizer.tokenizeMessages(
      { ...input, tools: [{ type: 'function' }], options: { enable_thinking: false } },
      never,
    )
    expect(asked.map(({ json }) => json)).toEqual([
      { messages, add_generation_prompt: false },
      {
        messages,
        tools: [{ type: 'function' }],
        add_generation_prompt: false,
        chat_template_kwargs: { enable_thinking: false },
      },
    ])
  })

  test('decodes ids to texts', async () => {
    const { tokenizer, asked } = answering(infoDetokenizeList.response)
    const { tokens } = infoDetokenizeList.request.body
    expect(await tokenizer.detokenize(tokens, 'without special tokens', never)).toEqual(
      infoDetokenizeList.response.text,
    )
    expect(asked).toEqual([{ path: '/detokenize', json: { tokens, skip_special_tokens: true } }])
  })

  test('sends no request for an empty list', async () => {
    const { tokenizer, asked } = answering()
    expect(await tokenizer.tokenize([], never)).toEqual([])
    expect(await tokenizer.detokenize([], 'with special tokens', never)).toEqual([])
    expect(asked).toEqual([])
  })

  test('remembers that a router has the paths under another prefix', async () => {
    const { tokenizer, asked } = answering(unknownPath, { tokens: [[], [1]] }, { text: ['a'] })
    await tokenizer.tokenize(['a'], never)
    await tokenizer.detokenize([[1]], 'with special tokens', never)
    expect(asked.map(({ path }) => path)).toEqual(['/tokenize', '/v1/tokenize', '/v1/detokenize'])
  })

  test('reports a server without these paths', async () => {
    const { tokenizer } = answering(unknownPath, unknownPath)
    await expect(tokenizer.tokenize(['a'], never)).rejects.toMatchObject({ status: 404 })
  })

  test('refuses an answer of another length', async () => {
    const { tokenizer } = answering({ tokens: [[]] }, { text: [] })
    await expect(tokenizer.tokenize(['a'], never)).rejects.toMatchObject({ code: 'INCONSISTENT' })
    await expect(tokenizer.detokenize([[1]], 'with special tokens', never)).rejects.toMatchObject({
      code: 'INCONSISTENT',
    })
  })
})

describe('checkTokenizer', () => {
  const promptEncoder = { tokenizer: byteTokenizer, template: chatTemplate(chatml, {}) }
  const check = (server: typeof promptEncoder.tokenizer) =>
    checkTokenizer(byteTokenizer, scriptedTokenizer({ ...promptEncoder, tokenizer: server }), never)
  const digits = (text: string) => text.replace(/\d+/g, (number) => number.length.toString())

  test('accepts the server’s own tokenizer', async () => {
    await expect(check(byteTokenizer)).resolves.toBeUndefined()
  })

  test.each([
    ['other ids', { encode: (text: string) => byteTokenizer.encode(text).map((id) => id + 1) }, '"The quick brown fox'],
    ['other digits', { encode: (text: string) => byteTokenizer.encode(digits(text)) }, '13 lazy dogs'],
    [
      'other delimiters',
      { encode: (text: string) => (text === '<think>' ? [1, 2] : byteTokenizer.encode(text)) },
      'encodes "<think>" as [259], the server as [1, 2]',
    ],
    ['more of them', { encode: (text: string) => [...byteTokenizer.encode(text), 7] }, 'the server as [… 46, 7]'],
  ])('names %s', async (_what, changed, words) => {
    await expect(check({ ...byteTokenizer, ...changed })).rejects.toMatchObject({
      code: 'TOKENIZER_MISMATCH',
      message: expect.stringContaining(words),
    })
  })

  test('compares the first and the last of many delimiters', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ id: 300 + i, content: `<${i}>`, special: true }))
    const own = { ...byteTokenizer, addedTokens: many }
    const server = scriptedTokenizer(promptEncoder)
    const texts: string[] = []
    await checkTokenizer(
      own,
      {
        ...server,
        tokenize: async (all) => {
          texts.push(...all)
          return all.map((text) => own.encode(text))
        },
      },
      never,
    )
    expect(texts.filter((text) => text.startsWith('<'))).toHaveLength(32)
    expect(texts.at(-1)).toBe('<99>')
  })

  test('accepts a server that cannot be asked, and ends when it is aborted', async () => {
    const server = scriptedTokenizer(promptEncoder)
    const refusing = (error: Error) => ({ ...server, tokenize: async () => Promise.reject(error) })
    await expect(checkTokenizer(byteTokenizer, refusing(unknownPath), never)).resolves.toBeUndefined()
    await expect(checkTokenizer(byteTokenizer, refusing(new Error('left')), never)).rejects.toThrow('left')
  })
})
