/** Tests the engine through the server: batches, samples, prefixes, aborts, disconnects and the queue. */

import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createTestModel,
  eventsIn,
  largestDifference,
  outputLogprobs,
  type TestReply,
  testClient,
} from '#lib/builtin-server/test-model.ts'
import { runs } from '#testing/property-runs.ts'
import { DEFAULT_CAPACITY } from './job.ts'

const { running: MAX_RUNNING, waiting: MAX_WAITING } = DEFAULT_CAPACITY
const model = createTestModel()
afterAll(() => model.close())
const { get, post, generate, stream } = testClient(model)

const ids = (count: number, step = 7): number[] =>
  Array.from({ length: count }, (_, index) => 9 + ((index * step) % 1000))
const long = (own: object = {}) => ({
  input_ids: ids(10),
  sampling_params: { max_new_tokens: 3000, ignore_eos: true },
  ...own,
})
/** Largest logprob difference of a prompt that is read in other pieces or found in the cache, because its sums have another order. */
const ROUNDING = 5e-5
/** Other rows change nothing if onnxruntime adds in the order that the engine assumes. */
const IS_EXACT = process.arch === 'x64'
const EXACTLY = Number.MIN_VALUE
const difference = (a: TestReply | undefined, b: TestReply): number =>
  largestDifference(a ? outputLogprobs(a) : [], outputLogprobs(b))

async function rank(): Promise<Record<string, number>> {
  const { loads } = (await (await get('/v1/loads')).json()) as { loads: Record<string, number>[] }
  return loads[0] ?? {}
}

async function load(): Promise<{ running: number; waiting: number }> {
  const { num_running_reqs = -1, num_waiting_reqs = -1 } = await rank()
  return { running: num_running_reqs, waiting: num_waiting_reqs }
}

/** Resolves when nothing runs; the test's own time limit ends a wait in vain. */
async function idle(): Promise<void> {
  for (;;) {
    const { running, waiting } = await load()
    if (running + waiting === 0) return
    await wait(2)
  }
}

async function restOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
}

describe('Sequences that are decoded together', () => {
  const request = fc.record({
    input_ids: fc
      .integer({ min: 1, max: 300 })
      .chain((count) => fc.integer({ min: 1, max: 30 }).map((step) => ids(count, step))),
    sampling_params: fc.record({
      max_new_tokens: fc.integer({ min: 0, max: 24 }),
      temperature: fc.constantFrom(0, 0.7, 1, 2),
      sampling_seed: fc.nat(),
      top_p: fc.constantFrom(1, 0.9),
      frequency_penalty: fc.constantFrom(0, 0.5),
      regex: fc.constantFrom(undefined, undefined, '[a-z ]{3,12}'),
      ignore_eos: fc.constant(true),
    }),
    return_logprob: fc.constant(true),
    logprob_start_len: fc.constantFrom(-1, 0),
  })

  test('have the ids and logprobs that each has alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 12 }), async (requests) => {
        const together = await Promise.all(requests.map(generate))
        for (const [index, one] of requests.entries()) {
          await post('/flush_cache', '')
          const alone = await generate(one)
          expect(together[index]?.output_ids).toEqual(alone.output_ids)
          const isReadAlike = together[index]?.meta_info.cached_tokens === alone.meta_info.cached_tokens
          expect(difference(together[index], alone)).toBeLessThan(IS_EXACT && isReadAlike ? EXACTLY : ROUNDING)
        }
      }),
      { numRuns: runs(5) },
    )
  })

  test('do not change when others beside them are aborted', async () => {
    const stays = {
      input_ids: ids(20),
      sampling_params: { max_new_tokens: 60, sampling_seed: 3, ignore_eos: true },
      return_logprob: true,
    }
    const alone = await generate(stays)
    const goers = [0, 1, 2].map((index) =>
      post('/generate', long({ rid: `goes-${index}`, input_ids: ids(60 - 20 * index) })),
    )
    const staying = generate(stays)
    for (const index of [1, 0, 2]) {
      await stream({ input_ids: ids(2), sampling_params: { max_new_tokens: 8, ignore_eos: true } })
      await post('/abort_request', { rid: `goes-${index}` })
    }
    expect((await staying).output_ids).toEqual(alone.output_ids)
    expect(difference(await staying, alone)).toBeLessThan(ROUNDING)
    for (const goer of goers) expect((await (await goer).json()).meta_info.finish_reason.message).toBe('Aborted')
  })

  test('let a short request overtake a long one', async () => {
    const controller = new AbortController()
    const slow = post('/generate', long(), controller.signal)
    await generate({ input_ids: ids(5), sampling_params: { max_new_tokens: 2 } })
    expect((await load()).running).toBe(1)
    controller.abort()
    await slow
  })

  test('return a batch in its order, each with its own parameters', async () => {
    const response = await post('/generate', {
      input_ids: [ids(3), ids(9), ids(6)],
      rid: 'batch',
      sampling_params: [4, 1, 2].map((max_new_tokens) => ({ max_new_tokens, ignore_eos: true })),
      return_logprob: [true, false, true],
    })
    const replies = (await response.json()) as TestReply[]
    expect(replies.map(({ meta_info }) => meta_info.id)).toEqual(['batch_0', 'batch_1', 'batch_2'])
    expect(replies.map(({ output_ids }) => output_ids.length)).toEqual([4, 1, 2])
    expect(replies.map(({ meta_info }) => 'output_token_logprobs' in meta_info)).toEqual([true, false, true])
  })
})

