/** Tests calls with a LoRA adapter, with answers of SGLang 0.5.23. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { recording, replay } from '#testing/sglang/recordings.ts'
import { createClient } from '../client/client.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const { input_ids: inputIds } = recording('mixture-adapter').request.body as { readonly input_ids: readonly number[] }
const RID = 'a'.repeat(32)

/** Answers a request with a recording. Returns the chunks and the body that was sent. */
async function generate(name: string, own: Partial<GenerateRequest>) {
  const server = await replay({ '/generate': recording(name) })
  const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined, retry: { repetitions: 0 } })
  closing.push(() => client.close(), server.close)
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
