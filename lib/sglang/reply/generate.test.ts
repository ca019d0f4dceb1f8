/** Tests the cost of a stream, and the call that scores the prompt before it. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { liveViewOf } from '#lib/api/engine/live-view.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { scripted } from '#testing/sglang/recordings.ts'
import {
  type Manner,
  replyOf,
  type StreamServerRequest,
  startStreamServer,
  streamPrompt,
  VOCABULARY,
} from '#testing/sglang/stream-server.ts'
import { createClient } from '../client/client.ts'

const never = new AbortController().signal
const RID = 'a'.repeat(32)
const SCORING_RID = 'b'.repeat(32)

const request = (overrides: Partial<GenerateRequest> = {}): GenerateRequest => ({
  inputIds: streamPrompt(40),
  sampling: { max_new_tokens: 8, min_new_tokens: 2, stop: ['x'], json_schema: '{}' },
  rid: RID,
  stream: true,
  scoringRid: SCORING_RID,
  logprobStartLen: 10,
  topLogprobsNum: 2,
  vocabularySize: VOCABULARY,
  ...overrides,
})

function clientOf(baseUrl: string): EngineClient {
  const client = createClient({ baseUrl, apiKey: undefined, retry: { firstMs: 1 } })
  onTestFinished(() => client.close())
  return client
}

describe('a streamed reply of 8,192 tokens', () => {
  const bytesOf = async (manner: Manner, alternatives: number, step: number | undefined) => {
    const server = await startStreamServer(manner)
    onTestFinished(server.close)
    const asked = request({
      sampling: { max_new_tokens: 8192 },
      topLogprobsNum: alternatives,
      stream: step !== undefined,
      ...(step !== undefined && { streamInterval: step }),
    })
    const { scoringRid, ...whole } = asked
    const chunks = await Array.fromAsync(clientOf(server.baseUrl).generate(step === undefined ? whole : asked, never))
    const ids = chunks.flatMap(({ tokens }) => tokens.ids)
    expect(ids).toHaveLength(8192)
    expect(chunks[0]?.tokens.ids).toHaveLength(step === undefined ? 8192 : 1)
    return server.bytesSent()
  }

  test.each([
    ['incremental', 0, 2],
    ['incremental', 1, 2],
    ['incremental', 5, 2],
    ['incremental', 20, 2],
    ['cumulative', 0, 20],
    ['cumulative', 5, 20],
  ] as const)(
    'from an %s server with %d alternatives has at most %d times the bytes of the plain one',
    async (manner, top, limit) => {
      const view = liveViewOf({ incrementalStreaming: manner === 'incremental' }, 8192, top)
      const step = 'tokensPerChunk' in view ? view.tokensPerChunk : 1
      if (manner === 'incremental') expect(step).toBeLessThanOrEqual(16)
      else expect(step).toBeGreaterThanOrEqual(256)
      expect((await bytesOf(manner, top, step)) / (await bytesOf(manner, top, undefined))).toBeLessThan(limit)
    },
  )
})

describe('the scoring call for the prompt of a stream', () => {
  /** Starts a stream server whose answers `change` may replace. */
  async function serving(change: (asked: StreamServerRequest, call: number) => object | number | undefined) {
    const bodies: (StreamServerRequest & { readonly return_logprob: boolean })[] = []
    const server = await scripted(async (incoming, response) => {
      let text = ''
      for await (const part of incoming) text += part
      const asked = JSON.parse(text)
      bodies.push(asked)
      const changed = change(asked, bodies.length) ?? replyOf(asked, 0, asked.sampling_params.max_new_tokens)
      if (typeof changed === 'number') {
        response.writeHead(changed).end()
        return
      }
      const json = JSON.stringify(changed)
      response.writeHead(200, { 'content-type': asked.stream ? 'text/event-stream' : 'application/json' })
      response.end(asked.stream ? `data: ${json}\n\ndata: [DONE]\n\n` : json)
    })
    onTestFinished(server.close)
    return { client: clientOf(server.baseUrl), bodies }
  }

  test('is sent first and without sampling parameters; the reply then comes without prompt logprobs', async () => {
    const { client, bodies } = await serving(() => undefined)
    const chunks = await Array.fromAsync(client.generate(request({ streamInterval: 4 }), never))
    expect(bodies).toMatchObject([
      {
        rid: SCORING_RID,
        stream: false,
        return_logprob: true,
        logprob_start_len: 10,
        top_logprobs_num: 2,
        sampling_params: { max_new_tokens: 0, temperature: 0 },
      },
      {
        rid: RID,
        stream: true,
        return_logprob: true,
        top_logprobs_num: 2,
        sampling_params: { max_new_tokens: 8, min_new_tokens: 2, stop: ['x'], json_schema: '{}', stream_interval: 4 },
      },
    ])
    expect(Object.keys(bodies[0]?.sampling_params ?? {}).sort()).toEqual([
      'max_new_tokens',
      'no_stop_trim',
      'skip_special_tokens',
      'spaces_between_special_tokens',
      'temperature',
    ])
    expect(bodies[1]).not.toHaveProperty('logprob_start_len')
    expect(chunks[0]?.prompt).toMatchObject({ logprobs: { length: 30 }, topLogprobs: { k: 2 }, problems: [] })
    expect(chunks[0]?.scoring).toEqual({ rid: SCORING_RID, elapsedMs: expect.any(Number), cachedTokens: 37 })
    expect(chunks[0]?.tokens.ids).toHaveLength(8)
  })

  test('is retried under another id', async () => {
    const { client, bodies } = await serving((_asked, call) => (call === 1 ? 503 : undefined))
    const [first] = await Array.fromAsync(client.generate(request(), never))
    expect(bodies.map(({ rid }) => rid)).toEqual([SCORING_RID, `${SCORING_RID}-2`, RID])
    expect(first?.scoring?.rid).toBe(`${SCORING_RID}-2`)
  })

  test('ends with the signal’s reason if it is aborted while it waits', async () => {
    const finish = { type: 'abort', message: 'Abort in waiting queue' }
    const { client, bodies } = await serving(() => ({ text: '', output_ids: [], meta_info: { finish_reason: finish } }))
    const chunks = await Array.fromAsync(client.generate(request(), never))
    expect(chunks).toMatchObject([{ tokens: { ids: [] }, end: { finish: { kind: 'abort' } } }])
    expect(bodies).toHaveLength(1)
  })

  test.each<[string, (asked: StreamServerRequest) => object, string]>([
    [
      'other ids than were sent',
      (asked) => replyOf({ ...asked, input_ids: streamPrompt(41).slice(1) }, 0, 0),
      'was sent',
    ],
    ['tokens', (asked) => replyOf(asked, 0, 2), 'wrote 2 tokens although'],
  ])('is the last request if it returns %s', async (_what, change, words) => {
    const { client, bodies } = await serving((asked) => (asked.stream ? undefined : change(asked)))
    await expect(Array.fromAsync(client.generate(request(), never))).rejects.toMatchObject({
      code: 'INCONSISTENT',
      message: expect.stringContaining(words),
    })
    expect(bodies).toHaveLength(1)
  })

  test('sends no second call after it was stopped', async () => {
    const controller = new AbortController()
    const { client, bodies } = await serving(() => {
      controller.abort(new Error('stop'))
      return undefined
    })
    await expect(Array.fromAsync(client.generate(request(), controller.signal))).rejects.toThrow('stop')
    expect(bodies).toHaveLength(1)
  })
})
