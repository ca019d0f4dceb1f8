import { describe, expect, onTestFinished, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { type Recording, recording, replay, scripted } from '#testing/sglang/recordings.ts'
import { createClient } from '../client/client.ts'

const never = new AbortController().signal

/** Creates a client of a server that answers these paths, and 404 to all others. */
async function asking(recordings: Readonly<Record<string, Recording>>, apiKey?: string): Promise<EngineClient> {
  const server = await replay(recordings)
  onTestFinished(server.close)
  return createClient({ baseUrl: server.baseUrl, apiKey })
}

async function against(handler: Parameters<typeof scripted>[0]): Promise<EngineClient> {
  const server = await scripted(handler)
  onTestFinished(server.close)
  return createClient({ baseUrl: server.baseUrl, apiKey: undefined })
}

/** Returns the value as an answer with status 200. */
const answer = (response: unknown): Recording => ({ ...recording('info-get_v1_loads'), response })

const router = {
  '/health': recording('router-get_health'),
  '/model_info': recording('router-get_model_info'),
  '/get_model_info': recording('router-get_get_model_info'),
  '/get_server_info': recording('router-get_get_server_info'),
  '/v1/models': recording('router-get_v1_models'),
  '/v1/loads': recording('router-get_v1_loads'),
  '/workers': recording('router-get_workers'),
}

describe('server description', () => {
  test('is read from SGLang 0.5.23', async () => {
    const client = await asking({
      '/model_info': recording('info-get_model_info'),
      '/server_info': recording('info-get_server_info'),
    })
    expect(await client.describe(never)).toEqual({
      kind: 'server',
      capabilities: { ...ENGINE_CAPABILITIES.sglang, adapters: false, routedExperts: false, images: false },
      modelName: 'tiny-qwen3',
      tokenizerName: 'tiny-qwen3',
      version: '0.5.23',
      contextLength: 4096,
      weightVersion: 'default',
      toolCallParser: 'qwen',
      reasoningParser: 'qwen3',
      incrementalStreaming: false,
      deterministicInference: false,
      prefixCache: true,
      maxTotalTokens: 8192,
      latencyMs: expect.any(Number),
    })
  })

  test('is requested again after a failure', async () => {
    let calls = 0
    const replies: Readonly<Record<string, unknown>> = { '/model_info': recording('info-get_model_info').response }
    const client = await against(({ url = '' }, response) => {
      if (calls++ === 0) response.writeHead(500).end('starting')
      else
        response
          .writeHead(replies[url] ? 200 : 404, { 'content-type': 'application/json' })
          .end(JSON.stringify(replies[url] ?? {}))
    })
    await expect(client.describe(never)).rejects.toThrow(EngineError)
    expect(await client.describe(never)).toMatchObject({ modelName: 'tiny-qwen3' })
  })

  test('never contains the keys that /server_info echoes', async () => {
    const info = recording('info-get_server_info').response as object
    const client = await asking({
      '/model_info': recording('info-get_model_info'),
      '/server_info': answer({
        ...info,
        api_key: 'canary',
        admin_api_key: 'canary',
        launch_command: '--api-key canary',
        max_total_num_tokens: 7,
      }),
    })
    const description = await client.describe(never)
    expect(description.maxTotalTokens).toBe(7)
    expect(JSON.stringify(description)).not.toContain('canary')
  })

  test('is read from older versions with the old names', async () => {
    const client = await asking({
      '/get_model_info': recording('info-get_model_info'),
      '/get_server_info': recording('info-get_server_info'),
    })
    expect(await client.describe(never)).toMatchObject({ kind: 'server', version: '0.5.23', contextLength: 4096 })
  })

  test('takes its context length from /v1/models if the server’s arguments do not set it', async () => {
    const client = await asking({
      '/model_info': recording('info-get_model_info'),
      '/server_info': answer({ ...(recording('info-get_server_info').response as object), context_length: null }),
      '/v1/models': recording('info-get_v1_models'),
    })
    expect(await client.describe(never)).toMatchObject({ contextLength: 4096, version: '0.5.23' })
  })

  test.each([
    [
      'the KV cache, if it is smaller than the context of the model',
      { max_total_num_tokens: 300, max_req_input_len: 294 },
      294,
    ],
    ['the model, if the server does not report how long a prompt may be', { max_req_input_len: null }, 4096],
    ['the longest prompt, if nothing reports the context of the model', { context_length: null }, 4090],
  ])('has the context length of %s', async (_, reported, contextLength) => {
    const client = await asking({
      '/model_info': recording('info-get_model_info'),
      '/server_info': answer({ ...(recording('info-get_server_info').response as object), ...reported }),
    })
    expect(await client.describe(never)).toMatchObject({ contextLength })
  })

  test('lists the LoRA adapters of a server that was started with some', async () => {
    const client = await asking({
      '/model_info': recording('info-get_model_info'),
      '/server_info': recording('mixture-get_server_info'),
      '/v1/models': recording('mixture-get_v1_models'),
    })
    expect(await client.describe(never)).toMatchObject({
      capabilities: { adapters: true, routedExperts: true },
      adapters: ['math'],
    })
  })

  test('of a version that reports neither adapters nor routed experts has its other options', async () => {
    const { max_total_num_tokens: _, ...info } = recording('info-get_server_info').response as Record<string, unknown>
    const older = Object.entries(info).filter(([name]) => !/lora|routed/.test(name))
    const client = await asking({
      '/model_info': recording('info-get_model_info'),
      '/server_info': answer(Object.fromEntries(older)),
    })
    expect(await client.describe(never)).toMatchObject({
      version: '0.5.23',
      incrementalStreaming: false,
      capabilities: { adapters: true, routedExperts: true },
    })
  })

  test.each([
    ['has none', { enable_lora: false }, false, false],
    ['may have some that it does not list', { lora_paths: { math: '/adapters/math' } }, true, false],
    ['may have some', {}, true, true],
  ])('says that a server %s (%j)', async (_, options, adapters, isOld) => {
    const { enable_lora: __, ...info } = recording('info-get_server_info').response as Record<string, unknown>
    const client = await asking({
      '/model_info': recording('info-get_model_info'),
      '/server_info': answer(isOld ? info : { ...info, enable_lora: null, lora_paths: null, ...options }),
      '/v1/models': recording('info-get_v1_models'),
    })
    const description = await client.describe(never)
    expect([description.capabilities?.adapters, description.adapters]).toEqual([adapters, undefined])
  })

  test('of a router is its workers’ model and little else', async () => {
    expect(await (await asking(router)).describe(never)).toEqual({
      kind: 'router',
      capabilities: { ...ENGINE_CAPABILITIES.sglang, images: false },
      modelName: 'tiny-qwen3',
      tokenizerName: 'tiny-qwen3',
      weightVersion: 'default',
      toolCallParser: 'qwen',
      reasoningParser: 'qwen3',
      workers: [{ url: 'http://127.0.0.1:38917', isHealthy: true }],
      latencyMs: expect.any(Number),
    })
  })

  test('reports a service that is not SGLang', async () => {
    const other = await against((_request, response) =>
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>File not found</h1>'),
    )
    await expect(other.describe(never)).rejects.toMatchObject({ code: 'UNKNOWN_SERVER' })
  })
})

describe('server load', () => {
  const idle = {
    state: 'reported',
    running: 0,
    waiting: 0,
    maxRunning: 8,
    tokenUsage: 0,
    maxTotalTokens: 8192,
    cachedShare: 0,
    tokensPerSecond: 0,
  }

  test.each(['info-get_v1_loads', 'stream-loads-0.3s-after-disconnect', 'stream-loads-4s-after-disconnect'])(
    'of an idle server is zero in %s',
    async (name) => {
      expect(await (await asking({ '/v1/loads': recording(name) })).load(never)).toEqual(idle)
    },
  )

  test('of several data-parallel ranks is their sum, or their mean', async () => {
    const rank = (recording('info-get_v1_loads').response as { loads: object[] }).loads[0]
    const client = await asking({
      '/v1/loads': answer({
        loads: [
          { ...rank, num_running_reqs: 3, num_waiting_reqs: 2, token_usage: 0.25, cache_hit_rate: 0.5 },
          { ...rank, num_running_reqs: 5, num_waiting_reqs: 0, token_usage: 0.75, cache_hit_rate: 1 },
        ],
      }),
    })
    expect(await client.load(never)).toEqual({
      ...idle,
      running: 8,
      waiting: 2,
      maxRunning: 16,
      maxTotalTokens: 16_384,
      tokenUsage: 0.5,
      cachedShare: 0.75,
    })
  })

  test('has no sum if a rank leaves a value out', async () => {
    const client = await asking({
      '/v1/loads': answer({
        loads: [
          { num_running_reqs: 1, num_waiting_reqs: 0, token_usage: 0.5 },
          { num_running_reqs: 1, num_waiting_reqs: 0 },
        ],
      }),
    })
    expect(await client.load(never)).toEqual({ state: 'reported', running: 2, waiting: 0 })
  })

  test('is read from /get_load of older versions, which counts waiting requests in the total', async () => {
    const client = await asking({
      '/get_load': answer([
        { dp_rank: 0, num_reqs: 5, num_waiting_reqs: 2, num_tokens: 900 },
        { dp_rank: 1, num_reqs: 1, num_waiting_reqs: 0, num_tokens: 20 },
      ]),
    })
    expect(await client.load(never)).toEqual({ state: 'reported', running: 4, waiting: 2 })
  })

  test('of a router is the number of requests that it has passed to its workers', async () => {
    expect(await (await asking(router)).load(never)).toEqual({ state: 'reported', running: 0 })
    const [worker] = (router['/workers'].response as { workers: object[] }).workers
    const busy = await asking({
      '/workers': answer({
        workers: [
          { ...worker, load: 2 },
          { ...worker, load: 1 },
        ],
      }),
    })
    expect(await busy.load(never)).toEqual({ state: 'reported', running: 3 })
  })

  test('is unknown for other services', async () => {
    expect(await (await asking({})).load(never)).toBeUndefined()
  })

  test('fails if the server fails', async () => {
    const client = await against((_request, response) => response.writeHead(500).end('no'))
    await expect(client.load(never)).rejects.toThrow(EngineError)
  })
})
