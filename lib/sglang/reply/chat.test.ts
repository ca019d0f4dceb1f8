import { afterEach, describe, expect, test } from 'vitest'
import type { ChatRequest, EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { type Recording, recording, recordingNames, replay, scripted } from '#testing/sglang/recordings.ts'
import { createClient } from '../client/client.ts'

const PATH = '/v1/chat/completions'
const signal = new AbortController().signal
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const request: ChatRequest = {
  model: 'tiny-qwen3',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ name: 'f', inputSchema: { type: 'object' } }],
  sampling: { temperature: 0, max_completion_tokens: 8 },
  templateOptions: { enable_thinking: false },
  rid: 'r'.repeat(32),
  vocabularySize: 1024,
}

async function clientFor(recordings: Readonly<Record<string, Recording>>) {
  const server = await replay(recordings)
  const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined, retry: { firstMs: 1 } })
  open.push(client, server)
  return { server, client }
}

type Reply = Record<string, unknown> & { choices: Record<string, unknown>[] }
/** Returns a recorded reply with changes. */
const changed = (change: (reply: Reply) => void): Recording => {
  const recorded = recording('chat-thinking')
  const response = structuredClone(recorded.response) as Reply
  change(response)
  return { ...recorded, response }
}
const codeOf = async (client: EngineClient): Promise<string> =>
  client.chat(request, signal).then(
    () => 'answered',
    (error) => (error instanceof EngineError ? error.code : String(error)),
  )

/** Recordings of requests like this client's: one whole reply with its ids. */
const answers = recordingNames.filter((name) => {
  const { request: asked, status } = recording(name)
  if (!name.startsWith('chat-') || status !== 200 || typeof asked.body !== 'object') return false
  return asked.body?.return_token_ids === true && asked.body.n === undefined
})

test.each(answers)('the recorded chat answer %s is read', async (name) => {
  const { client } = await clientFor({ [PATH]: recording(name) })
  const { choices, usage } = recording(name).response as unknown as {
    choices: { prompt_token_ids: number[]; response_token_ids: number[]; message: object; finish_reason: string }[]
    usage: { prompt_tokens: number; completion_tokens: number }
  }
  const answer = await client.chat(request, signal)
  expect(answer.promptIds).toEqual(choices[0]?.prompt_token_ids)
  expect(answer.tokens.ids).toEqual(choices[0]?.response_token_ids)
  expect(answer.message).toEqual(choices[0]?.message)
  expect(answer.end).toMatchObject({
    finish: { kind: choices[0]?.finish_reason === 'length' ? 'length' : 'stop' },
    usage: { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens },
    weightVersions: [{ version: 'default', start: 0, end: usage.completion_tokens }],
  })
  expect(answer.tokens.logprobs).toHaveLength(answer.tokens.ids.length)
})

test('the chat request has the form of an OpenAI client’s and requests ids and logprobs', async () => {
  const { server, client } = await clientFor({ [PATH]: recording('chat-thinking') })
  const { tokens, problems } = await client.chat(request, signal)
  expect(server.requests.map(({ body }) => body)).toEqual([
    {
      model: 'tiny-qwen3',
      messages: request.messages,
      tools: [{ type: 'function', function: { name: 'f', description: 'f', parameters: { type: 'object' } } }],
      temperature: 0,
      max_completion_tokens: 8,
      chat_template_kwargs: { enable_thinking: false },
      stream: false,
      logprobs: true,
      return_token_ids: true,
      rid: request.rid,
    },
  ])
  expect(tokens.logprobs?.every((logprob) => logprob !== null && logprob <= 0)).toBe(true)
  expect(problems).toEqual([])
})

describe('a chat answer that cannot be recorded is refused:', () => {
  test.each<[string, (reply: Reply) => void, string]>([
    ['no ids of the prompt', ({ choices }) => delete choices[0]?.prompt_token_ids, 'CHAT_UNSUPPORTED'],
    ['no ids of the reply', ({ choices }) => delete choices[0]?.response_token_ids, 'CHAT_UNSUPPORTED'],
    ['no choice', (reply) => reply.choices.splice(0), 'BAD_SHAPE'],
    ['another count', (reply) => Object.assign(reply, { usage: { prompt_tokens: 7 } }), 'INCONSISTENT'],
    ['fewer tokens than it says', (reply) => Object.assign(reply, { usage: { completion_tokens: 7 } }), 'INCONSISTENT'],
    [
      'logprobs of other tokens',
      ({ choices }) => Object.assign(choices[0] as object, { logprobs: { content: [] } }),
      'INCONSISTENT',
    ],
    [
      'a prompt of another tokenizer',
      ({ choices }) => Object.assign(choices[0] as object, { prompt_token_ids: [2000] }),
      'TOKENIZER_MISMATCH',
    ],
    [
      'a reply of another tokenizer',
      ({ choices }) => Object.assign(choices[0] as object, { response_token_ids: Array(43).fill(2000) }),
      'TOKENIZER_MISMATCH',
    ],
  ])('%s', async (_what, change, code) => {
    const { client } = await clientFor({ [PATH]: changed(change) })
    expect(await codeOf(client)).toBe(code)
  })

  test('a server without the endpoint', async () => {
    const { client } = await clientFor({})
    expect(await codeOf(client)).toBe('CHAT_UNSUPPORTED')
  })

  test.each(['chat-err-sum', 'chat-err-image'])('%s, with the server’s message', async (name) => {
    const { client } = await clientFor({ [PATH]: recording(name) })
    expect(await codeOf(client)).toBe(name === 'chat-err-sum' ? 'CONTEXT_LENGTH' : 'UPSTREAM_REJECTED')
  })
})

test('a chat answer without logprobs is kept, and the lack is reported once', async () => {
  const { client } = await clientFor({
    [PATH]: changed(({ choices }) => Object.assign(choices[0] as object, { logprobs: null })),
  })
  const { tokens, problems } = await client.chat(request, signal)
  expect(new Set(tokens.logprobs)).toEqual(new Set([null]))
  expect(problems).toMatchObject([{ kind: 'missing' }])
})

test('a chat call is retried under another id if the server is busy, and not after it was cancelled', async () => {
  const rids: unknown[] = []
  const server = await scripted(async (incoming, response) => {
    let body = ''
    for await (const part of incoming) body += part
    rids.push(JSON.parse(body).rid)
    const isFirst = rids.length === 1
    response.writeHead(isFirst ? 503 : 200, { 'content-type': 'application/json' })
    response.end(isFirst ? '{"message":"full"}' : JSON.stringify(recording('chat-thinking').response))
  })
  const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined, retry: { firstMs: 1 } })
  open.push(client, server)
  expect((await client.chat(request, signal)).rid).toBe(`${request.rid}-2`)
  expect(rids).toEqual([request.rid, `${request.rid}-2`])
  const reason = new Error('enough')
  await expect(client.chat(request, AbortSignal.abort(reason))).rejects.toBe(reason)
})
