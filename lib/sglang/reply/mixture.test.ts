/** Tests calls with a LoRA adapter, and calls of a mixture of experts, with answers of SGLang 0.5.23. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { expertAgreement } from '#lib/trajectory/experts/agreement.ts'
import { type ExpertRows, expertShape, readExperts, unpackExperts } from '#lib/trajectory/experts/routed-experts.ts'
import { recording, replay } from '#testing/sglang/recordings.ts'
import { createClient } from '../client/client.ts'

const { input_ids: inputIds } = recording('mixture-adapter').request.body as { readonly input_ids: readonly number[] }
const RID = 'a'.repeat(32)

/** Answers a request with a recording. Returns the chunks and the body that was sent. */
async function generate(name: string, own: Partial<GenerateRequest>) {
  const server = await replay({ '/generate': recording(name) })
  const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined, retry: { repetitions: 0 } })
  onTestFinished(server.close)
  onTestFinished(() => client.close())
  const request: GenerateRequest = {
    inputIds,
    sampling: { temperature: 0, max_new_tokens: 6 },
    rid: RID,
    stream: false,
    topLogprobsNum: 0,
    vocabularySize: 1024,
    ...own,
  }
  const chunks: Chunk[] = await Array.fromAsync(client.generate(request, new AbortController().signal))
  return { chunks, body: server.requests[0]?.body as Readonly<Record<string, unknown>> }
}

describe('A call with a LoRA adapter', () => {
  test('names it as lora_path, and gets another reply than the base model', async () => {
    const { chunks, body } = await generate('mixture-adapter', { adapter: 'math' })
    expect(body.lora_path).toBe('math')
    const base = await generate('mixture-experts', {})
    expect(base.body).not.toHaveProperty('lora_path')
    const logprobs = (all: readonly Chunk[]) => all.flatMap(({ tokens }) => tokens.logprobs ?? [])
    expect(logprobs(chunks)).toHaveLength(6)
    expect(logprobs(chunks)).not.toEqual(logprobs(base.chunks))
  })

  test.each([
    ['mixture-err-adapter', /never been loaded: other/],
    ['adapter-not-enabled', /LoRA is not enabled/],
  ])('that the server does not have ends with the server’s reason (%s)', async (name, message) => {
    await expect(generate(name, { adapter: 'other' })).rejects.toMatchObject({
      code: 'UPSTREAM_REJECTED',
      message: expect.stringMatching(message),
    })
  })
})

describe('A call of a mixture of experts', () => {
  const LAYERS = 6
  const PER_LAYER = 2
  const PER_TOKEN = LAYERS * PER_LAYER

  /** Returns the experts of a recorded reply, from the first requested position on. */
  async function expertsOf(name: string, start: number, own: Partial<GenerateRequest> = {}) {
    const { chunks, body } = await generate(name, { routedExpertsStart: start, ...own })
    expect(body).toMatchObject({ return_routed_experts: true, routed_experts_start_len: start })
    const written = chunks.flatMap(({ tokens }) => tokens.ids).length
    const rows = inputIds.length + written - 1 - start
    const read = readExperts(chunks.at(-1)?.end?.routedExperts ?? '', { start, rows, perToken: undefined })
    return read.ok ? unpackExperts(read.experts) : read.why
  }

  test('returns the experts of every token but the last, which has not been read yet', async () => {
    const rows = await expertsOf('mixture-experts', 0)
    expect(rows).toMatchObject({ start: 0, perToken: PER_TOKEN })
    expect(expertShape(rows as ExpertRows)).toEqual({ layers: LAYERS, perLayer: PER_LAYER })
  })

  test('returns the same from a later position, in a stream, and of a prefill', async () => {
    const whole = (await expertsOf('mixture-experts', 0)) as ExpertRows
    const later = (await expertsOf('mixture-experts-later', 3)) as ExpertRows
    const stream = (await expertsOf('mixture-experts-stream', 0, { stream: true })) as ExpertRows
    const score = (await expertsOf('mixture-experts-score', 0, { scoreOnly: true })) as ExpertRows
    expect(later.entries).toEqual(whole.entries.slice(3 * PER_TOKEN))
    expect(stream.entries).toEqual(whole.entries)
    expect(score.entries).toEqual(whole.entries.slice(0, (inputIds.length - 1) * PER_TOKEN))
    expect(expertAgreement(whole, score, inputIds.length)).toMatchObject({ mean: 1, tokens: inputIds.length - 1 })
  })

  test('returns none without --enable-return-routed-experts', async () => {
    const { chunks } = await generate('experts-not-enabled', { routedExpertsStart: 0 })
    expect(chunks.at(-1)?.end).not.toHaveProperty('routedExperts')
  })
})
