/** Tests the client with a server of the right shape; the requests to the client are recorded. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createClient } from '#lib/sglang/client/client.ts'
import { type StreamServer, startStreamServer, streamPrompt, VOCABULARY } from '#testing/sglang/stream-server.ts'
import type { EngineClient } from './engine.ts'
import type { GenerateRequest } from './request.ts'
import { withSharedScoring } from './shared-scoring.ts'

const never = new AbortController().signal
let asked: GenerateRequest[]
let refuses: boolean
let server: StreamServer
let client: EngineClient
const generate: EngineClient['generate'] = (request, signal) => {
  asked.push(request)
  if (refuses) throw new Error('refused')
  return client.generate(request, signal)
}

beforeEach(async () => {
  asked = []
  refuses = false
  server = await startStreamServer('incremental')
  client = createClient({ baseUrl: server.baseUrl, apiKey: undefined })
})
afterEach(async () => {
  await client.close()
  await server.close()
})

let requests = 0
const request = (overrides: Partial<GenerateRequest> = {}): GenerateRequest => ({
  inputIds: streamPrompt(20),
  sampling: { max_new_tokens: 4 },
  rid: String(++requests).padStart(32, '0'),
  stream: false,
  logprobStartLen: 0,
  topLogprobsNum: 1,
  vocabularySize: VOCABULARY,
  ...overrides,
})

const scorings = () => asked.filter(({ scoreOnly }) => scoreOnly)

test.each([false, true])(
  'samples of a group share one scoring call with the same numbers, which is recorded; streamed: %s',
  async (stream) => {
    const shared = withSharedScoring(generate, () => 'f'.repeat(32))
    const samples = [0, 1, 2].map(() =>
      Array.fromAsync(shared(request({ stream, ...(stream && { scoringRid: 'e'.repeat(32) }) }), never)),
    )
    const replies = await Promise.all(samples)
    expect(scorings()).toHaveLength(1)
    const writing = asked.filter(({ scoreOnly }) => !scoreOnly)
    expect(writing.map((call) => 'logprobStartLen' in call)).toEqual([false, false, false])
    const [first] = replies[0] ?? []
    expect(first?.prompt?.logprobs).toHaveLength(20)
    for (const [chunk, ...rest] of replies) {
      expect(chunk?.prompt).toBe(first?.prompt)
      expect(chunk?.scoring).toMatchObject({ rid: first?.scoring?.rid, shared: true })
      expect(rest.every(({ prompt, scoring }) => !prompt && !scoring)).toBe(true)
    }
  },
)

test('samples with other ids are scored by themselves, and without requested logprobs nothing is scored', async () => {
  const shared = withSharedScoring(generate, () => 'f'.repeat(32))
  await Array.fromAsync(shared(request(), never))
  const [further] = await Array.fromAsync(shared(request({ inputIds: streamPrompt(30), logprobStartLen: 19 }), never))
  expect(further?.prompt?.logprobs).toHaveLength(11)
  expect(further).not.toHaveProperty('scoring')
  const { logprobStartLen: _, ...without } = request()
  await Array.fromAsync(withSharedScoring(generate, () => 'f'.repeat(32))(without, never))
  expect(scorings()).toHaveLength(1)
})

test('a scoring call that fails fails for all samples that wait for it', async () => {
  refuses = true
  const shared = withSharedScoring(generate, () => 'f'.repeat(32))
  const failures = await Promise.allSettled([0, 1].map(() => Array.fromAsync(shared(request(), never))))
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(asked).toHaveLength(1)
})
