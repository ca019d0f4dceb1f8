/** Tests the client with recorded answers of vLLM 0.32.0 (CPU, fp32, shipped model). */
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { createConnection } from '#lib/engine/connection.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { toSamplingFields } from '#lib/engine/sampling-fields.ts'
import { type Recording, scripted } from '#testing/sglang/recordings.ts'
import { vllmClient } from './client.ts'
import { toCompletionBody } from './completion.ts'

const recorded = (name: string): Recording =>
  JSON.parse(readFileSync(path.join('lib/vllm/recordings', `${name}.json`), 'utf8'))

const never = new AbortController().signal
const VLLM = { model: 'tiny', engine: 'vllm' } as const
const OPENAI = { model: 'tiny', engine: 'openai' } as const

function clientOf(baseUrl: string): EngineClient {
  const client = vllmClient(createConnection({ baseUrl, apiKey: undefined, retry: { repetitions: 0 } }))
  onTestFinished(() => client.close())
  return client
}

interface LoggedServer {
  /** Number of requests that ask for the capabilities. */
  probes(): number
  /** The other requests, in order. */
  readonly requests: readonly { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[]
}

type Answer = Recording | ((response: ServerResponse) => void)

/** Starts a server whose probes are answered as vLLM does, or by `probe`, and other requests by their path and whether they stream. */
async function serving(
  answers: Readonly<Record<string, Answer>>,
  probe?: Recording,
): Promise<{ readonly client: EngineClient; readonly server: LoggedServer }> {
  const requests: LoggedServer['requests'][number][] = []
  let probes = 0
  const fixed: Readonly<Record<string, Answer>> = {
    '/v1/models': recorded('models'),
    '/version': recorded('version'),
    ...answers,
  }
  const server = await scripted(async (incoming, response) => {
    let text = ''
    for await (const part of incoming) text += String(part)
    const { url = '' } = incoming
    const body = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>
    const answered = probeAnswer(url, body, probe) ?? fixed[body.stream ? `${url} stream` : url] ?? fixed[url]
    if (probeAnswer(url, body, probe)) probes++
    else requests.push({ path: url, body })
    if (typeof answered === 'function') return answered(response)
    const { status, response_headers: headers, stream_lines: lines, response: json } = answered ?? NOT_FOUND
    response.writeHead(status, Object.fromEntries(headers))
    response.end(lines?.join('') ?? (typeof json === 'string' ? json : JSON.stringify(json)))
  })
  onTestFinished(server.close)
  return { client: clientOf(server.baseUrl), server: { requests, probes: () => probes } }
}

const NOT_FOUND = recorded('no-props')

function probeAnswer(url: string, body: Readonly<Record<string, unknown>>, probe: Recording | undefined) {
  if (url === '/v1/chat/completions' && body.max_completion_tokens === 1) return probe ?? recorded('chat-probe')
  if (url !== '/v1/completions' || JSON.stringify(body.prompt) !== '[1,1]') return undefined
  if (probe) return probe
  if (body.logprobs === 1_000_000) return recorded('completion-limit')
  return recorded(body.stream ? 'completion-probe-stream' : 'completion-probe')
}

interface RecordedChoice {
  readonly text: string
  readonly token_ids: readonly number[]
  readonly logprobs: {
    readonly token_logprobs: readonly number[]
    readonly top_logprobs: readonly Readonly<Record<string, number>>[]
  }
  readonly prompt_logprobs: readonly (Readonly<Record<string, { readonly logprob: number }>> | null)[] | null
  finish_reason: string
  stop_reason: number | string | null
}
interface RecordedReply {
  readonly choices: [RecordedChoice, ...RecordedChoice[]]
  readonly usage: Record<string, unknown>
}
const replyOf = (name: string) => recorded(name).response as RecordedReply
const choiceOf = (name: string): RecordedChoice => replyOf(name).choices[0]

/** Returns a recorded reply with changes. */
function changed(name: string, change: (reply: RecordedReply) => void): Recording {
  const response = structuredClone(replyOf(name))
  change(response)
  return { ...recorded(name), response }
}

const { prompt } = recorded('completion').request.body as { readonly prompt: readonly number[] }
const request = (overrides: Partial<GenerateRequest> = {}): GenerateRequest => ({
  inputIds: prompt,
  sampling: { temperature: 0, max_new_tokens: 64 },
  rid: 'a'.repeat(32),
  stream: false,
  topLogprobsNum: 2,
  vocabularySize: 1024,
  ...overrides,
})

async function chunksOf(recording: Recording, asked = request()): Promise<readonly Chunk[]> {
  const { client } = await serving({ '/v1/completions': recording })
  return Array.fromAsync(client.generate(asked, never))
}

/** Returns the only chunk of a whole reply. */
async function replyTo(recording: Recording, asked = request()): Promise<Chunk> {
  const [chunk, ...others] = await chunksOf(recording, asked)
  expect(others).toEqual([])
  if (!chunk) throw new Error('there is no chunk')
  return chunk
}

const idsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ tokens }) => [...tokens.ids])
const logprobsOf = (chunks: readonly Chunk[]) => chunks.flatMap(({ tokens }) => [...(tokens.logprobs ?? [])])