describe('Several samples of a prompt', () => {
  beforeEach(async () => {
    await idle()
    await post('/flush_cache', '')
  })
  const body = (own: object = {}) => ({
    input_ids: ids(300),
    sampling_params: { n: 3, max_new_tokens: 6, ignore_eos: true, sampling_seed: 5, ...own },
  })

  test('are a list whose prompt was read once, each with its own id', async () => {
    const replies = (await (await post('/generate', { ...body(), rid: 'mine' })).json()) as TestReply[]
    expect(replies.map(({ meta_info }) => meta_info.cached_tokens)).toEqual([0, 299, 299])
    expect(new Set(replies.map(({ output_ids }) => output_ids.join())).size).toBe(3)
    for (const { meta_info } of replies) expect(meta_info.id).toMatch(/^[0-9a-f]{32}$/)
  })

  test('have consecutive seeds that begin with the requested one', async () => {
    const replies = (await (await post('/generate', body())).json()) as TestReply[]
    for (const [index, reply] of replies.entries())
      expect((await generate(body({ n: 1, sampling_seed: 5 + index }))).output_ids).toEqual(reply.output_ids)
  })

  test('of several prompts are sorted by prompt, in a stream too', async () => {
    const request = { ...body({ n: 2 }), input_ids: [ids(5), ids(9)] }
    const replies = (await (await post('/generate', request)).json()) as TestReply[]
    expect(replies.map(({ meta_info }) => meta_info.prompt_tokens)).toEqual([5, 5, 9, 9])
    const events = (await stream(request)) as (TestReply & { index: number })[]
    for (const [index, reply] of replies.entries()) {
      const own = events.filter((event) => event.index === index)
      expect(own.flatMap(({ output_ids }) => output_ids)).toEqual(reply.output_ids)
    }
  })

  test('are the same number for each prompt, and no more than can wait', async () => {
    const unequal = await post('/generate', { input_ids: [ids(3), ids(3)], sampling_params: [{ n: 2 }, { n: 1 }] })
    expect([unequal.status, (await unequal.json()).error.message]).toEqual([
      400,
      'The parallel_sample_num should be the same for all samples in sample params.',
    ])
    expect((await post('/generate', body({ n: 1_000_000_000 }))).status).toBe(503)
    expect((await post('/generate', body({ n: -1 }))).status).toBe(400)
    const none = await generate(body({ n: 0 }))
    expect(none.output_ids).toHaveLength(6)
  })
})

