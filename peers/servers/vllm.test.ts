/** Runs the same conversations on the built-in server, on llama.cpp and on the real vLLM, whose address is all that Rollscope is given. */
import { beforeAll, expect, inject, test } from 'vitest'
import { application, difference } from '../set-up/application.ts'
import { conversations } from './conversations.ts'
import { comparedText, compareWithServer } from './same-replies.ts'

const { application: address, vllm, llamacpp } = inject('vllm')
const rollscope = application(address)
const [conversation = { prompts: [], thinking: true }] = conversations

beforeAll(async () => {
  await rollscope.addServer('vllm', vllm)
  await rollscope.addServer('llamacpp', llamacpp)
})

test('vLLM is recognized, and what it can do is found by asking it', async () => {
  const status = async () => (await rollscope.get('/api/servers/vllm/status')).json()
  // A server that compiles its first reply may take longer than the questions wait. They are then asked again.
  await expect.poll(status, { timeout: 120_000, interval: 2_000 }).toMatchObject({
    state: 'ready',
    modelName: 'tiny-qwen3',
    contextLength: 4096,
    version: expect.stringMatching(/^0\.\d+\.\d+/),
    capabilities: {
      ...{ engine: 'vllm', logprobs: 'raw', promptLogprobs: true, streaming: true, chatIds: true },
      mostAlternatives: 20,
    },
  })
})

test.each([
  ['llamacpp', 'llama.cpp'],
  ['vllm', 'vllm'],
])(
  'Every greedy reply of six conversations has the same ids on %s as on the built-in server',
  async (server, engine) => {
    expect(conversations).toHaveLength(6)
    console.log(`${server}: ${comparedText(await compareWithServer(rollscope, server, engine))}`)
  },
)

test.each([true, false])(
  'vLLM gives a run with tools by its own tokenizer and template, equal to that of the built-in server (streamed: %s)',
  async (stream) => {
    const settings = { stream, promptLogprobs: true }
    const theirs = await rollscope.converse(conversation, { ...settings, server: 'vllm', tokenizer: 'server' })
    const ours = await rollscope.converse(conversation, { ...settings, server: 'built-in' })
    expect(theirs.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(theirs.segments.flatMap(({ ids }) => ids)).toEqual(ours.segments.flatMap(({ ids }) => ids))
    for (const [index, segment] of theirs.segments.entries()) {
      const found = difference(segment.logprobs ?? [], ours.segments[index]?.logprobs ?? [])
      expect(found.largest, `segment ${index}`).toBeLessThan(1e-3)
    }
    const responses = theirs.segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))
    expect(responses.flatMap(({ toolCalls }) => toolCalls).map(({ result }) => result?.status)).toContain('success')
    expect(responses.at(-1)?.usage?.cachedTokens).toBeGreaterThanOrEqual(0)
  },
)

test('vLLM scores the ids of a run as it sampled them', async () => {
  const { segments } = await rollscope.converse(conversation, { server: 'vllm', stream: true, tokenizer: 'server' })
  const ids = segments.flatMap((segment) => segment.ids)
  const answer = await rollscope.post('/api/score', { server: 'vllm', ids })
  const lines = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const scored = lines.flatMap(({ logprobs = [] }) => logprobs as (number | null)[])
  expect(scored).toHaveLength(ids.length)
  const sampled = segments.flatMap(({ kind, ids, logprobs }) =>
    kind === 'response' ? (logprobs ?? []) : ids.map(() => null),
  )
  const found = difference(sampled, scored)
  expect(found.compared).toBeGreaterThan(20)
  expect(found.largest).toBeLessThan(1e-3)
})

test('A parameter that vLLM would ignore silently is refused before the run, with its field', async () => {
  const request = { server: 'vllm', tokenizer: 'server', prompt: 'a', sampling: { stop_regex: ['a'] } }
  await expect(rollscope.post('/api/rollouts', request)).rejects.toThrow(/422 .*NOT_IN_ENGINE.*sampling\.stop_regex/s)
})
