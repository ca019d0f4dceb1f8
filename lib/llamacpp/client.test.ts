/** Tests the client with recorded answers of llama.cpp’s server (the wheel xllamacpp 2026.10, shipped model as GGUF). */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createConnection } from '#lib/engine/connection.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import { type Recording, type ReplayServer, replay } from '#testing/sglang/recordings.ts'
import { llamacppClient } from './client.ts'
import { toCompletionBody } from './completion.ts'
import { alignedRows } from './reply.ts'

const recorded = (name: string): Recording =>
  JSON.parse(readFileSync(path.join('lib/llamacpp/recordings', `${name}.json`), 'utf8'))

const never = new AbortController().signal

async function serving(
  recordings: Readonly<Record<string, Recording>>,
): Promise<{ readonly client: EngineClient; readonly server: ReplayServer }> {
  const server = await replay(recordings)
  const client = llamacppClient(
    createConnection({ baseUrl: server.baseUrl, apiKey: undefined, retry: { repetitions: 0 } }),
  )
  onTestFinished(server.close)
  onTestFinished(() => client.close())
  return { client, server }
}

const EOS = recorded('completion-eos')
const { prompt } = EOS.request.body as { readonly prompt: readonly number[] }
const request = (overrides: Partial<GenerateRequest> = {}): GenerateRequest => ({
  inputIds: prompt,
  sampling: { temperature: 0, max_new_tokens: 64 },
  rid: 'a'.repeat(32),
  stream: true,
  topLogprobsNum: 2,
  vocabularySize: 1024,
  ...overrides,
})

async function replyTo(name: string, asked = request()): Promise<Chunk> {
  const { client } = await serving({ '/completion': recorded(name) })
  const chunks = await Array.fromAsync(client.generate(asked, never))
  expect(chunks).toHaveLength(1)
  return chunks[0] as Chunk
}

interface RecordedReply {
  readonly tokens: readonly number[]
  readonly completion_probabilities: readonly { readonly id: number; readonly logprob: number }[]
}
const responseOf = (name: string) => recorded(name).response as RecordedReply

describe('A reply of llama.cpp', () => {
  test('has every id, logprob and alternative, the stop token, and the cached tokens', async () => {
    const { tokens, end, problems } = await replyTo('completion-eos')
    const { tokens: ids, completion_probabilities: rows } = responseOf('completion-eos')
    expect(tokens.ids).toEqual(ids)
    expect(tokens.ids.at(-1)).toBe(2)
    expect(tokens.logprobs).toEqual(rows.map(({ logprob }) => logprob))
    expect(tokens.topLogprobs).toMatchObject({ k: 2 })
    expect(tokens.topLogprobs?.ids).toHaveLength(2 * ids.length)
    expect(tokens.topLogprobs?.ids[0]).toBe(ids[0])
    expect(end?.finish).toEqual({ kind: 'stop', matched: 2 })
    expect(end?.usage).toEqual({ promptTokens: prompt.length, completionTokens: ids.length, cachedTokens: 1 })
    expect(problems).toEqual([])
  })

  test('has raw logprobs: the same at temperature 2 as at temperature 0', () => {
    const at = (name: string) => responseOf(name).completion_probabilities.map(({ logprob }) => logprob)
    const [cold, hot] = [at('completion-eos'), at('completion-temperature')]
    expect(hot).toHaveLength(cold.length)
    for (const [index, logprob] of cold.entries()) expect(hot[index]).toBeCloseTo(logprob, 4)
  })

  test('that ends by its length has that finish reason', async () => {
    const { tokens, end } = await replyTo('completion-length', request({ topLogprobsNum: 0 }))
    expect(tokens.ids).toHaveLength(4)
    expect(tokens.topLogprobs).toBeUndefined()
    expect(end?.finish).toEqual({ kind: 'length' })
  })

  test('keeps the ids of tokens that end inside a character, whose logprobs the server does not send', async () => {
    const { tokens, problems } = await replyTo('completion-characters')
    const { tokens: ids, completion_probabilities: rows } = responseOf('completion-characters')
    expect(rows.length).toBeLessThan(ids.length)
    expect(tokens.ids).toEqual(ids)
    const known = tokens.logprobs?.filter((logprob) => logprob !== null)
    expect(known).toEqual(rows.map(({ logprob }) => logprob))
    expect(problems.filter(({ column }) => column === 'logprobs')).toHaveLength(ids.length - rows.length)
  })

  test('keeps the ids of a stop text, whose logprobs the server does not send', async () => {
    const { tokens, end } = await replyTo('completion-stop-text')
    expect(tokens.ids).toEqual([73, 74, 75, 76, 77])
    expect(tokens.logprobs?.map((logprob) => logprob === null)).toEqual([false, false, false, true, true])
    expect(end?.finish).toEqual({ kind: 'stop', matched: 'cde' })
  })

  test('of an unknown kind is recorded as such', async () => {
    const found = recorded('completion-eos')
    const none = { ...found, response: { ...(found.response as object), stop_type: 'none', timings: null } }
    const { client } = await serving({ '/completion': none })
    for await (const { end } of client.generate(request(), never))
      expect(end?.finish).toEqual({ kind: 'unknown', raw: '"none"' })
  })

  test.each([
    ['completion-too-long', 'CONTEXT_LENGTH', { context: { needed: 4000, holds: 4096 } }],
    ['completion-grammar', 'UPSTREAM_REJECTED', {}],
  ] as const)('to %s is the error %s', async (name, code, more) => {
    await expect(replyTo(name)).rejects.toMatchObject({ code, ...(name === 'completion-too-long' ? {} : more) })
  })
})