describe('The prefix cache', () => {
  beforeEach(async () => {
    await idle()
    expect((await post('/flush_cache', '')).status).toBe(200)
  })

  const scored = (input_ids: readonly number[], logprob_start_len: number) =>
    generate({
      input_ids,
      sampling_params: { max_new_tokens: 2, temperature: 0, ignore_eos: true },
      return_logprob: true,
      logprob_start_len,
    })

  test('lets a known prompt be computed from its last token on, with the same logprobs', async () => {
    const prompt = ids(600)
    const fresh = await scored(prompt, -1)
    const cached = await scored(prompt, -1)
    expect([fresh, cached].map(({ meta_info }) => meta_info.cached_tokens)).toEqual([0, 599])
    expect(difference(cached, fresh)).toBeLessThan(ROUNDING)
  })

  test('lets the next turn compute only its new tokens', async () => {
    const prompt = ids(50)
    const { output_ids } = await generate({
      input_ids: prompt,
      sampling_params: { max_new_tokens: 20, ignore_eos: true },
    })
    const next = await scored([...prompt, ...output_ids, 5, 6, 7], -1)
    // The last token of the reply was sampled, but the model has not read it yet.
    expect(next.meta_info.cached_tokens).toBe(50 + 20 - 1)
  })

  test('is not used for positions whose logprobs are requested', async () => {
    const prompt = ids(40)
    const all = await scored(prompt, 0)
    const some = await scored(prompt, 15)
    expect([all, some].map(({ meta_info }) => meta_info.cached_tokens)).toEqual([0, 15])
    const of = ({ meta_info }: TestReply) => meta_info.input_token_logprobs.map(([logprob]) => logprob)
    expect(largestDifference(of(some).slice(1), of(all).slice(16))).toBeLessThan(ROUNDING)
  })

  test('changes no greedy reply', async () => {
    const alphabet = fc.integer({ min: 9, max: 11 })
    const prompts = fc.array(fc.array(alphabet, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(prompts, async (all) => {
        await post('/flush_cache', '')
        for (const prompt of all) await scored(prompt, -1)
        const last = all.at(-1) as number[]
        const warm = await scored(last, -1)
        await post('/flush_cache', '')
        const cold = await scored(last, -1)
        expect(cold.meta_info.cached_tokens).toBe(0)
        expect(difference(warm, cold)).toBeLessThan(ROUNDING)
      }),
      { numRuns: runs(10) },
    )
  })

  test('is not flushed while a request runs', async () => {
    const controller = new AbortController()
    const slow = post('/generate', long(), controller.signal)
    await generate({ input_ids: ids(5), sampling_params: { max_new_tokens: 1 } })
    expect((await post('/flush_cache', '')).status).toBe(400)
    controller.abort()
    await slow
  })
})

describe('An abort', () => {
  test('by id ends a stream with an event that reports it', async () => {
    const response = await post('/generate', long({ rid: 'stop-me', stream: true }))
    const other = post(
      '/generate',
      long({ rid: 'stop-me-not', sampling_params: { max_new_tokens: 300, ignore_eos: true } }),
    )
    await stream({ input_ids: ids(3), sampling_params: { max_new_tokens: 5, ignore_eos: true } })
    await post('/abort_request', { rid: 'stop-me' })
    const events = eventsIn(await response.text()) as TestReply[]
    const last = events.at(-1) as TestReply
    expect(last.meta_info.finish_reason).toEqual({
      type: 'abort',
      message: 'Aborted',
      status_code: null,
      err_type: null,
    })
    expect(last.meta_info.completion_tokens).toBe(events.flatMap(({ output_ids }) => output_ids).length)
    expect(last.meta_info.completion_tokens).toBeGreaterThan(3)
    expect(((await (await other).json()) as TestReply).meta_info.finish_reason?.type).toBe('length')
  })

  test('of all requests ends running ones with their tokens so far, and waiting ones without any', async () => {
    const running = await Promise.all(
      Array.from({ length: MAX_RUNNING }, () => post('/generate', long({ stream: true }))),
    )
    const readers = running.map(({ body }) => (body as ReadableStream<Uint8Array>).getReader())
    // Each reader has a token, so all places are taken.
    await Promise.all(readers.map((reader) => reader.read()))
    const waiting = Array.from({ length: 2 }, (_, index) => post('/generate', long({ rid: `waiting-${index}` })))
    await expect.poll(load).toEqual({ running: MAX_RUNNING, waiting: 2 })
    await post('/abort_request', { abort_all: true })
    for (const reader of readers) {
      const events = eventsIn(await restOf(reader)) as TestReply[]
      expect(events.at(-1)?.meta_info.finish_reason?.message).toBe('Aborted')
    }
    expect(await Promise.all(waiting.map(async (reply) => (await reply).json()))).toEqual(
      [0, 1].map((index) => ({
        text: '',
        output_ids: [],
        meta_info: {
          id: `waiting-${index}`,
          finish_reason: { type: 'abort', message: 'Abort in waiting queue' },
          weight_version: 'default',
          completion_tokens: 0,
          e2e_latency: expect.any(Number),
        },
      })),
    )
  })

  test('of an unknown id is no error', async () => {
    const answers = await Promise.all(
      [{ rid: 'nobody' }, {}, { abort_all: false }].map((body) => post('/abort_request', body)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('The cache in /v1/loads', () => {
  test('has the number of tokens in use, and the capacity', async () => {
    await idle()
    await expect.poll(async () => (await rank()).num_used_tokens).toBe(0)
    const prompt = ids(200)
    const response = await post('/generate', { ...long({ stream: true }), input_ids: prompt })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await expect.poll(async () => (await rank()).num_used_tokens).toBeGreaterThanOrEqual(prompt.length)
    const { num_used_tokens: used = 0, token_usage: usage, max_total_num_tokens: capacity = 0 } = await rank()
    expect(usage).toBeGreaterThanOrEqual(prompt.length / capacity)
    expect(used).toBeLessThan(capacity)
    await reader.cancel()
    await expect.poll(async () => (await rank()).token_usage).toBe(0)
  })

  test('has the cached fraction of the last prompt', async () => {
    await idle()
    await post('/flush_cache', '')
    const request = { input_ids: ids(100, 11), sampling_params: { max_new_tokens: 1 } }
    await generate(request)
    expect((await rank()).cache_hit_rate).toBe(0)
    await generate(request)
    expect((await rank()).cache_hit_rate).toBe(0.99)
  })
})

describe('A client that leaves', () => {
  test('stops its plain request', async () => {
    const controller = new AbortController()
    const reply = post('/generate', long({ rid: 'gone' }), controller.signal)
    await expect.poll(load).toEqual({ running: 1, waiting: 0 })
    controller.abort()
    await idle()
    expect(((await (await reply).json()) as TestReply).meta_info.finish_reason?.type).toBe('abort')
  })

  test('stops its stream by cancelling the body', async () => {
    const response = await post('/generate', long({ rid: 'gone', stream: true }))
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await idle()
    // The id is free again.
    await generate({ rid: 'gone', input_ids: ids(3), sampling_params: { max_new_tokens: 1 } })
  })

  test('stops its request before the body was read', async () => {
    const reply = await post('/generate', long(), AbortSignal.abort())
    expect(((await reply.json()) as TestReply).meta_info.finish_reason?.type).toBe('abort')
  })
})

test('The queue refuses a request that exceeds it with 503, and stops the part that it had accepted', async () => {
  const prompts = Array.from({ length: MAX_RUNNING + MAX_WAITING + 1 }, () => ids(4))
  const response = await post('/generate', { ...long(), input_ids: prompts })
  expect([response.status, await response.json()]).toEqual([
    503,
    { object: 'error', message: 'The request queue is full.', type: '503', param: null, code: 503 },
  ])
  await idle()
})