describe('A reply of vLLM', () => {
  test('has every id, logprob and alternative, and the stop token', async () => {
    const { tokens, end, problems } = await replyTo(recorded('completion'))
    const { token_ids: ids, logprobs, text } = choiceOf('completion')
    expect(tokens.ids).toEqual(ids)
    expect(tokens.ids.at(-1)).toBe(2)
    expect(tokens.logprobs).toEqual(logprobs.token_logprobs)
    const rows = logprobs.top_logprobs.map((row) => Object.entries(row))
    expect(tokens.topLogprobs).toEqual({
      k: 2,
      ids: rows.flatMap((row) => row.map(([key]) => Number(key.replace('token_id:', '')))),
      logprobs: rows.flatMap((row) => row.map(([, logprob]) => logprob)),
    })
    expect(end).toEqual({
      finish: { kind: 'stop', matched: 2 },
      usage: { promptTokens: prompt.length, completionTokens: ids.length },
      text,
    })
    expect(problems).toEqual([])
  })

  test.each(['completion-stream', 'completion-stream-interval'])(
    'that is streamed (%s) has the same tokens as the whole one, and its counts',
    async (name) => {
      const chunks = await chunksOf(recorded(name), request({ stream: true, streamInterval: 8 }))
      const whole = choiceOf('completion')
      expect(chunks.length).toBeGreaterThan(4)
      expect(idsOf(chunks)).toEqual(whole.token_ids)
      for (const [index, logprob] of logprobsOf(chunks).entries())
        expect(logprob).toBeCloseTo(whole.logprobs.token_logprobs[index] ?? Number.NaN, 5)
      expect(chunks.slice(0, -1).every(({ end }) => end === undefined)).toBe(true)
      expect(chunks.at(-1)?.end).toEqual({
        finish: { kind: 'stop', matched: 2 },
        usage: { promptTokens: prompt.length, completionTokens: whole.token_ids.length },
        text: whole.text,
      })
    },
  )

  test.each(['completion-hot', 'completion-penalty'])(
    'has raw logprobs: where its tokens are those of the plain reply, so are the logprobs (%s)',
    async (name) => {
      const [plain, other] = [choiceOf('completion'), choiceOf(name)]
      const differs = other.token_ids.findIndex((id, index) => id !== plain.token_ids[index])
      const same = differs < 0 ? other.token_ids.length : differs
      expect(same).toBeGreaterThan(2)
      for (let index = 0; index < same; index++)
        expect(other.logprobs.token_logprobs[index]).toBeCloseTo(plain.logprobs.token_logprobs[index] ?? Number.NaN, 4)
    },
  )

  test('that ends by its length has that finish reason, and no alternatives that were not requested', async () => {
    const { tokens, end } = await replyTo(recorded('completion-length'), request({ topLogprobsNum: 0 }))
    expect(tokens.ids).toHaveLength(4)
    expect(tokens.topLogprobs).toBeUndefined()
    expect(end?.finish).toEqual({ kind: 'length' })
  })

  test('keeps the ids of a stop text and of a stop id, and names them', async () => {
    const text = await replyTo(recorded('completion-stop-text'))
    expect(text.tokens.ids).toEqual(choiceOf('completion-stop-text').token_ids)
    expect(text.end?.finish).toEqual({ kind: 'stop', matched: 'mpute 2' })
    const id = await replyTo(recorded('completion-stop-id'))
    expect(id.tokens.ids.at(-1)).toBe(472)
    expect(id.end?.finish).toEqual({ kind: 'stop', matched: 472 })
  })

  test('names the stop id 0 too', async () => {
    const zero = changed('completion', ({ choices: [choice] }) => {
      choice.stop_reason = 0
    })
    expect((await replyTo(zero)).end?.finish).toEqual({ kind: 'stop', matched: 0 })
  })

  test.each([
    ['abort', { kind: 'abort' }],
    ['repetition', { kind: 'unknown', raw: '"repetition"' }],
  ])('with the finish reason %s is recorded as such', async (reason, finish) => {
    const other = changed('completion', ({ choices: [choice] }) => {
      choice.finish_reason = reason
    })
    expect((await replyTo(other)).end?.finish).toEqual(finish)
  })

  test('has the cached tokens if the server reports them', async () => {
    const cached = changed('completion', ({ usage }) => {
      usage.prompt_tokens_details = { cached_tokens: 128 }
    })
    expect((await replyTo(cached)).end?.usage.cachedTokens).toBe(128)
  })

  test('without "token_id:N" has its ids from token_ids, and no ambiguous alternatives', async () => {
    const texts = changed('completion', ({ choices: [{ logprobs }] }) => {
      Object.assign(logprobs, { tokens: logprobs.token_logprobs.map(() => 'a') })
    })
    const { tokens } = await replyTo(texts)
    expect(tokens.ids).toEqual(choiceOf('completion').token_ids)
    expect(tokens.topLogprobs).toBeUndefined()
  })

  test('without token_ids has its ids from "token_id:N"', async () => {
    const texts = changed('completion', ({ choices: [choice] }) => {
      Object.assign(choice, { token_ids: null, prompt_token_ids: null })
    })
    expect((await replyTo(texts)).tokens.ids).toEqual(choiceOf('completion').token_ids)
  })

  test('marks −9999 as minus infinity, and pads a missing row of alternatives', async () => {
    const odd = changed('completion', ({ choices: [{ logprobs }] }) => {
      Object.assign(logprobs.token_logprobs, { 0: -9999 })
      Object.assign(logprobs.top_logprobs, { 1: null })
    })
    const { tokens, problems } = await replyTo(odd)
    expect(tokens.logprobs?.[0]).toBeNull()
    expect(tokens.topLogprobs?.ids.slice(2, 4)).toEqual([-1, -1])
    expect(problems).toMatchObject([{ kind: 'number', column: 'logprobs', index: 0 }])
  })

  test.each([
    ['other ids than its logprobs', { token_ids: [7] }, 'INCONSISTENT'],
    ['ids and no logprobs', { logprobs: null }, 'BAD_SHAPE'],
    ['another prompt', { prompt_token_ids: [1, 2] }, 'INCONSISTENT'],
    ['no finish reason', { finish_reason: null }, 'UPSTREAM_TRUNCATED'],
    ['more logprobs than tokens', { logprobs: { tokens: ['token_id:3'], token_logprobs: [-1, -2] } }, 'INCONSISTENT'],
  ])('with %s is refused', async (_, fields, code) => {
    const odd = changed('completion', ({ choices: [choice] }) => void Object.assign(choice, fields))
    await expect(replyTo(odd)).rejects.toMatchObject({ code })
  })

  test('that is cut, or has an error in its stream, is refused', async () => {
    const { stream_lines: lines = [] } = recorded('completion-stream')
    const streamed = request({ stream: true })
    const cut = { ...recorded('completion-stream'), stream_lines: lines.slice(0, 8) }
    await expect(chunksOf(cut, streamed)).rejects.toMatchObject({ code: 'UPSTREAM_TRUNCATED' })
    const error = `data: ${JSON.stringify({ error: { message: 'the engine is dead', code: 500 } })}\n\n`
    const failed = { ...recorded('completion-stream'), stream_lines: [...lines.slice(0, 2), error] }
    await expect(chunksOf(failed, streamed)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    await expect(chunksOf(recorded('completion'), streamed)).rejects.toMatchObject({ code: 'UNKNOWN_SERVER' })
  })

  test.each([
    ['completion-too-long', 'CONTEXT_LENGTH', { context: { needed: 4200, holds: 4096 } }],
    ['completion-regex-bad', 'UPSTREAM_REJECTED', {}],
    ['completion-unknown-id', 'UPSTREAM_REJECTED', {}],
  ] as const)('%s is the error %s', async (name, code, more) => {
    await expect(replyTo(recorded(name))).rejects.toMatchObject({ code, ...more })
  })
})

describe('Prompt logprobs of vLLM', () => {
  test('are those of the sent ids, with the most likely alternatives', async () => {
    const { prompt: scores, tokens } = await replyTo(
      recorded('completion-prompt-logprobs'),
      request({ logprobStartLen: 0 }),
    )
    const rows = choiceOf('completion-prompt-logprobs').prompt_logprobs ?? []
    expect(scores?.logprobs).toEqual(rows.map((row, index) => row?.[String(prompt[index])]?.logprob ?? null))
    expect(scores?.logprobs[0]).toBeNull()
    expect(scores?.problems).toEqual([])
    const { k, ids = [], logprobs = [] } = scores?.topLogprobs ?? {}
    expect(k).toBe(2)
    expect(ids.slice(0, 2)).toEqual([-1, -1])
    for (const [index, row] of rows.entries()) {
      if (!row) continue
      const best = Math.max(...Object.values(row).map(({ logprob }) => logprob))
      expect(logprobs[2 * index]).toBe(best)
      expect(row[String(ids[2 * index])]?.logprob).toBe(best)
    }
    expect(tokens.ids).toEqual([3])
  })

  test('begin at the requested position', async () => {
    const { prompt: scores } = await replyTo(
      recorded('completion-prompt-logprobs'),
      request({ logprobStartLen: 100, topLogprobsNum: 0 }),
    )
    expect(scores?.logprobs).toHaveLength(prompt.length - 100)
    expect(scores?.topLogprobs).toBeUndefined()
  })

  test('of a scoring request come without the token that vLLM samples nevertheless', async () => {
    const asked = request({ logprobStartLen: 0, scoreOnly: true })
    const { tokens, prompt: scores, end } = await replyTo(recorded('completion-prompt-logprobs'), asked)
    expect(tokens.ids).toEqual([])
    expect(scores?.logprobs).toHaveLength(prompt.length)
    expect(end).toMatchObject({ finish: { kind: 'length' }, usage: { completionTokens: 0 } })
    expect(toCompletionBody(asked, VLLM)).toMatchObject({ max_tokens: 1, prompt_logprobs: 2, stream: false })
  })

  test('of a stream come from a call of its own before it', async () => {
    const { client, server } = await serving({
      '/v1/completions': recorded('completion-prompt-logprobs'),
      '/v1/completions stream': recorded('completion-stream'),
    })
    const asked = request({ stream: true, logprobStartLen: 0, scoringRid: 'b'.repeat(32) })
    const chunks = await Array.fromAsync(client.generate(asked, never))
    expect(chunks[0]?.prompt?.logprobs).toHaveLength(prompt.length)
    expect(chunks[0]?.scoring).toMatchObject({ rid: 'b'.repeat(32) })
    expect(idsOf(chunks)).toEqual(choiceOf('completion').token_ids)
    expect(server.requests.slice(-2)).toMatchObject([
      { body: { request_id: 'b'.repeat(32), prompt_logprobs: 2, stream: false } },
      { body: { request_id: 'a'.repeat(32), stream: true } },
    ])
  })

  test.each([
    ['of fewer positions', (rows: unknown[]) => rows.slice(1)],
    ['without the sent id', (rows: unknown[]) => rows.map((row) => row && { 999: { logprob: -1 } })],
  ])('%s are refused', async (_, change) => {
    const odd = changed('completion-prompt-logprobs', ({ choices: [choice] }) => {
      Object.assign(choice, { prompt_logprobs: change([...(choice.prompt_logprobs ?? [])]) })
    })
    await expect(replyTo(odd, request({ logprobStartLen: 0 }))).rejects.toMatchObject({ code: 'INCONSISTENT' })
  })
})

describe('A request to vLLM', () => {
  test('sends ids, requests ids in both forms, and sets every default of generation_config.json', () => {
    expect(toCompletionBody(request({ stream: true, streamInterval: 4 }), VLLM)).toEqual({
      model: 'tiny',
      prompt,
      max_tokens: 64,
      ...{ temperature: 0, top_p: 1, top_k: 0, min_p: 0 },
      ...{ frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1 },
      ...{ skip_special_tokens: false, include_stop_str_in_output: true },
      ...{ return_token_ids: true, return_tokens_as_token_ids: true, logprobs: 2 },
      ...{ stream: true, stream_options: { include_usage: true }, stream_interval: 4 },
    })
  })

  test('has the parameters by vLLM’s names and in its forms', () => {
    const sampling = {
      max_new_tokens: 10,
      min_new_tokens: 2,
      top_k: -1,
      json_schema: '{"type":"object"}',
      sampling_seed: 4,
      bad_words: ['x'],
    }
    expect(toSamplingFields(sampling, 'vllm')).toEqual({
      max_tokens: 10,
      min_tokens: 2,
      top_k: 0,
      structured_outputs: { json: { type: 'object' } },
      seed: 4,
      bad_words: ['x'],
    })
    expect(toSamplingFields({ regex: 'a+' }, 'vllm')).toEqual({ structured_outputs: { regex: 'a+' } })
    expect(toSamplingFields({ ebnf: 'root ::= "a"' }, 'vllm')).toEqual({
      structured_outputs: { grammar: 'root ::= "a"' },
    })
  })

  test('to another OpenAI-compatible server has only what OpenAI’s API has, and what ids need', () => {
    expect(toCompletionBody(request({ topLogprobsNum: 0, stream: true, streamInterval: 4 }), OPENAI)).toEqual({
      ...{ model: 'tiny', prompt, max_tokens: 64, temperature: 0, logprobs: 1 },
      ...{ return_token_ids: true, return_tokens_as_token_ids: true },
      ...{ stream: true, stream_options: { include_usage: true } },
    })
  })

  test.each([
    [VLLM, { stop_regex: ['a'] }, /^vLLM has no parameter for stop_regex/],
    [VLLM, { new_one: 1 }, /^vLLM has no parameter for new_one/],
    [OPENAI, { top_k: 5 }, /^This OpenAI-compatible server has no parameter for top_k/],
  ] as const)('is refused by the name of the parameter: %j %j', (target, sampling, message) => {
    expect(() => toCompletionBody(request({ sampling: sampling as never }), target)).toThrow(message)
  })

  test('closes its connection when its reader stops, which ends the generation', async () => {
    let closed = () => {}
    const ended = new Promise<void>((resolve) => {
      closed = resolve
    })
    const { stream_lines: [first = ''] = [] } = recorded('completion-stream')
    const { client } = await serving({
      '/v1/completions': (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`${first}\n`)
        response.on('close', closed)
      },
    })
    for await (const chunk of client.generate(request({ stream: true }), never)) {
      expect(chunk.tokens.ids).toEqual([3])
      break
    }
    await ended
  })
})