describe('A LoRA adapter of llama.cpp', () => {
  const adapters = { '/lora-adapters': recorded('lora-adapters') }

  test('is named by its file, and only this adapter is used', async () => {
    const { client, server } = await serving({ ...adapters, '/completion': recorded('completion-adapter') })
    const [chunk] = await Array.fromAsync(client.generate(request({ adapter: 'tiny-adapter' }), never))
    expect(chunk?.tokens.ids).toEqual(responseOf('completion-adapter').tokens)
    expect(chunk?.tokens.logprobs).not.toEqual(
      responseOf('completion-eos').completion_probabilities.map((p) => p.logprob),
    )
    expect(server.requests.at(-1)?.body).toMatchObject({ lora: [{ id: 0, scale: 1 }] })
  })

  test('is listed in the description', async () => {
    const { client } = await serving({ ...adapters, '/props': recorded('props') })
    expect(await client.describe(never)).toMatchObject({ adapters: ['tiny-adapter'], capabilities: { adapters: true } })
  })

  test.each([
    [adapters, 'it has tiny-adapter'],
    [{ '/lora-adapters': { ...recorded('lora-adapters'), response: [] } }, 'it has none'],
    [{}, 'it has none'],
  ])('that is not loaded is refused, because the server would ignore it', async (recordings, has) => {
    const { client, server } = await serving(recordings)
    await expect(Array.fromAsync(client.generate(request({ adapter: 'other' }), never))).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
      message: `the server has no LoRA adapter “other”: ${has}`,
    })
    expect(server.requests.map(({ path: asked }) => asked)).toEqual(['/lora-adapters'])
  })

  test('cannot be looked up on a server that fails, and the failure is reported', async () => {
    const { client } = await serving({ '/lora-adapters': { ...recorded('lora-adapters'), status: 500, response: {} } })
    await expect(Array.fromAsync(client.generate(request({ adapter: 'a' }), never))).rejects.toMatchObject({
      status: 500,
    })
  })
})

test('A logprob whose token is not certain stays unknown', () => {
  const row = (id: number, logprob: number) => ({ id, logprob })
  const logprobsOf = (ids: readonly number[], rows: readonly ReturnType<typeof row>[]) =>
    alignedRows(ids, rows).map((found) => found?.logprob)
  expect(logprobsOf([5, 6, 7], [row(6, -1)])).toEqual([undefined, -1, undefined])
  expect(logprobsOf([5, 5, 7], [row(5, -1), row(7, -2)])).toEqual([undefined, undefined, -2])
  expect(logprobsOf([5, 6], [row(9, -1)])).toEqual([undefined, undefined])
})

