/** Tests a stream of several replies: one that fails, leaves or does not read does not affect the others. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import type { EngineThread } from '#lib/builtin-server/engine/engine-thread.ts'
import { emptyChunk, type JobChunk } from '#lib/builtin-server/engine/job.ts'
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { createTestModel, eventsIn, lasting, type TestReply, testClient } from '#lib/builtin-server/test-model.ts'
import { generateBody } from './generate-body.ts'
import { type GenerateServing, replyStream } from './generate-endpoint.ts'

describe('A reply of a stream that is refused', () => {
  const model = createTestModel({ capacity: { running: 4, waiting: 0, cacheBytes: 1 << 20 } })
  afterAll(() => model.close())
  const { get, post } = testClient(model)
  const running = async (): Promise<number> => (await (await get('/v1/loads')).json()).loads[0].num_running_reqs

  test('ends its own stream and affects no other', async () => {
    const sampling = lasting({ max_new_tokens: 150 })
    await post('/generate', { input_ids: [9], sampling_params: { max_new_tokens: 1 } })
    const other = await post('/generate', { input_ids: [9, 10], stream: true, sampling_params: sampling })
    const own = { prompt: [[11, 12], [13], [14], [15]], max_tokens: 150, ignore_eos: true, rid: 'own', stream: true }
    const events = eventsIn(await (await post('/v1/completions', own)).text())
    expect(events.at(-1)).toMatchObject({ error: { code: 503, message: 'The request queue is full.' } })
    await expect.poll(running).toBe(1)
    const again = await post('/generate', { input_ids: [9], rid: 'own_0', sampling_params: { max_new_tokens: 1 } })
    expect(again.status).toBe(200)
    const replies = eventsIn(await other.text()) as TestReply[]
    expect(replies.flatMap(({ output_ids }) => output_ids)).toHaveLength(150)
    expect(replies.at(-1)?.meta_info).toMatchObject({ completion_tokens: 150, finish_reason: { type: 'length' } })
    expect([await running(), (await post('/flush_cache', {})).status]).toEqual([0, 200])
  })
})

describe('Chunks that arrive all at once', () => {
  const LENGTH = 500
  /** Returns a stream that counts the chunks that are written. */
  async function streamOf() {
    let written = 0
    let aborts = 0
    const chunk = (index: number): JobChunk => ({
      ...emptyChunk({ kind: 'length' }),
      ids: [index],
      logprobs: [-1],
      input: index === 0 ? { ids: [5], logprobs: [null], top: [null], requested: [null] } : undefined,
      finish: index === LENGTH - 1 ? { kind: 'length' } : undefined,
      get text() {
        written++
        return 'x'
      },
    })
    const engine: Pick<EngineThread, 'run'> = {
      run(_, onChunk) {
        for (let index = 0; index < LENGTH; index++) onChunk(chunk(index))
        return {
          abort: () => {
            aborts++
          },
        }
      },
    }
    const serving: GenerateServing = {
      engine: engine as EngineThread,
      vocabulary: {} as Vocabulary,
      limits: { vocabularySize: 1024, contextLength: 4096, maxJobs: 8, encode: async () => [] },
      generations: new Map(),
    }
    const body = generateBody({ input_ids: [[5], [6]], stream: true, return_logprob: true })
    const { growing } = await replyStream(body, serving, new AbortController().signal)
    return { growing, written: () => written, aborts: () => aborts }
  }

  test('are written when they are read, and share one list of the prompt’s logprobs', async () => {
    const { growing, written, aborts } = await streamOf()
    const lists = new Set<unknown>()
    let read = 0
    for await (const { index, reply } of growing) {
      if (index === 0) lists.add(reply.meta_info.input_token_logprobs)
      if (read++ === 1) for (let turns = 0; turns < 2 * LENGTH; turns++) await turn()
      expect(written()).toBe(read)
    }
    expect([read, lists.size, aborts()]).toEqual([2 * LENGTH, 1, 0])
  })

  test('are dropped when their reader leaves, which aborts all jobs', async () => {
    const { growing, written, aborts } = await streamOf()
    for await (const _first of growing) break
    expect([written(), aborts()]).toEqual([1, 2])
  })
})