describe('A LoRA adapter of vLLM', () => {
  const models = recorded('models')
  const { data } = models.response as { readonly data: readonly object[] }
  const adapted = { ...models, response: { data: [...data, { id: 'math', root: '/adapters/math', parent: 'tiny' }] } }

  test('is a model with a parent in the list of models', async () => {
    const { client } = await serving({ '/v1/models': adapted })
    expect(await client.describe(never)).toMatchObject({
      modelName: 'tiny',
      adapters: ['math'],
      capabilities: { adapters: true },
    })
    const without = await serving({})
    expect((await without.client.describe(never)).capabilities?.adapters).toBe(false)
  })

  test('is named as the model of a request and of a chat', async () => {
    expect(toCompletionBody(request({ adapter: 'math' }), VLLM).model).toBe('math')
    expect(toCompletionBody(request(), VLLM).model).toBe('tiny')
    const { client, server } = await serving({ '/v1/chat/completions': recorded('chat') })
    const chat = { model: 'x', messages: [], tools: [], sampling: {}, templateOptions: {}, rid: 'c'.repeat(32) }
    await client.chat({ ...chat, vocabularySize: 1024, adapter: 'math' }, never)
    expect(server.requests.at(-1)?.body.model).toBe('math')
    expect(server.requests.at(-1)?.body).not.toHaveProperty('lora_path')
  })
})