describe('A request to llama.cpp', () => {
  test('sends ids, requests ids, and sets every default that changes sampling', async () => {
    const { client, server } = await serving({ '/completion': EOS })
    for await (const _ of client.generate(request(), never));
    expect(server.requests[0]?.body).toMatchObject({
      prompt,
      return_tokens: true,
      n_probs: 2,
      n_predict: 64,
      temperature: 0,
      min_p: 0,
      top_k: 0,
      top_p: 1,
      repeat_penalty: 1,
      stream: false,
      cache_prompt: true,
    })
  })

  test('has the parameters by llama.cpp’s names and in its forms', () => {
    const sampling = {
      top_k: -1,
      repetition_penalty: 1.2,
      logit_bias: { '7': -3 },
      json_schema: '{"type":"object"}',
      sampling_seed: 4,
      mirostat: 2,
      max_new_tokens: 10,
    }
    expect(toCompletionBody(request({ sampling, topLogprobsNum: 0 }))).toMatchObject({
      top_k: 0,
      repeat_penalty: 1.2,
      repeat_last_n: prompt.length + 10,
      logit_bias: [[7, -3]],
      json_schema: { type: 'object' },
      seed: 4,
      mirostat: 2,
      n_probs: 1,
    })
  })

  test('counts penalties over all tokens, unless the request says over how many', () => {
    const windowOf = (sampling: Sampling) => toCompletionBody(request({ sampling })).repeat_last_n
    expect(windowOf({ max_new_tokens: 10 })).toBe(prompt.length + 10)
    expect(windowOf({ max_new_tokens: 10, repeat_last_n: 32 } as Sampling)).toBe(32)
  })

  test('has an empty schema for “any JSON”, which SGLang names $$ANY$$', () => {
    expect(toCompletionBody(request({ sampling: { json_schema: '$$ANY$$' } })).json_schema).toEqual({})
  })

  test.each([
    [{ scoreOnly: true }, /returns no logprobs of prompts/],
    [{ logprobStartLen: 0 }, /returns no logprobs of prompts/],
    [{ sampling: { stop_regex: ['a'] } }, /no parameter for stop_regex/],
    [{ sampling: { new_one: 1 } as Sampling }, /no parameter for new_one/],
  ] as const)('that llama.cpp cannot answer is refused: %j', (overrides, message) => {
    expect(() => toCompletionBody(request(overrides))).toThrow(message)
  })
})

describe('A llama.cpp server', () => {
  test('is described by /props', async () => {
    const { client } = await serving({ '/props': recorded('props') })
    expect(await client.describe(never)).toMatchObject({
      kind: 'server',
      modelName: 'tiny-qwen3.gguf',
      contextLength: 4096,
      capabilities: { engine: 'llama.cpp', logprobs: 'raw', promptLogprobs: false },
    })
  })

  test('reports its load by /slots, or none', async () => {
    const { client } = await serving({ '/slots': recorded('slots') })
    expect(await client.load(never)).toEqual({ state: 'reported', running: 0, maxRunning: 2 })
    expect(await (await serving({})).client.load(never)).toBeUndefined()
  })

  test('encodes, decodes and renders', async () => {
    const { client, server } = await serving({
      '/tokenize': recorded('tokenize'),
      '/detokenize': recorded('detokenize'),
      '/apply-template': recorded('apply-template'),
    })
    expect(await client.tokenize(['a<|im_end|>'], never)).toEqual([[73, 2]])
    expect(await client.frame(never)).toEqual({ before: [], after: [] })
    expect(await client.detokenize([[2], []], 'with special tokens', never)).toEqual(['<|im_end|>', ''])
    const input = { messages: [], tools: undefined, addGenerationPrompt: true, options: { enable_thinking: false } }
    expect(await client.tokenizeMessages(input, never)).toEqual([73, 2])
    expect(server.requests.find(({ path: asked }) => asked === '/apply-template')?.body).toEqual({
      messages: [],
      add_generation_prompt: true,
      chat_template_kwargs: { enable_thinking: false },
    })
  })

  test.each([
    ['chat', (client: EngineClient) => client.chat({} as never, never)],
    ['parseFunctionCalls', (client: EngineClient) => client.parseFunctionCalls({} as never, never)],
    ['separateReasoning', (client: EngineClient) => client.separateReasoning({} as never, never)],
  ])('refuses %s with the reason', async (_, call) => {
    const { client } = await serving({})
    await expect(call(client)).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
      message: expect.stringMatching(/^llama\.cpp .+Choose/),
    })
  })
})
