import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EngineClient } from '#lib/engine/engine.ts'
import { chatAnswerIn } from '#lib/sglang/reply/chat.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { END } from '#testing/scripted-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { send, sessionServices } from './test-session-server.ts'

let services: Services
let bodies: Record<string, unknown>[]
/** Prompts that the server reports, and its reply. */
let answers: { readonly prompt: string; readonly reply: string; readonly status?: number }[]

const forward: EngineClient['forward'] = async ({ body }) => {
  bodies.push(JSON.parse(String(body)))
  const { prompt, reply, status = 200 } = answers.shift() ?? expect.fail('no further answer')
  const replyIds = [...byteTokenizer.encode(reply), END]
  const answer =
    status === 200
      ? {
          id: 'c',
          choices: [
            {
              index: 0,
              message: { role: 'assistant', content: reply },
              finish_reason: 'stop',
              matched_stop: END,
              prompt_token_ids: byteTokenizer.encode(prompt),
              response_token_ids: replyIds,
              logprobs: { content: replyIds.map(() => ({ logprob: -0.25 })) },
            },
          ],
          usage: { prompt_tokens: byteTokenizer.encode(prompt).length, completion_tokens: replyIds.length },
        }
      : { error: { message: 'the model is asleep' } }
  const chunks = (async function* () {
    yield Buffer.from(JSON.stringify(answer))
  })()
  return { status, contentType: 'application/json', retryAfter: status === 429 ? '7' : undefined, chunks }
}

beforeEach(() => {
  bodies = []
  answers = []
  services = sessionServices(folderOfTest(), {
    template: () => chatml,
    describe: async () => ({ kind: 'server', modelName: 'bytes', contextLength: 4096 }),
    forward,
    readChat: (value, vocabularySize) => chatAnswerIn(value, vocabularySize, undefined),
  })
})
afterEach(() => services.store.close())

const observed = async (): Promise<string> =>
  ((await (await send('POST', '/sessions', { mode: 'observe' })).json()) as { session_id: string }).session_id
const user = (content: string) => ({ role: 'user', content })
const turn = (role: string, content: string) => `<|im_start|>${role}\n${content}<|im_end|>\n`
const PROMPT = '<|im_start|>assistant\n'

interface Row {
  readonly status: number
  readonly drift: number | null
  readonly attached: { readonly kind: string }
  readonly nodes: readonly { readonly trajectory: string }[]
}
const calls = async (id: string): Promise<readonly Row[]> =>
  ((await (await send('GET', `/api/sessions/${id}`)).json()) as { calls: readonly Row[] }).calls

test('A call in the mode observe reaches the server unchanged, and what it read and wrote is recorded', async () => {
  const first = turn('user', 'a') + PROMPT
  answers = [
    { prompt: first, reply: 'one' },
    { prompt: `${first}one<|im_end|>\n${turn('user', 'b')}${PROMPT}`, reply: 'two' },
  ]
  const id = await observed()
  const body = { model: 'm', messages: [user('a')], temperature: 0.5 }
  const reply = (await (await send('POST', `/sessions/${id}/v1/chat/completions`, body)).json()) as {
    choices: [{ message: object; logprobs: unknown }]
  }
  expect(bodies[0]).toEqual({ ...body, stream: false, logprobs: true, return_token_ids: true })
  // The client gets the server's answer without what it has not requested.
  expect(reply.choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: 'one' },
      finish_reason: 'stop',
      matched_stop: END,
      logprobs: null,
    },
  ])
  await send('POST', `/sessions/${id}/v1/chat/completions`, {
    model: 'm',
    messages: [user('a'), reply.choices[0].message, user('b')],
  })
  const rows = await calls(id)
  expect(rows.map(({ attached, drift }) => [attached.kind, drift])).toEqual([
    ['new-root', null],
    ['continued', null],
  ])
  const stored = services.store.get(rows[1]?.nodes[0]?.trajectory ?? '')
  expect(stored && ids(stored)).toEqual(
    byteTokenizer.encode(`${first}one<|im_end|>\n${turn('user', 'b')}${PROMPT}two<|im_end|>`),
  )
  expect(stored?.segments.at(-1)).toMatchObject({ logprobs: [-0.25, -0.25, -0.25, -0.25] })
})

test('A prompt that the server read differently than it was recorded is live drift, at its first token', async () => {
  const first = turn('user', 'a') + PROMPT
  answers = [
    { prompt: first, reply: 'one' },
    { prompt: `${first}One<|im_end|>\n${turn('user', 'b')}${PROMPT}`, reply: 'two' },
  ]
  const id = await observed()
  await send('POST', `/sessions/${id}/v1/chat/completions`, { model: 'm', messages: [user('a')] })
  const history = [user('a'), { role: 'assistant', content: 'one' }, user('b')]
  await send('POST', `/sessions/${id}/v1/chat/completions`, { model: 'm', messages: history })
  expect((await calls(id)).map(({ drift }) => drift)).toEqual([null, byteTokenizer.encode(first).length])
})

test('A client that requests a stream gets one, made of the whole reply', async () => {
  answers = [{ prompt: turn('user', 'a') + PROMPT, reply: 'one' }]
  const id = await observed()
  const body = { model: 'm', messages: [user('a')], stream: true, stream_options: { include_usage: true } }
  const text = await (await send('POST', `/sessions/${id}/v1/chat/completions`, body)).text()
  expect(text).toContain('"content":"one"')
  expect(text.trim()).toMatch(/\[DONE\]$/)
  expect(bodies[0]).not.toHaveProperty('stream_options')
})

test('An error of the server is passed on to the client, and the call stays visible', async () => {
  answers = [{ prompt: '', reply: '', status: 429 }]
  const id = await observed()
  const response = await send('POST', `/sessions/${id}/v1/chat/completions`, { model: 'm', messages: [user('a')] })
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
  expect(await response.text()).toContain('the model is asleep')
  expect((await calls(id)).map(({ status }) => status)).toEqual([429])
})

test('A protocol whose servers return no ids is refused in the mode observe', async () => {
  const id = await observed()
  const body = { model: 'm', max_tokens: 4, messages: [user('a')] }
  const response = await send('POST', `/sessions/${id}/v1/messages`, body)
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('Use the mode tito')
})