describe('A vLLM server', () => {
  test('is described by its models, its version, and what short requests return', async () => {
    const { client, server } = await serving({})
    expect(await client.describe(never)).toMatchObject({
      kind: 'server',
      modelName: 'tiny',
      tokenizerName: '/models/tiny-qwen3',
      version: '0.32.0',
      contextLength: 4096,
      incrementalStreaming: true,
      capabilities: {
        engine: 'vllm',
        logprobs: 'raw',
        promptLogprobs: true,
        streaming: true,
        abort: true,
        chatIds: true,
        parsers: false,
        mostAlternatives: 20,
      },
    })
    const first = server.requests.length
    expect((await client.describe(never)).capabilities?.mostAlternatives).toBe(20)
    expect(server.requests.slice(first).map(({ path: asked }) => asked)).toEqual(['/v1/models', '/version'])
  })

  test('with another model is asked again', async () => {
    let id = 'first'
    const { client, server } = await serving({
      '/v1/models': (response) => {
        const json = { 'content-type': 'application/json' }
        response.writeHead(200, json).end(JSON.stringify({ data: [{ id, owned_by: 'vllm' }] }))
      },
    })
    await client.describe(never)
    const probes = server.probes()
    await client.describe(never)
    expect(server.probes()).toBe(probes)
    id = 'second'
    expect((await client.describe(never)).modelName).toBe('second')
    expect(server.probes()).toBe(2 * probes)
  })

  test('that is too busy for these requests is described as usual, and asked again the next time', async () => {
    const { client, server } = await serving({}, { ...NOT_FOUND, status: 503 })
    const usual = { engine: 'vllm', logprobs: 'raw', promptLogprobs: true, streaming: true }
    const { capabilities } = await client.describe(never)
    // Every vLLM takes images in messages, and only some take them beside ids.
    expect(capabilities).toMatchObject({ ...usual, images: true, imagesInMessages: true })
    expect(capabilities?.mostAlternatives).toBeUndefined()
    expect(server.probes()).toBe(1)
    await client.describe(never)
    expect(server.probes()).toBe(2)
  })

  test('with processed logprobs is recognized by the bias that they show', async () => {
    const processed = changed('completion-probe', ({ choices: [{ logprobs }] }) => {
      Object.assign(logprobs.token_logprobs, { 0: -1e-9 })
    })
    const { client } = await serving({}, processed)
    expect((await client.describe(never)).capabilities).toMatchObject({ logprobs: 'processed', streaming: false })
  })

  test('reports its load by /metrics, or none', async () => {
    const { client } = await serving({ '/metrics': recorded('metrics') })
    expect(await client.load(never)).toEqual({ state: 'reported', running: 0, waiting: 0, tokenUsage: 0 })
    const other = { ...recorded('metrics'), response: 'process_start_time_seconds 1\n' }
    expect(await (await serving({ '/metrics': other })).client.load(never)).toBeUndefined()
    expect(await (await serving({})).client.load(never)).toBeUndefined()
    const failing = { ...recorded('metrics'), status: 500 }
    await expect((await serving({ '/metrics': failing })).client.load(never)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
    })
  })

  test('encodes, decodes and renders', async () => {
    const { client, server } = await serving({
      '/tokenize': recorded('tokenize'),
      '/detokenize': recorded('detokenize'),
    })
    expect(await client.tokenize(['a<|im_end|>'], never)).toEqual([[73, 2]])
    expect(await client.frame(never)).toEqual({ before: [], after: [] })
    expect(await client.detokenize([[73, 2], []], 'with special tokens', never)).toEqual(['a<|im_end|>', ''])
    const input = { messages: [], tools: undefined, addGenerationPrompt: true, options: { enable_thinking: false } }
    expect(await client.tokenizeMessages(input, never)).toEqual([73, 2])
    expect(server.requests.at(-1)?.body).toEqual({
      messages: [],
      add_generation_prompt: true,
      chat_template_kwargs: { enable_thinking: false },
    })
  })

  test.each([
    ['a special token, which the text of a reply leaves out', 'completion-special', ''],
    ['an added token, which the text of a reply has', 'completion-ordinary', '<x>'],
  ])('finds out whether an id is %s', async (_, name, text) => {
    const { client } = await serving({
      '/tokenize': { ...recorded('tokenize'), response: { tokens: [2] } },
      '/detokenize': { ...recorded('detokenize'), response: { prompt: '<x>' } },
      '/v1/completions': recorded(name),
    })
    expect(await client.detokenize([[2], [2]], 'without special tokens', never)).toEqual([text, text])
  })

  test.each([
    ['parseFunctionCalls', (client: EngineClient) => client.parseFunctionCalls({} as never, never)],
    ['separateReasoning', (client: EngineClient) => client.separateReasoning({} as never, never)],
  ])('refuses %s with the reason', async (_, call) => {
    const { client } = await serving({})
    await expect(call(client)).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
      message: expect.stringMatching(/^vLLM .+Choose/),
    })
  })
})

