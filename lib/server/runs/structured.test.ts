import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { Finish, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { startRollout } from './rollouts.ts'
import { type StructuredRequest, structuredOutput, structuredRequestSchema } from './structured.ts'

const END = byteId('<|im_end|>')
const never = new AbortController().signal
const schema = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] }

let all: Services
let reply: string
let finish: Finish
let requests: GenerateRequest[]
let description: Partial<ServerDescription>
beforeEach(() => {
  reply = 'four'
  finish = { kind: 'stop', matched: END }
  requests = []
  description = { modelName: 'm', contextLength: 4096 }
  all = testServices(folderOfTest(), {
    generate: async function* (request) {
      requests.push(request)
      const ids = [...byteTokenizer.encode(reply), ...(finish.kind === 'stop' ? [END] : [])]
      yield { tokens: { ids }, problems: [], end: { finish, usage: { cachedTokens: 3 } } }
    },
    describe: async () => description,
    template: () => chatml,
  })
})
afterEach(() => all.store.close())

async function run(): Promise<string> {
  const { rolloutId, key } = await startRollout({ prompt: '2 + 2?', promptLogprobs: false }, all, never)
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  return key
}

const ask = (key: string, more: object = {}) =>
  structuredOutput(
    key,
    structuredRequestSchema.parse({ prompt: 'As JSON?', schema, ...more }) satisfies StructuredRequest,
    all,
    never,
  )
const stored = (key: string) => all.store.get(key) as Trajectory

test('Structured output is refused by the field of its grammar if the engine of the server takes no JSON Schema', async () => {
  const key = await run()
  description = { ...description, capabilities: ENGINE_CAPABILITIES.openai }
  await expect(ask(key)).rejects.toMatchObject({ details: { code: 'NOT_IN_ENGINE', field: 'sampling.json_schema' } })
  description = { ...description, capabilities: ENGINE_CAPABILITIES.vllm }
  expect(await ask(key)).toMatchObject({ text: 'four' })
})

test('Structured output appends the question to the recorded tokens, binds the reply by the schema, and leaves the trajectory unchanged', async () => {
  const key = await run()
  const before = JSON.stringify(stored(key))
  reply = '{"answer": 4}'
  const answer = await ask(key, { sampling: { temperature: 0, max_new_tokens: 50 } })
  expect(answer).toMatchObject({ text: reply, value: { answer: 4 }, completionTokens: 14, cachedTokens: 3 })
  expect(answer).not.toHaveProperty('problem')
  expect(JSON.stringify(stored(key))).toBe(before)
  const { inputIds = [], sampling } = requests.at(-1) ?? {}
  const recorded = stored(key).segments.flatMap(({ ids }) => [...ids])
  expect(inputIds.slice(0, recorded.length)).toEqual(recorded)
  expect(new TextDecoder().decode(Buffer.concat(inputIds.map((id) => byteTokenizer.bytes(id))))).toContain('As JSON?')
  expect(sampling).toEqual({ temperature: 0, max_new_tokens: 50, json_schema: JSON.stringify(schema) })
  expect(textOf(recorded, stored(key).vocab)).toContain('four')
})

test('Structured output turns thinking off if the template has the option', async () => {
  const key = await run()
  reply = '{"answer": 4}'
  await ask(key)
  const text = new TextDecoder().decode(
    Buffer.concat((requests.at(-1)?.inputIds ?? []).map((id) => byteTokenizer.bytes(id))),
  )
  expect(text).toMatch(/assistant\n<think>\n\n<\/think>\n\n$/)
})

describe('Structured output reports a reply that does not fit the schema with its text', () => {
  test.each<[string, string, Finish | undefined]>([
    ['{"answer": "four"}', 'answer: expected', undefined],
    ['[1]', 'the response is not an object', undefined],
    ['four', 'the response is not JSON', undefined],
    ['{"answer"', 'raise max_new_tokens', { kind: 'length' }],
    ['{"ans', 'the server aborted the request', { kind: 'abort' }],
  ])('the reply %s', async (text, words, end) => {
    const key = await run()
    reply = text
    finish = end ?? finish
    const answer = await ask(key)
    expect(answer.text).toBe(text)
    expect(answer.problem).toContain(words)
  })
})

test.each([
  [{ schema: { type: 'array' } }, 'BAD_SCHEMA'],
  [{ sampling: { regex: 'a' } }, 'TWO_GRAMMARS'],
])('Structured output refuses %j before it sends a request', async (more, code) => {
  const key = await run()
  await expect(ask(key, more)).rejects.toMatchObject({ details: { code } })
  expect(requests).toHaveLength(1)
})

test('Structured output refuses a trajectory that runs', async () => {
  const key = await run()
  all.store.update(key, { ...stored(key), outcome: { kind: 'running' } }, 0)
  await expect(ask(key)).rejects.toMatchObject({ details: { code: 'RUNNING' } })
})