describe('Another OpenAI-compatible server', () => {
  const models = (): Recording => ({
    ...recorded('models'),
    response: { data: [{ id: 'tiny', object: 'model', owned_by: 'someone' }] },
  })
  const plain = (name: string): Recording =>
    changed(name, ({ choices: [choice] }) => {
      Object.assign(choice, { token_ids: null, prompt_token_ids: null, prompt_logprobs: null })
    })

  test('that returns ids in any form is used, with the capabilities that it shows', async () => {
    const none = { '/v1/models': models(), '/version': NOT_FOUND }
    const { client } = await serving(none, plain('completion-probe'))
    const { capabilities, version, contextLength } = await client.describe(never)
    expect({ version, contextLength }).toEqual({ version: undefined, contextLength: undefined })
    expect(capabilities).toEqual({ ...ENGINE_CAPABILITIES.openai, logprobs: 'raw' })
    await expect(client.separateReasoning({} as never, never)).rejects.toThrow(/^This OpenAI-compatible server parses/)
  })

  test('that returns ids in every form, prompt logprobs and adapters shows each of these capabilities', async () => {
    const [base] = (models().response as { readonly data: readonly object[] }).data
    const adapted = { ...models(), response: { data: [base, { id: 'math', parent: 'tiny' }] } }
    const { client } = await serving({ '/v1/models': adapted, '/version': NOT_FOUND })
    const { capabilities, adapters } = await client.describe(never)
    expect(adapters).toEqual(['math'])
    expect(capabilities).toEqual({
      ...ENGINE_CAPABILITIES.openai,
      logprobs: 'raw',
      mostAlternatives: 20,
      promptLogprobs: true,
      streaming: true,
      chatIds: true,
      adapters: true,
    })
  })

  test('gives a run its ids, alternatives, cached tokens and stop token, in OpenAI’s form of a request', async () => {
    const cached = changed('completion', ({ usage }) => {
      usage.prompt_tokens_details = { cached_tokens: 5 }
    })
    const { client, server } = await serving({ '/v1/models': models(), '/v1/completions': cached })
    const [chunk] = await Array.fromAsync(client.generate(request(), never))
    expect(chunk?.tokens.ids).toEqual(choiceOf('completion').token_ids)
    expect(chunk?.tokens.topLogprobs?.k).toBe(2)
    expect(chunk?.end?.finish).toEqual({ kind: 'stop', matched: chunk?.tokens.ids.at(-1) })
    expect(chunk?.end?.usage.cachedTokens).toBe(5)
    expect(server.requests.at(-1)?.body).not.toHaveProperty('include_stop_str_in_output')
  })

  test('that returns no ids is refused with the reason and what to do', async () => {
    const textOnly = changed('completion-probe', ({ choices: [choice] }) => {
      Object.assign(choice, { token_ids: null, logprobs: { tokens: ['a'], token_logprobs: [-1] } })
    })
    const { client } = await serving({ '/v1/models': models() }, textOnly)
    await expect(client.describe(never)).rejects.toMatchObject({
      code: 'NO_TOKEN_IDS',
      message: expect.stringContaining('returns no token ids with their logprobs'),
      hint: expect.stringContaining('vLLM 0.10.2 or newer'),
    })
  })

  test('that refuses ids as a prompt is refused, and one whose key is missing reports that instead', async () => {
    const refused = { ...recorded('completion-unknown-id') }
    const { client } = await serving({ '/v1/models': models() }, refused)
    await expect(client.describe(never)).rejects.toMatchObject({ code: 'NO_TOKEN_IDS' })
    const locked = await serving({ '/v1/models': models() }, { ...refused, status: 401 })
    await expect(locked.client.describe(never)).rejects.toMatchObject({ code: 'UPSTREAM_AUTH' })
  })
})

describe('A chat with vLLM', () => {
  const chatRequest = {
    model: 'tiny',
    messages: [{ role: 'assistant', content: 'x', reasoning_content: 'because' }],
    tools: [],
    sampling: { temperature: 0, top_k: -1, max_completion_tokens: 64, regex: 'a', ebnf: undefined },
    templateOptions: {},
    rid: 'c'.repeat(32),
    vocabularySize: 1024,
  }
  async function chatting(recording: Recording, engine: 'vllm' | 'openai' = 'vllm') {
    const owner =
      engine === 'vllm' ? recorded('models') : { ...recorded('models'), response: { data: [{ id: 'tiny' }] } }
    return serving({ '/v1/models': owner, '/v1/chat/completions': recording })
  }

  test('has the ids of prompt and reply, and its reasoning under one name', async () => {
    const { client, server } = await chatting(recorded('chat-reasoning'))
    const answer = await client.chat(chatRequest, never)
    const response = recorded('chat-reasoning').response as {
      readonly prompt_token_ids: readonly number[]
      readonly choices: readonly { readonly token_ids: readonly number[] }[]
    }
    expect(answer.promptIds).toEqual(response.prompt_token_ids)
    expect(answer.tokens.ids).toEqual(response.choices[0]?.token_ids)
    expect(answer.tokens.logprobs).toHaveLength(answer.tokens.ids.length)
    expect(answer.message).toMatchObject({ reasoning_content: '\nNo tool is needed.\n' })
    expect(answer.message).not.toHaveProperty('reasoning')
    expect(answer.end).toEqual({
      finish: { kind: 'stop', matched: 2 },
      usage: { promptTokens: answer.promptIds.length, completionTokens: answer.tokens.ids.length },
    })
    expect(answer.problems).toEqual([])
    expect(server.requests.at(-1)?.body).toMatchObject({
      messages: [{ reasoning_content: 'because', reasoning: 'because' }],
      structured_outputs: { regex: 'a' },
      top_k: -1,
      return_token_ids: true,
      request_id: 'c'.repeat(32),
    })
  })

  test('that ends with tool calls ended at a stop', async () => {
    const { client } = await chatting(recorded('chat'))
    const { end, message } = await client.chat(chatRequest, never)
    expect(end.finish).toEqual({ kind: 'stop', matched: 2 })
    expect(message.tool_calls?.[0]?.function.name).toBe('calculator')
  })

  test('of another server is sent OpenAI’s parameters only', async () => {
    const { client, server } = await chatting(recorded('chat-length'), 'openai')
    expect((await client.chat({ ...chatRequest, sampling: { temperature: 0, top_k: -1 } }, never)).end.finish).toEqual({
      kind: 'length',
    })
    expect(server.requests.at(-1)?.body).not.toHaveProperty('top_k')
  })

  test.each([
    ['no ids of the prompt', { prompt_token_ids: null }, {}, 'CHAT_UNSUPPORTED'],
    ['no ids of the reply', {}, { token_ids: null }, 'CHAT_UNSUPPORTED'],
    ['ids of another tokenizer', { prompt_token_ids: [5000] }, {}, 'TOKENIZER_MISMATCH'],
    ['fewer logprobs than ids', {}, { logprobs: { content: [] } }, 'INCONSISTENT'],
  ])('with %s is refused', async (_, fields, choice, code) => {
    const { response } = recorded('chat')
    const { choices, ...rest } = structuredClone(response) as { readonly choices: readonly object[] }
    const odd = { ...recorded('chat'), response: { ...rest, choices: [{ ...choices[0], ...choice }], ...fields } }
    const { client } = await chatting(odd)
    await expect(client.chat(chatRequest, never)).rejects.toMatchObject({ code })
  })

  test('without logprobs has a note, and a server without the endpoint is named', async () => {
    const { response } = recorded('chat')
    const { choices, ...rest } = structuredClone(response) as { readonly choices: readonly object[] }
    const bare = { ...recorded('chat'), response: { ...rest, choices: [{ ...choices[0], logprobs: null }] } }
    const { client } = await chatting(bare)
    expect((await client.chat(chatRequest, never)).problems).toMatchObject([{ kind: 'missing', column: 'logprobs' }])
    const none = await serving({})
    await expect(none.client.chat(chatRequest, never)).rejects.toMatchObject({ code: 'CHAT_UNSUPPORTED' })
    const busy = await chatting({ ...recorded('chat'), status: 400 })
    await expect(busy.client.chat(chatRequest, never)).rejects.toMatchObject({ code: 'UPSTREAM_REJECTED' })
  })
})
