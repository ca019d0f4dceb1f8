import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { StoreError } from '#lib/store/store-error.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer, byteTokenizerWith } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { type Script, says, stop, call as toolCall } from '#testing/scripted-rollout.ts'
import { testServices } from '#testing/services.ts'
import { chatml, visionTemplate } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { shareServices } from '../shared.ts'
import { createSessions } from './sessions.ts'
import { SESSION_TOKEN, send, sessionServices } from './test-session-server.ts'

let folder: string
let services: Services
let requests: GenerateRequest[]
let scripts: Script[]
let template: string
let adapters: string[]
let described: Promise<void>

const generate: EngineClient['generate'] = (request, signal) => {
  requests.push(request)
  const script = scripts.shift() ?? 'ok'
  return typeof script === 'string' ? says(script) : script(request, signal)
}

function start(tokenizer = byteTokenizer): void {
  services = sessionServices(folder, {
    tokenizer,
    template: () => template,
    async describe(_, signal) {
      await described
      signal.throwIfAborted()
      return { kind: 'server', modelName: 'bytes', contextLength: 4096, incrementalStreaming: true, adapters }
    },
    generate,
  })
}

beforeEach(() => {
  folder = folderOfTest()
  requests = []
  scripts = []
  template = chatml
  adapters = []
  described = Promise.resolve()
  start()
})
afterEach(() => services.store.close())

async function created(body: object = {}): Promise<string> {
  const { session_id: id } = (await (await send('POST', '/sessions', body)).json()) as { session_id: string }
  return id
}

const user = (content: string) => ({ role: 'user', content })
interface ChatReply {
  readonly choices: readonly {
    readonly message: { readonly role: string; readonly content: string | null }
    readonly finish_reason: string
  }[]
}
async function chat(id: string, messages: readonly object[], more: object = {}): Promise<ChatReply> {
  const response = await send('POST', `/sessions/${id}/v1/chat/completions`, { model: 'm', messages, ...more })
  expect(response.status, await response.clone().text()).toBe(200)
  return response.json() as Promise<ChatReply>
}
const messageOf = ({ choices: [choice] }: ChatReply) => choice?.message ?? expect.fail('no choice')

interface Row {
  readonly status: number
  readonly error: string | null
  readonly attached: { readonly kind: string } | null
  readonly nodes: readonly { readonly trajectory: string; readonly status: string; readonly parent: number | null }[]
}
const calls = async (id: string): Promise<readonly Row[]> =>
  ((await (await send('GET', `/api/sessions/${id}`)).json()) as { calls: readonly Row[] }).calls

/** Returns the samples of a session. */
async function exported(id: string, query = ''): Promise<readonly Trajectory[]> {
  const text = await (await send('GET', `/sessions/${id}/trajectories?${query}`)).text()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Trajectory)
}
/** Returns the number of trained tokens of each reply. */
const trained = (trajectory: Trajectory) =>
  trajectory.segments.flatMap(({ kind, ids, mask }) =>
    kind === 'response' ? [mask?.filter((bit) => bit === 1).length ?? ids.length] : [],
  )
const textOf = (tokens: readonly number[]) => Buffer.concat(tokens.map((id) => byteTokenizer.bytes(id))).toString()
/** Returns the key of the trajectory of each call. */
const keysOf = async (id: string): Promise<readonly string[]> =>
  (await calls(id)).map(({ nodes: [node] }) => node?.trajectory ?? '')

describe('The LoRA adapter of a call', () => {
  const used = () => requests.map(({ adapter }) => adapter)
  const recorded = async (id: string) =>
    (await exported(id)).flatMap(({ segments }) =>
      segments.flatMap((segment) => (segment.kind === 'response' ? [segment.request?.adapter] : [])),
    )

  test.each([
    ['m', undefined],
    ['math', 'math'],
    ['Qwen/Qwen3-8B:math', 'math'],
    ['math:m', undefined],
  ])('is that of the model %s if the session has none: %s', async (model, adapter) => {
    adapters = ['other', 'math']
    const id = await created()
    await chat(id, [user('a')], { model })
    expect([used(), await recorded(id)]).toEqual([[adapter], [adapter]])
  })

  test('is that of its session, whatever its model is', async () => {
    adapters = ['other', 'math']
    const id = await created({ adapter: 'math' })
    await chat(id, [user('a')], { model: 'm:other' })
    expect([used(), await recorded(id)]).toEqual([['math'], ['math']])
  })

  test('is refused while the server lacks it, and used when the server has loaded it', async () => {
    const id = await created({ adapter: 'math' })
    const call = () => send('POST', `/sessions/${id}/v1/chat/completions`, { model: 'm', messages: [user('a')] })
    const refused = await call()
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('no LoRA adapter “math”')])
    adapters = ['math']
    expect((await call()).status).toBe(200)
    expect(used()).toEqual(['math'])
  })

  test('is refused for a session in the mode observe, whose calls go on unchanged', async () => {
    const refused = await send('POST', '/sessions', { adapter: 'math', mode: 'observe' })
    expect([refused.status, await refused.json()]).toEqual([422, expect.objectContaining({ field: 'adapter' })])
  })

  test('is recorded from a call to /generate', async () => {
    generatingServer(Promise.resolve())
    const id = await created()
    await send('POST', `/sessions/${id}/generate`, { input_ids: [104, 105], lora_path: 'math' })
    expect(await recorded(id)).toEqual(['math'])
  })
})

describe('A session in the mode tito', () => {
  test('sends the ids that it has, and renders only the messages that are new', async () => {
    scripts = ['one', 'two']
    const id = await created()
    const first = [user('a')]
    const reply = messageOf(await chat(id, first))
    expect(reply.content).toBe('one')
    expect(messageOf(await chat(id, [...first, reply, user('b')])).content).toBe('two')
    const [one, two] = requests.map(({ inputIds }) => inputIds)
    const sampled = byteTokenizer.encode('one<|im_end|>')
    expect(two?.slice(0, (one?.length ?? 0) + sampled.length)).toEqual([...(one ?? []), ...sampled])
    const rows = await calls(id)
    expect(rows.map(({ attached }) => attached?.kind)).toEqual(['new-root', 'continued'])
    // The second call extends the trajectory of the first.
    const keys = rows.map(({ nodes: [node] }) => node?.trajectory)
    expect(keys[0]).toBe(keys[1])
    const stored = services.store.get(keys[0] ?? '')
    expect(stored && ids(stored)).toEqual([...(two ?? []), ...byteTokenizer.encode('two<|im_end|>')])
    expect(stored?.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
  })

  test('lists the beginning of a reply in whole characters', async () => {
    scripts = [`${'a'.repeat(119)}😀!`]
    const id = await created()
    await chat(id, [user('a')])
    expect(await calls(id)).toMatchObject([{ nodes: [{ text: 'a'.repeat(119) }] }])
  })

  test('stores the result of a tool with its call', async () => {
    scripts = [toolCall('add', { a: 1 }), 'done']
    const id = await created()
    const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]
    const first = await chat(id, [user('a')], { tools })
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'add', arguments: '{"a":1}' } }] },
    })
    const { tool_calls: [called] = [] } = messageOf(first) as { tool_calls?: { id: string }[] }
    const result = { role: 'tool', tool_call_id: called?.id, content: '2' }
    await chat(id, [user('a'), messageOf(first), result], { tools })
    const [row] = await calls(id)
    const stored = services.store.get(row?.nodes[0]?.trajectory ?? '')
    expect(stored?.segments[1]).toMatchObject({ toolCalls: [{ result: { status: 'success', text: '2' } }] })
  })

  test('keeps both replies of a call that is repeated, and forks the second from the first', async () => {
    scripts = ['one', 'other', 'next']
    const id = await created()
    await chat(id, [user('a')])
    const again = messageOf(await chat(id, [user('a')]))
    await chat(id, [user('a'), again, user('b')])
    const rows = await calls(id)
    expect(rows.map(({ attached }) => attached?.kind)).toEqual(['new-root', 'retried', 'continued'])
    const keys = rows.map(({ nodes: [node] }) => node?.trajectory ?? '')
    expect(new Set(keys).size).toBe(2)
    expect(keys[2]).toBe(keys[1])
    expect(services.store.get(keys[1] ?? '')?.forkedFrom).toMatchObject({ trajectory: keys[0], kind: 'sampled_again' })
  })

  test('opens a branch for each of several requested replies', async () => {
    scripts = ['one', 'two']
    const id = await created()
    const reply = await chat(id, [user('a')], { n: 2 })
    expect(reply.choices.map(({ message }) => message.content)).toEqual(['one', 'two'])
    const [row] = await calls(id)
    expect(new Set(row?.nodes.map(({ trajectory }) => trajectory)).size).toBe(2)
  })

  test('is one rollout of its group: its leaves have one number, except the replies of one call', async () => {
    const id = await created({ group: 'g' })
    await chat(id, [user('a')], { n: 2 })
    await chat(id, [user('b')])
    await chat(id, [user('b')])
    await chat(await created({ group: 'g' }), [user('a')])
    const indices = () => services.store.groupRows('g').map(({ group }) => group?.index)
    expect(indices()).toEqual([0, 0, 0, 1, 2])
    services.store.remove((await keysOf(id))[0] ?? '')
    await chat(id, [user('c')])
    expect(indices()).toEqual([0, 0, 0, 1, 2])
  })

  test('counts once in the rewards of its group, however many leaves it has', async () => {
    const [many, one] = [await created({ group: 'g' }), await created({ group: 'g' })]
    for (const text of ['a', 'b', 'c']) await chat(many, [user(text)])
    await chat(one, [user('a')])
    await send('PUT', `/sessions/${many}/reward`, { reward: 1 })
    await send('PUT', `/sessions/${one}/reward`, { reward: 0 })
    expect(services.store.rewardsOfGroup('g')).toEqual([1, 0])
  })

  test('gives each of several requested replies a seed of its own', async () => {
    await chat(await created(), [user('a')], { n: 3, seed: 7 })
    expect(requests.map(({ sampling }) => sampling.sampling_seed)).toEqual([7, 8, 9])
  })

  test('continues in another process on the same data folder', async () => {
    scripts = ['one', 'two']
    const id = await created()
    const reply = messageOf(await chat(id, [user('a')]))
    services.store.close()
    start()
    await chat(id, [user('a'), reply, user('b')])
    const [one, two] = requests.map(({ inputIds }) => inputIds)
    expect(two?.slice(0, one?.length)).toEqual(one)
    expect((await calls(id)).map(({ attached }) => attached?.kind)).toEqual(['new-root', 'continued'])
  })

  test('streams a reply in the protocol of the client', async () => {
    scripts = ['hello world']
    const id = await created()
    const response = await send('POST', `/sessions/${id}/v1/chat/completions`, {
      model: 'm',
      messages: [user('a')],
      stream: true,
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const events = (await response.text())
      .trim()
      .split('\n\n')
      .map((event) => event.replace(/^data: /, ''))
    expect(events.at(-1)).toBe('[DONE]')
    const deltas = events.slice(0, -1).map((event) => JSON.parse(event).choices[0].delta.content ?? '')
    expect(deltas.join('')).toBe('hello world')
    expect(deltas.length).toBeGreaterThan(2)
    expect((await calls(id))[0]).toMatchObject({ status: 200, nodes: [{ status: 'complete' }] })
  })
})

test('The usage of a call counts the prompt as the server read it, which has more tokens than were sent for images', async () => {
  const usage = { promptTokens: 500, cachedTokens: 480, completionTokens: 3 }
  scripts = Array.from({ length: 3 }, () => () => says('ok', { ...stop(3), usage }))
  const id = await created()
  const body = { model: 'm', messages: [user('a')], max_tokens: 9 }
  expect(await (await send('POST', `/sessions/${id}/v1/messages`, body)).json()).toMatchObject({
    usage: { input_tokens: 20, cache_read_input_tokens: 480, output_tokens: 3 },
  })
  expect(await chat(id, [user('b')])).toMatchObject({ usage: { prompt_tokens: 500, total_tokens: 503 } })
  const { session } = (await (await send('GET', `/api/sessions/${id}`)).json()) as { session: object }
  expect(session).toMatchObject({ cachedShare: 0.96 })
})

test('The first event of an Anthropic stream counts the tokens that the server read for images', async () => {
  template = visionTemplate
  const pad = { id: byteTokenizer.vocabularySize, content: '<|image_pad|>', special: true }
  services.store.close()
  start(byteTokenizerWith('vision', [...byteTokenizer.addedTokens, pad], 0))
  scripts = [
    async function* () {
      for await (const chunk of says('ok')) yield { ...chunk, imageTokens: [256] }
    },
  ]
  const id = await created({ tokenizer: 'vision' })
  const source = { type: 'base64', media_type: 'image/png', data: PNG_URL.slice(PNG_URL.indexOf(',') + 1) }
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    max_tokens: 9,
    stream: true,
  }
  const events = await (await send('POST', `/sessions/${id}/v1/messages`, body)).text()
  const [, begun = '{}'] = /^data: (.*message_start.*)$/m.exec(events) ?? []
  const sent = requests[0]?.inputIds.length ?? 0
  expect(JSON.parse(begun)).toMatchObject({ message: { usage: { input_tokens: sent + 255 } } })
})

describe('A call of a session that gets no answer', () => {
  const failing =
    (status: number): Script =>
    () =>
      (async function* (): AsyncGenerator<Chunk> {
        yield Promise.reject<Chunk>(new EngineError('UPSTREAM_ERROR', 'the server is on fire', { status }))
      })()

  test('passes on the status and the message of the server, and stays visible', async () => {
    scripts = [failing(503), 'fine']
    const id = await created()
    const response = await send('POST', `/sessions/${id}/v1/chat/completions`, { model: 'm', messages: [user('a')] })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('on fire') } })
    await chat(id, [user('a')])
    const rows = await calls(id)
    expect(rows.map(({ status, nodes }) => [status, nodes.map((node) => node.status)])).toEqual([
      [503, ['failed']],
      [200, ['complete']],
    ])
    expect(rows[0]?.error).toContain('on fire')
    // Only answered calls are records.
    const records = (await (await send('GET', `/sessions/${id}`)).json()) as { records: unknown[] }
    expect(records.records).toHaveLength(1)
  })

  test.each([
    ['bytes that are no image', 'data:image/png;base64,YWJj', 'Image 1 of the conversation cannot be sent.'],
    ['an image that the chat template leaves out', PNG_URL, 'The prompt has 0 image placeholders, expected 1'],
  ])('has status 400 for %s', async (_, url, message) => {
    template = visionTemplate
    const id = await created()
    const content = [{ type: 'image_url', image_url: { url } }]
    const body = { model: 'm', messages: [{ role: 'user', content }] }
    const refused = await send('POST', `/sessions/${id}/v1/chat/completions`, body)
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error', message: expect.stringContaining(message) } },
    ])
  })

  const tooLong =
    (message: string, context: object): Script =>
    () =>
      (async function* (): AsyncGenerator<Chunk> {
        yield Promise.reject<Chunk>(new EngineError('CONTEXT_LENGTH', message, { status: 413, context }))
      })()

  test('has the code of its protocol if its prompt does not fit into the context, whatever the status of the server is', async () => {
    const id = await created()
    scripts = [tooLong('the input is too long', {}), tooLong('the input is too long', { needed: 5000, holds: 4096 })]
    const body = { model: 'm', messages: [user('a')], max_tokens: 9 }
    const refused = await send('POST', `/sessions/${id}/v1/chat/completions`, body)
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        error: { code: 'context_length_exceeded', message: expect.stringMatching(/^The input is too long\. Shorten/) },
      },
    ])
    const other = await send('POST', `/sessions/${id}/v1/messages`, body)
    expect([other.status, await other.json()]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 5000 tokens > 4096 maximum' } },
    ])
  })

  test('has the token counts of its prompt if it is longer than the context, and those of the reply if it requests a long one', async () => {
    const id = await created()
    const refused = async (length: number, more: object) => {
      const messages = [user('x'.repeat(length))]
      const body = { model: 'm', messages, ...more }
      const chat = await send('POST', `/sessions/${id}/v1/chat/completions`, body)
      const { error } = (await chat.json()) as { error: { code: string; message: string } }
      return [chat.status, error.code, error.message]
    }
    expect(await refused(5000, {})).toEqual([
      400,
      'context_length_exceeded',
      "This model's maximum context length is 4096 tokens. The conversation does not fit into the context of the model: it needs 5020 tokens, and the context has 4096. Shorten it.",
    ])
    expect((await refused(5000, { max_tokens: 10 }))[2]).toContain('it needs 5029 tokens')
    expect(requests).toEqual([])
  })

  test('has the failure of its template and the advice as two sentences', async () => {
    template = `{% if messages[0].content == 'bad' %}{{ raise_exception('only 7 messages') }}{% endif %}${chatml}`
    const response = await send('POST', `/sessions/${await created()}/v1/chat/completions`, {
      model: 'm',
      messages: [user('bad')],
    })
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching(/^The chat template cannot render this: only 7 messages\. Change the/) },
    })
  })

  test('ends a stream with an error event if the server fails after the first token, and keeps the tokens', async () => {
    scripts = [
      async function* () {
        yield { tokens: { ids: [...byteTokenizer.encode('half')], logprobs: [-1, -1, -1, -1] }, problems: [] }
        throw new EngineError('UPSTREAM_TRUNCATED', 'the connection broke')
      },
    ]
    const id = await created()
    const body = { model: 'm', messages: [user('a')], stream: true }
    const text = await (await send('POST', `/sessions/${id}/v1/chat/completions`, body)).text()
    expect(text).toContain('"content":"half"')
    expect(text).toContain('The connection broke')
    const [row] = await calls(id)
    expect(row?.nodes).toMatchObject([{ status: 'aborted' }])
    expect(services.store.get(row?.nodes[0]?.trajectory ?? '')?.segments.at(-1)).toMatchObject({
      finish: { kind: 'cut' },
    })
  })

  test('ends the generation when its client leaves, and keeps what was generated', async () => {
    const ended = Promise.withResolvers<void>()
    scripts = [
      async function* (_, signal) {
        yield { tokens: { ids: byteTokenizer.encode('half'), logprobs: [-1, -1, -1, -1] }, problems: [] }
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))).finally(
          () => ended.resolve(),
        )
      },
    ]
    const id = await created()
    const left = new AbortController()
    const response = await send(
      'POST',
      `/sessions/${id}/v1/chat/completions`,
      { model: 'm', messages: [user('a')], stream: true },
      { signal: left.signal },
    )
    await response.body?.cancel()
    await ended.promise
    await expect.poll(async () => (await calls(id)).map(({ status }) => status)).toEqual([499])
    expect((await calls(id))[0]?.nodes).toMatchObject([{ status: 'aborted' }])
  })

  test.each<[string, string, object]>([
    ['chat/completions', 'chat', {}],
    ['messages', 'messages', { max_tokens: 9 }],
    ['responses', 'responses', {}],
  ])(
    'is answered with its status and stays visible if it should be a stream of /v1/%s',
    async (path, protocol, more) => {
      const id = await created()
      const address = `/sessions/${id}/v1/${path}`
      const body = (messages: readonly object[]) => ({
        model: 'm',
        [protocol === 'responses' ? 'input' : 'messages']: messages,
        stream: true,
        ...more,
      })
      const refused = await send('POST', address, body([user('a'), { role: 'assistant', content: 'b' }]))
      expect(refused.status).toBe(400)
      expect((await refused.json()).error.message).toContain('last message')
      scripts = [failing(503)]
      const failed = await send('POST', address, body([user('a')]))
      expect(failed.status).toBe(503)
      expect((await failed.json()).error.message).toContain('on fire')
      expect((await calls(id)).map(({ status }) => status)).toEqual([400, 503])
      expect(services.store.interruptedSessionCalls()).toEqual([])
    },
  )

  test('tells its client when to repeat it, if the server is busy and says so', async () => {
    const busy = new EngineError('UPSTREAM_BUSY', 'the queue is full', { status: 429, retryAfterMs: 6500 })
    const id = await created()
    for (const stream of [false, true]) {
      scripts = [
        async function* () {
          yield await Promise.reject<Chunk>(busy)
        },
      ]
      const body = { model: 'm', messages: [user(`${stream}`)], stream }
      const response = await send('POST', `/sessions/${id}/v1/chat/completions`, body)
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
    }
  })

  test('has status 502 if the server answered with a status that is no error', async () => {
    scripts = [failing(200), failing(302)]
    const id = await created()
    for (const content of ['a', 'b']) {
      const response = await send('POST', `/sessions/${id}/v1/chat/completions`, {
        model: 'm',
        messages: [user(content)],
      })
      expect(response.status).toBe(502)
    }
    expect((await calls(id)).map(({ status }) => status)).toEqual([502, 502])
  })

  test.each<[string, unknown, string]>([
    ['an unknown field', { model: 'm', messages: [user('a')], colour: 'red' }, 'colour'],
    ['no messages', { model: 'm', messages: [] }, 'messages'],
    [
      'a reply of the model as its last message',
      { model: 'm', messages: [user('a'), { role: 'assistant', content: 'b' }] },
      'last message',
    ],
    ['a body that is a list', [], 'JSON object'],
  ])('is refused by name for %s', async (_, body, words) => {
    const id = await created()
    const response = await send('POST', `/sessions/${id}/v1/chat/completions`, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(words) } })
    expect((await calls(id)).map(({ status }) => status)).toEqual([400])
    const { request } = (await (await send('GET', `/api/sessions/${id}/calls/1`)).json()) as { request: unknown }
    expect(request).toEqual(Array.isArray(body) ? {} : body)
  })

  test('keeps the whole request of a refused call, also the messages that an earlier call had', async () => {
    const id = await created()
    const reply = messageOf(await chat(id, [user('a')]))
    const body = { model: 'm', messages: [user('a'), reply, user('b')], ebnf: 'root ::= "a"' }
    expect((await send('POST', `/sessions/${id}/v1/chat/completions`, body)).status).toBe(400)
    const request = await send('GET', `/api/sessions/${id}/calls/2`)
    expect(await request.json()).toEqual({ request: body })
    expect((await send('GET', `/api/sessions/${id}/calls/3`)).status).toBe(404)
  })

  test('is refused if its body announces more than the limit', async () => {
    const id = await created()
    const headers = { host: 'localhost', 'x-api-key': SESSION_TOKEN, 'content-length': String(200 * 2 ** 20) }
    const response = await send('POST', `/sessions/${id}/v1/messages`, {}, { headers })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'request_too_large' } })
  })

  test('is answered although its beginning cannot be stored', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const id = await created()
    const fail = vi.spyOn(services.store, 'beginSessionCall').mockImplementation(() => {
      throw new Error('the disk is full')
    })
    await chat(id, [user('a')])
    expect(error).toHaveBeenCalledWith(expect.stringContaining('the beginning of a call'), expect.any(Error))
    fail.mockRestore()
    expect((await calls(id)).map(({ status }) => status)).toEqual([200])
  })

  test('is answered although it cannot be stored', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const id = await created()
    const fail = vi.spyOn(services.store, 'groupCommit').mockRejectedValueOnce(new Error('the disk is full'))
    scripts = ['one', 'two']
    const reply = messageOf(await chat(id, [user('a')]))
    expect(error).toHaveBeenCalledWith(expect.stringContaining('could not be stored'), expect.any(Error))
    fail.mockRestore()
    // The next call stores both.
    await chat(id, [user('a'), reply, user('b')])
    services.store.close()
    start()
    expect((await calls(id)).map(({ attached }) => attached?.kind)).toEqual(['new-root', 'continued'])
  })

  test.each<[string, (id: string) => Promise<Response>, number]>([
    ['its records are read', (id) => send('GET', `/sessions/${id}`), 200],
    ['its request is read', (id) => send('GET', `/api/sessions/${id}/calls/1`), 200],
    ['its session gets a reward', (id) => send('PUT', `/sessions/${id}/reward`, { reward: 1 }), 204],
    ['its session is deleted', (id) => send('DELETE', `/sessions/${id}`), 204],
  ])('is stored before %s; until then the request fails', async (_, request, status) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const id = await created()
    const full = new StoreError('DISK_FULL', 'there is no space left', 'Free some space.')
    const fail = vi.spyOn(services.store, 'groupCommit').mockRejectedValue(full)
    await chat(id, [user('a')])
    const refused = await request(id)
    expect([refused.status, await refused.json()]).toEqual([507, expect.objectContaining({ code: 'DISK_FULL' })])
    fail.mockRestore()
    const answer = await request(id)
    expect(answer.status).toBe(status)
    if (status === 200) expect(JSON.stringify(await answer.json())).toContain('"content":"a"')
    const listed = services.store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 9 }).rows
    expect(listed).toHaveLength(1)
  })

  test.each<[string, () => void | Promise<void>]>([
    ['a minute after the store works again', () => void vi.advanceTimersByTime(60_000)],
    ['when the process ends', () => services.sessions.close()],
  ])('is stored %s, although no other call of its session follows', async (_, later) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const id = await created()
    const fail = vi.spyOn(services.store, 'groupCommit').mockRejectedValue(new Error('the disk is full'))
    await chat(id, [user('a')])
    // A session is not forgotten before its calls are stored.
    await vi.advanceTimersByTimeAsync(12 * 60_000)
    fail.mockRestore()
    await later()
    await new Promise((resolve) => setTimeout(resolve, 50))
    const store = openTrajectoryStore(folder, { now: () => new Date() })
    expect(store.sessionCalls(id, 0)).toHaveLength(1)
    expect(store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 9 }).rows).toHaveLength(1)
    store.close()
  })
})

describe('Calls of a session at once', () => {
  test('that continue the same reply both get a reply, and the second begins a trajectory of its own', async () => {
    const id = await created()
    scripts = ['one']
    const reply = messageOf(await chat(id, [user('a')]))
    const gate = Promise.withResolvers<void>()
    const slow = (text: string): Script =>
      async function* () {
        await gate.promise
        yield* says(text)
      }
    scripts = [slow('left'), slow('right')]
    const both = [chat(id, [user('a'), reply, user('x')]), chat(id, [user('a'), reply, user('y')])]
    // Both have been sent before either is answered: no lock is held meanwhile.
    await expect.poll(() => requests.length).toBe(3)
    gate.resolve()
    await Promise.all(both)
    const keys = (await calls(id)).map(({ nodes: [node] }) => node?.trajectory ?? '')
    expect(new Set(keys).size).toBe(2)
    expect(keys[1]).toBe(keys[0])
    expect(services.store.get(keys[2] ?? '')?.forkedFrom).toMatchObject({ trajectory: keys[0] })
  })

  test('that send the same prompt are samples of it: the first to end is the root, and the others fork from it', async () => {
    const id = await created()
    const gates = Array.from({ length: 8 }, () => Promise.withResolvers<void>())
    scripts = gates.map(
      ({ promise }, index): Script =>
        async function* () {
          await promise
          yield* says(`${index}`)
        },
    )
    const all = gates.map(() => chat(id, [user('a')]))
    await expect.poll(() => requests.length).toBe(8)
    for (const [index, { resolve }] of gates.entries().toArray().reverse()) {
      resolve()
      await all[index]
    }
    const rows = await calls(id)
    const other = { kind: 'retried', of: 0, isConcurrent: true }
    expect(rows.map(({ attached }) => attached)).toEqual([
      { kind: 'new-root', because: 'first-call' },
      ...Array.from({ length: 7 }, () => other),
    ])
    const [root = '', ...forks] = await keysOf(id)
    expect(new Set(forks).size).toBe(7)
    for (const fork of forks)
      expect(services.store.get(fork)?.forkedFrom).toMatchObject({ trajectory: root, kind: 'sampled_again' })
    expect(await exported(id, 'leaves=without-retries')).toHaveLength(8)
  })

  test('one of which deletes the session: the deletion waits for the other', async () => {
    const id = await created()
    const gate = Promise.withResolvers<void>()
    scripts = [
      async function* () {
        await gate.promise
        yield* says('late')
      },
    ]
    const answering = chat(id, [user('a')])
    await expect.poll(() => requests.length).toBe(1)
    let isDeleted = false
    const deleting = send('DELETE', `/sessions/${id}`).then((response) => {
      isDeleted = true
      return response.status
    })
    await expect.poll(async () => (await send('GET', `/sessions/${id}`)).status).toBe(404)
    expect(isDeleted).toBe(false)
    gate.resolve()
    expect(messageOf(await answering).content).toBe('late')
    expect(await deleting).toBe(204)
    // What was sampled is in the library.
    const { rows } = services.store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 50 })
    expect(rows).toHaveLength(1)
  })
})

test('GET /sessions/{id} has the ids and logprobs of each call in the form of miles', async () => {
  scripts = ['one', 'two']
  const id = await created()
  const reply = messageOf(await chat(id, [user('a')]))
  await chat(id, [user('a'), reply, user('b')])
  const { session_id, records, metadata } = (await (await send('GET', `/sessions/${id}`)).json()) as {
    session_id: string
    records: readonly {
      readonly request: { readonly messages: readonly object[]; readonly input_ids: readonly number[] }
      readonly response: {
        readonly choices: readonly { readonly meta_info: { readonly output_token_logprobs: readonly unknown[] } }[]
      }
    }[]
    metadata: { readonly accumulated_token_ids: readonly number[] }
  }
  expect(session_id).toBe(id)
  expect(records.map(({ request }) => request.input_ids)).toEqual(requests.map(({ inputIds }) => [...inputIds]))
  expect(records.map(({ request }) => request.messages.length)).toEqual([1, 3])
  const rows = records.map(({ response }) => response.choices[0]?.meta_info.output_token_logprobs)
  expect(rows[1]?.slice(0, 2)).toEqual([
    [-0.5, 116, 't'],
    [-0.5, 119, 'w'],
  ])
  expect(metadata.accumulated_token_ids).toEqual([
    ...(requests[1]?.inputIds ?? []),
    ...byteTokenizer.encode('two<|im_end|>'),
  ])
})

test('GET /sessions/{id} sends each record by itself, because those of a long session do not fit into one text', async () => {
  const id = await created()
  await chat(id, [user('a')])
  await chat(id, [user('b')])
  const { body } = await send('GET', `/sessions/${id}`)
  const parts = await Array.fromAsync(body ?? [], (part) => Buffer.from(part).toString())
  expect(parts.filter((part) => part.includes('input_ids'))).toHaveLength(2)
  expect(JSON.parse(parts.join(''))).toMatchObject({
    session_id: id,
    records: [{ status_code: 200 }, { status_code: 200 }],
  })
})

test('A reward belongs to a session or to a leaf', async () => {
  const id = await created({ tags: ['swe'], group: 'g' })
  await chat(id, [user('a')])
  await chat(id, [user('b')])
  const [one = '', other = ''] = (await calls(id)).map(({ nodes: [node] }) => node?.trajectory ?? '')
  expect((await send('PUT', `/sessions/${id}/reward`, { reward: 1 })).status).toBe(204)
  expect((await send('PUT', `/sessions/${id}/reward`, { reward: 0, leaf: other })).status).toBe(204)
  expect([services.store.get(one), services.store.get(other)]).toMatchObject([
    { reward: 1, tags: ['swe'], group: { id: 'g', index: 0 } },
    { reward: 0, tags: ['swe'], group: { id: 'g', index: 0 } },
  ])
  expect((await send('PUT', `/sessions/${id}/reward`, { reward: 0, leaf: 'none' })).status).toBe(404)
  const { sessions } = (await (await send('GET', '/api/sessions')).json()) as { sessions: readonly object[] }
  expect(sessions).toMatchObject([{ id, calls: 2, leaves: 2, reward: 1, state: 'live' }])
})

test('POST /sessions continues a session with the same settings, and refuses other ones by name', async () => {
  await created({ session_id: 'mine', tags: ['swe'], group: 'g' })
  await chat('mine', [user('a')])
  const again = (body: object) => send('POST', '/sessions', { session_id: 'mine', ...body })
  for (const body of [{}, { tags: ['swe'] }, { group: 'g', tags: ['swe'] }])
    expect((await again(body)).status, JSON.stringify(body)).toBe(200)
  for (const [body, words] of [
    [{ tags: ['swe', 'new'] }, 'the session mine exists and has tags ["swe"]'],
    [{ mode: 'observe' }, 'the session mine exists and has no mode'],
  ] as const) {
    const refused = await again(body)
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      {
        code: 'SESSION_EXISTS',
        detail: words,
        field: Object.keys(body)[0],
        hint: expect.stringContaining('Leave out'),
      },
    ])
  }
  // A call to /sessions/auto that names the session continues it.
  const headers = { host: 'localhost', authorization: `Bearer ${SESSION_TOKEN}`, 'x-session-id': 'mine' }
  const body = { model: 'm', messages: [user('b')] }
  expect((await send('POST', '/sessions/auto/v1/chat/completions', body, { headers })).status).toBe(200)
  expect(await calls('mine')).toHaveLength(2)
})

test('GET /api/sessions/{id} returns only the calls after the revision that the client knows', async () => {
  const read = async (id: string, known = '') =>
    (await (await send('GET', `/api/sessions/${id}${known && `?known=${known}`}`)).json()) as {
      readonly session: { readonly calls: number }
      readonly calls: readonly { readonly sequence: number }[]
      readonly after?: number
      readonly revision?: string
    }
  await created({ session_id: 'mine' })
  const empty = await read('mine')
  expect([empty.calls, empty.revision]).toEqual([[], undefined])
  await chat('mine', [user('a')])
  const { revision = '', after } = await read('mine')
  expect([after, await read('mine', revision)]).toEqual([
    undefined,
    expect.objectContaining({ calls: [], after: 1, revision, session: expect.objectContaining({ calls: 1 }) }),
  ])
  await chat('mine', [user('b')])
  const later = await read('mine', revision)
  expect([later.after, later.calls.map(({ sequence }) => sequence), later.session.calls]).toEqual([1, [2], 2])
  expect((await read('mine', 'other')).calls).toHaveLength(2)
  // Another session with the id has other calls.
  await send('DELETE', '/sessions/mine')
  await new Promise((resolve) => setTimeout(resolve, 2))
  await created({ session_id: 'mine' })
  await chat('mine', [user('c')])
  expect(await read('mine', revision)).toMatchObject({ calls: [{ sequence: 1 }] })
  expect(await read('mine', revision)).not.toHaveProperty('after')
})

describe('The reward of a session', () => {
  const reward = (id: string, body: object) => send('PUT', `/sessions/${id}/reward`, body)
  const rewards = async (id: string) => (await exported(id)).map((sample) => sample.reward)

  test('is in the export at once, of leaves that began before and after it', async () => {
    const id = await created()
    await chat(id, [user('a')])
    expect(await rewards(id)).toEqual([undefined])
    await reward(id, { reward: 1 })
    await chat(id, [user('b')])
    expect(await rewards(id)).toEqual([1, 1])
    await reward(id, { reward: 0.5 })
    expect(await rewards(id)).toEqual([0.5, 0.5])
    await reward(id, { reward: null })
    expect(await rewards(id)).toEqual([undefined, undefined])
  })

  test('leaves the rewards that leaves have of their own, whether the client or the library set them', async () => {
    const id = await created()
    for (const text of ['a', 'b', 'c']) await chat(id, [user(text)])
    const [first = '', second = ''] = await keysOf(id)
    await reward(id, { reward: 0.25, leaf: first })
    services.store.label(second, { reward: 0.5 })
    await reward(id, { reward: 1 })
    expect(await rewards(id)).toEqual([0.25, 0.5, 1])
    // A leaf that loses its own reward has that of the session.
    await reward(id, { reward: null, leaf: first })
    services.store.label(second, { reward: null })
    expect(await rewards(id)).toEqual([1, 1, 1])
    expect(services.store.row(first)).toMatchObject({ reward: 1, rewardWhy: `reward of the session ${id}` })
  })

  test('is refused for a leaf that was deleted from the library, with what to do', async () => {
    const id = await created()
    await chat(id, [user('a')])
    const [leaf = ''] = await keysOf(id)
    services.store.remove(leaf)
    const refused = await reward(id, { reward: 1, leaf })
    expect([refused.status, await refused.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'LEAF_DELETED', hint: expect.stringContaining('restore') }),
    ])
    services.store.restore(leaf)
    expect((await reward(id, { reward: 1, leaf })).status).toBe(204)
    expect(await rewards(id)).toEqual([1])
  })
})

describe('A trajectory of a session that is deleted from the library', () => {
  test('is in no export, and a call that continues it begins a new trajectory', async () => {
    scripts = ['one', 'two', 'three']
    const id = await created()
    const reply = messageOf(await chat(id, [user('a')]))
    const [deleted = ''] = await keysOf(id)
    services.store.remove(deleted)
    expect((await send('GET', `/sessions/${id}/trajectories`)).status).toBe(422)
    expect(await (await send('GET', `/sessions/${id}`)).json()).toMatchObject({
      records: [],
      metadata: { accumulated_token_ids: [] },
    })
    const next = messageOf(await chat(id, [user('a'), reply, user('b')]))
    const rows = await calls(id)
    expect(rows[1]?.attached).toEqual({ kind: 'new-root', because: 'deleted', instead: 0 })
    expect(rows[1]?.nodes[0]).toMatchObject({ parent: null })
    const [sample, ...others] = await exported(id)
    expect([sample?.id, others]).toEqual([rows[1]?.nodes[0]?.trajectory, []])
    // The deleted reply was rendered, so it is a part of the prompt.
    expect(sample && trained(sample)).toEqual([4])
    await chat(id, [user('a'), reply, user('b'), next, user('c')])
    expect((await calls(id))[2]?.attached).toEqual({ kind: 'continued' })
    expect(services.store.isDeleted(deleted)).toBe(true)
  })

  test('does not replace its siblings: they train shared tokens, and none of them counts as its retry', async () => {
    scripts = ['one', 'left', 'right', 'again']
    const id = await created()
    const reply = messageOf(await chat(id, [user('a')]))
    await chat(id, [user('a'), reply, user('x')])
    await chat(id, [user('a'), reply, user('y')])
    await chat(id, [user('a'), reply, user('y')])
    const [, left = '', right = '', again = ''] = await keysOf(id)
    services.store.remove(left)
    services.store.remove(again)
    const samples = await exported(id, 'leaves=without-retries')
    expect(samples.map((sample) => [sample.id, trained(sample)])).toEqual([[right, [4, 6]]])
    // The nodes before the fork are those of the branch that is left, so a call can continue them.
    await chat(id, [user('a'), reply, user('z')])
    expect((await calls(id))[4]?.nodes[0]).toMatchObject({ parent: 0 })
    services.store.restore(left)
    expect((await exported(id)).map((sample) => sample.id)).toContain(left)
  })

  test('is not written by a call that was generated meanwhile', async () => {
    scripts = ['one']
    const id = await created()
    const reply = messageOf(await chat(id, [user('a')]))
    const [deleted = ''] = await keysOf(id)
    scripts = [
      () => {
        services.store.remove(deleted)
        return says('two')
      },
    ]
    await chat(id, [user('a'), reply, user('b')])
    const [, key = ''] = await keysOf(id)
    expect(key).not.toBe(deleted)
    expect((await exported(id)).map(trained)).toEqual([[4, 4]])
    services.store.restore(deleted)
    expect(services.store.get(deleted)?.segments).toHaveLength(2)
  })
})

describe('Two instances of the application on the same data folder', () => {
  test('serve one session: each sees the calls of the other, and no reply is lost or trained in a wrong place', async () => {
    const id = await created()
    const one = services
    start()
    const two = services
    /** Runs an action in an instance. */
    const within = <T>(instance: Services, action: () => T): T => {
      shareServices(instance)
      return action()
    }
    scripts = ['one']
    const reply = messageOf(await within(one, () => chat(id, [user('a')])))
    // Both instances continue the same reply at the same time, and each has one more call in flight than the other knows.
    const gate = Promise.withResolvers<void>()
    const slow = (text: string): Script =>
      async function* () {
        await gate.promise
        yield* says(text)
      }
    scripts = [slow('left'), slow('right'), slow('right')]
    const history = [user('a'), reply]
    const all = [
      within(one, () => chat(id, [...history, user('x')])),
      within(two, () => chat(id, [...history, user('y')])),
      within(two, () => chat(id, [...history, user('x')])),
    ]
    await expect.poll(() => requests.length).toBe(4)
    // A call of the other instance is not interrupted while that instance runs.
    for (const instance of [one, two]) expect(await within(instance, () => calls(id))).toHaveLength(1)
    gate.resolve()
    const replies = await Promise.all(all)
    scripts = ['after']
    // The instance that did not answer the call continues it.
    await within(two, () => chat(id, [...history, user('x'), messageOf(replies[0] ?? expect.fail()), user('z')]))
    for (const instance of [one, two]) {
      const rows = await within(instance, () => calls(id))
      expect(rows.map(({ nodes: [node] }) => node?.parent)).toEqual([null, 0, 0, 0, expect.any(Number)])
      expect(rows.map((row) => row.nodes[0]).map((node) => (node as { node?: number } | undefined)?.node)).toEqual([
        0, 1, 2, 3, 4,
      ])
      expect(rows[4]?.attached).toEqual({ kind: 'continued' })
      const samples = await within(instance, () => exported(id))
      const texts = samples.map((sample) => textOf(ids(sample)))
      expect(texts.sort()).toEqual(['x', 'x', 'y'].map((text) => expect.stringContaining(`<|im_start|>user\n${text}`)))
      expect(texts.filter((text) => text.includes('after'))).toHaveLength(1)
      expect(samples.flatMap(trained).reduce((sum, count) => sum + count, 0)).toBe(4 + 5 + 6 + 6 + 6)
    }
    await within(one, () => send('PUT', `/sessions/${id}/reward`, { reward: 1 }))
    expect((await within(two, () => exported(id))).map(({ reward }) => reward)).toEqual([1, 1, 1])
    one.store.close()
  })
})

test('A client that gives every tool call the same id is answered with all results in its prompt, and the repeated id is a rewrite', async () => {
  scripts = [toolCall('add', { a: 1 }), toolCall('add', { a: 2 }), toolCall('add', { a: 3 }), 'done']
  const id = await created()
  const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]
  const history: object[] = [user('a')]
  for (const result of ['first', 'second', 'third']) {
    const { tool_calls: [called] = [], ...message } = messageOf(await chat(id, history, { tools })) as {
      tool_calls?: { readonly id: string }[]
    }
    history.push({ ...message, tool_calls: [{ ...called, id: 'call_0' }] })
    history.push({ role: 'tool', tool_call_id: 'call_0', content: result })
  }
  await chat(id, history, { tools })
  // The ids of one call are numbered anew consistently; those of two calls are not, so the second call is written differently.
  expect((await calls(id)).map(({ attached }) => attached)).toMatchObject([
    { kind: 'new-root' },
    { kind: 'continued' },
    { kind: 'rewritten', from: 4 },
    { kind: 'rewritten', from: 6 },
  ])
  const prompt = textOf(requests.at(-1)?.inputIds ?? [])
  const places = ['first', 'second', 'third'].map((result) => prompt.indexOf(result))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
})

test('Every tool call has an id of its own, also in conversations that do not know each other', async () => {
  const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]
  const twice = toolCall('add', { a: 1 }) + toolCall('add', { a: 2 })
  scripts = [twice, twice, twice]
  const id = await created()
  const idsIn = async (session: string, system: string, more: object = {}) => {
    const body = { model: 'm', messages: [{ role: 'system', content: system }, user('a')], tools, ...more }
    const text = await (await send('POST', `/sessions/${session}/v1/chat/completions`, body)).text()
    return Array.from(text.matchAll(/"id":"([^"-]+)"/g), ([, found]) => found ?? '')
  }
  const found = [
    ...(await idsIn(id, 'one')),
    ...(await idsIn(id, 'another agent', { stream: true })),
    ...(await idsIn('auto', 'in a session of its own')),
  ]
  expect(new Set(found).size).toBe(6)
  // Chat templates of Mistral refuse ids of another length.
  for (const one of found) expect(one).toMatch(/^[0-9a-z]{9}$/)
  const { nodes: [streamed] = [] } = (await calls(id))[1] ?? expect.fail('no second call')
  const stored = services.store.get(streamed?.trajectory ?? '')?.segments.at(-1)
  expect(stored).toMatchObject({ toolCalls: [{ id: found[2] }, { id: found[3] }] })
})

describe('The address /sessions/auto', () => {
  test('opens a session for a new history, and continues the session that has the history', async () => {
    scripts = ['one', 'two', 'three']
    const reply = messageOf(await chat('auto', [user('a')]))
    await chat('auto', [user('other')])
    await chat('auto', [user('a'), reply, user('b')])
    const { sessions } = (await (await send('GET', '/api/sessions')).json()) as {
      sessions: readonly { readonly calls: number; readonly createdAt: string; readonly lastCallAt: string }[]
    }
    expect(sessions.map((session) => session.calls)).toEqual([1, 2])
    // A session that a call opened began with the call.
    for (const { createdAt, lastCallAt } of sessions)
      expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.parse(lastCallAt))
  })

  test('serves a client although another one leaves while both wait for the description of the server', async () => {
    const answered = Promise.withResolvers<void>()
    described = answered.promise
    const leaving = new AbortController()
    const { defaultServing } = services.sessions
    const needs = { tools: [], options: {} }
    const left = defaultServing.find(needs, leaving.signal)
    const other = defaultServing.find(needs, new AbortController().signal)
    leaving.abort(new Error('gone'))
    answered.resolve()
    await expect(left).rejects.toThrow('gone')
    expect((await other).server.modelName).toBe('bytes')
  })

  test('uses the session that the client names in a header', async () => {
    const headers = { host: 'localhost', authorization: `Bearer ${SESSION_TOKEN}`, 'x-session-id': 'mine' }
    for (const content of ['a', 'b'])
      await send('POST', '/sessions/auto/v1/chat/completions', { model: 'm', messages: [user(content)] }, { headers })
    expect(await calls('mine')).toHaveLength(2)
    const refused = { model: 'm', messages: [user('a')], ebnf: 'root ::= "a"' }
    await send('POST', '/sessions/auto/v1/chat/completions', refused, { headers })
    expect((await calls('mine')).map(({ status }) => status)).toEqual([200, 200, 400])
  })

  test('continues the session that was called last of those with the same history, whichever of them the page reads', async () => {
    scripts = ['one', 'one', 'two']
    for (const id of ['first', 'second']) {
      const headers = { host: 'localhost', authorization: `Bearer ${SESSION_TOKEN}`, 'x-session-id': id }
      await send('POST', '/sessions/auto/v1/chat/completions', { model: 'm', messages: [user('a')] }, { headers })
    }
    expect(await calls('first')).toHaveLength(1)
    await chat('auto', [user('a'), { role: 'assistant', content: 'one' }, user('b')])
    expect([await calls('first'), await calls('second')].map(({ length }) => length)).toEqual([1, 2])
  })

  const listed = async () => {
    const { sessions } = (await (await send('GET', '/api/sessions')).json()) as {
      sessions: readonly { readonly id: string; readonly calls: number }[]
    }
    return sessions
  }
  /** Opens a session with one call. Returns its history and a new message. */
  async function openedHistory(): Promise<readonly object[]> {
    scripts = ['one', 'two', 'three']
    return [user('a'), messageOf(await chat('auto', [user('a')])), user('b')]
  }
  /** Sends a history, and checks that it continues the ids of the only session. Returns it with the reply. */
  async function continued(history: readonly object[]): Promise<readonly object[]> {
    const reply = messageOf(await chat('auto', history))
    const [session, ...others] = await listed()
    expect([session?.calls, others]).toEqual([requests.length, []])
    expect((await calls(session?.id ?? '')).map(({ attached }) => attached?.kind)).toEqual([
      'new-root',
      ...requests.slice(1).map(() => 'continued'),
    ])
    const [one = [], two] = requests.map(({ inputIds }) => inputIds)
    const recorded = [...one, ...byteTokenizer.encode('one<|im_end|>')]
    expect(two?.slice(0, recorded.length)).toEqual(recorded)
    return [...history, reply]
  }

  test('continues the session after a restart', async () => {
    const history = await openedHistory()
    services.store.close()
    start()
    await continued(history)
  })

  test('continues a session that has left the memory', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const history = await openedHistory()
    await vi.advanceTimersByTimeAsync(12 * 60_000)
    const read = vi.spyOn(services.store, 'session')
    await continued(history)
    expect(read).toHaveBeenCalledOnce()
  })

  test('continues a session that another instance with the same data folder opened, and the other way round', async () => {
    const history = await openedHistory()
    const first = services
    start()
    const longer = await continued(history)
    const second = services
    services = first
    shareServices(first)
    await continued([...longer, user('c')])
    second.store.close()
  })

  test('repeats a first call that the end of the process interrupted', async () => {
    const pending = Promise.withResolvers<never>()
    scripts = [
      async function* () {
        yield await pending.promise
      },
      'one',
    ]
    void send('POST', '/sessions/auto/v1/chat/completions', { model: 'm', messages: [user('a')] })
    await expect.poll(() => requests.length).toBe(1)
    services.store.close()
    start()
    await chat('auto', [user('a')])
    const [session, ...others] = await listed()
    expect(others).toEqual([])
    expect((await calls(session?.id ?? '')).map(({ status, attached }) => [status, attached?.kind])).toEqual([
      [503, 'new-root'],
      [200, 'retried'],
    ])
  })

  test('repeats a first prompt for ten minutes after the last call, and then opens another session for it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const now = Date.now()
    for (const minutes of [0, 9, 18, 29]) {
      vi.setSystemTime(now + minutes * 60_000)
      await chat('auto', [user('a')])
    }
    expect((await listed()).map((session) => session.calls)).toEqual([1, 3])
  })

  test('opens another session for a first prompt after the clock was set back by an hour, and the earlier one is idle', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const now = Date.now()
    for (const minutes of [0, -60, -58]) {
      vi.setSystemTime(now + minutes * 60_000)
      await chat('auto', [user('a')])
    }
    const rows = (await (await send('GET', '/api/sessions')).json()) as { sessions: readonly object[] }
    expect(rows.sessions).toMatchObject([
      { calls: 2, state: 'live' },
      { calls: 1, state: 'idle' },
    ])
  })

  test('keeps a script that runs again with the same replies in the session of its run', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const now = Date.now()
    for (const minutes of [0, 20]) {
      vi.setSystemTime(now + minutes * 60_000)
      const reply = messageOf(await chat('auto', [user('a')]))
      await chat('auto', [user('a'), reply, user('b')])
    }
    expect((await listed()).map((session) => session.calls)).toEqual([2, 2])
  })

  test.each(['auto', '..', 'a/b', 'x'.repeat(101)])('refuses %j as the id of a session', async (id) => {
    const headers = { host: 'localhost', authorization: `Bearer ${SESSION_TOKEN}`, 'x-session-id': id }
    const body = { model: 'm', messages: [user('a')] }
    expect((await send('POST', '/sessions/auto/v1/chat/completions', body, { headers })).status).toBe(400)
  })
})

test('Sessions without a call for a minute leave the memory, the first one first, while all have too many tokens', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const ofOne = byteTokenizer.encode('<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nok<|im_end|>').length
  services = { ...services, sessions: createSessions(() => services, 2 * ofOne) }
  shareServices(services)
  for (const id of ['first', 'second', 'third']) {
    await created({ session_id: id })
    await chat(id, [user('a')])
    await vi.advanceTimersByTimeAsync(1000)
  }
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  const read = vi.spyOn(services.store, 'session')
  for (const id of ['third', 'second', 'first'])
    await chat(id, [user('a'), { role: 'assistant', content: 'ok' }, user('b')])
  expect(read.mock.calls).toEqual([['first']])
  expect((await calls('first')).map(({ attached }) => attached?.kind)).toEqual(['new-root', 'continued'])
})

test('The list and the page of a session count the leaves that are in the library', async () => {
  const id = await created()
  for (const content of ['a', 'b', 'c']) await chat(id, [user(content)])
  const counted = async () => {
    const { sessions } = (await (await send('GET', '/api/sessions')).json()) as { sessions: readonly Counted[] }
    const { session } = (await (await send('GET', `/api/sessions/${id}`)).json()) as { session: Counted }
    return [sessions[0]?.leaves, session.leaves]
  }
  interface Counted {
    readonly leaves: number
  }
  expect(await counted()).toEqual([3, 3])
  const [key = ''] = await keysOf(id)
  services.store.remove(key)
  expect(await counted()).toEqual([2, 2])
  services.store.close()
  start()
  expect(await counted()).toEqual([2, 2])
  services.store.restore(key)
  expect(await counted()).toEqual([3, 3])
})

test('The list reads the calls of a session that is not in memory only if the session has a new one', async () => {
  const id = await created()
  await chat(id, [user('a')])
  services.store.close()
  start()
  const [facts = ''] = services.store.sessionFacts(id)
  const read = vi.spyOn(services.store, 'sessionFacts')
  const listed = async () =>
    ((await (await send('GET', '/api/sessions')).json()) as { sessions: readonly object[] }).sessions
  const row = { id, calls: 1, leaves: 1, model: 'm', state: 'live' }
  expect([await listed(), await listed()]).toMatchObject([[row], [row]])
  expect(read).toHaveBeenCalledTimes(1)
  // Another process records a call.
  const later = { ...row, calls: 2, leaves: 2 }
  services.store.addSessionCall(id, { facts, content: '{}' })
  expect([await listed(), await listed()]).toMatchObject([[later], [later]])
  expect(read).toHaveBeenCalledTimes(2)
})

test('The key of a client is the launch token, in either header, and a page of another origin is refused', async () => {
  const id = await created()
  const status = async (headers: Record<string, string>) =>
    (
      await send(
        'POST',
        `/sessions/${id}/v1/messages`,
        { model: 'm', max_tokens: 9, messages: [user('a')] },
        { headers: { host: 'localhost', ...headers } },
      )
    ).status
  expect(await status({ 'x-api-key': SESSION_TOKEN })).toBe(200)
  expect(await status({ authorization: `Bearer ${SESSION_TOKEN}` })).toBe(200)
  expect(await status({})).toBe(401)
  expect(await status({ 'x-api-key': 'wrong' })).toBe(401)
  expect(await status({ 'x-api-key': SESSION_TOKEN, origin: 'http://evil.example' })).toBe(403)
  expect(await status({ 'x-api-key': SESSION_TOKEN, 'sec-fetch-site': 'cross-site' })).toBe(403)
  expect(await status({ 'x-api-key': SESSION_TOKEN, host: 'evil.example' })).toBe(403)
})

test('The client of a model API reads why a key, an unknown session or an unknown path is refused', async () => {
  const errorOf = async (method: string, url: string, headers: Record<string, string>) => {
    const answer = await send(method, url, method === 'GET' ? undefined : {}, {
      headers: { host: 'localhost', ...headers },
    })
    const { status, detail, error } = await answer.json()
    expect(answer.status).toBe(status)
    expect(error.message.toLowerCase()).toContain(detail.toLowerCase())
    return [status, error.type, error.code]
  }
  const id = await created()
  const key = { authorization: `Bearer ${SESSION_TOKEN}` }
  const unauthorized = [401, 'invalid_request_error', 'invalid_api_key']
  expect(await errorOf('POST', `/sessions/${id}/v1/chat/completions`, { authorization: 'Bearer wrong' })).toEqual(
    unauthorized,
  )
  expect(await errorOf('GET', '/sessions/unknown/v1/models', key)).toEqual([404, 'not_found_error', null])
  expect(await errorOf('POST', '/sessions/unknown/v1/embeddings', key)).toEqual([404, 'not_found_error', null])
})

test('A history of 2,000 messages is continued by its new messages only', async () => {
  const id = await created()
  const history = Array.from({ length: 1999 }, (_, index) => user(`${index % 7}`))
  services.servers.client('fast')
  scripts = ['one', 'two']
  const long = testServices(folder, {
    template: () => chatml,
    describe: async () => ({ kind: 'server', modelName: 'bytes', contextLength: 1_000_000 }),
    generate,
  })
  services = { ...services, ...long, config: services.config } as Services
  shareServices(services)
  const reply = messageOf(await chat(id, history))
  await chat(id, [...history, reply, user('end')])
  const [one, two] = requests.map(({ inputIds }) => inputIds.length)
  expect((two ?? 0) - (one ?? 0)).toBeLessThan(60)
})

/** Lets the server answer every forwarded call with 418, and returns the calls. */
function teaServer(): readonly object[] {
  const forwarded: object[] = []
  const forward: EngineClient['forward'] = async (call) => {
    forwarded.push(call)
    return {
      status: 418,
      contentType: 'text/plain',
      retryAfter: '9',
      chunks: (async function* () {
        yield Buffer.from('tea')
      })(),
    }
  }
  const client = services.servers.client
  services = { ...services, servers: { ...services.servers, client: (name: string) => ({ ...client(name), forward }) } }
  shareServices(services)
  return forwarded
}

test('Other paths go on to the server with its status, and are not recorded', async () => {
  const forwarded = teaServer()
  const id = await created()
  const response = await send('GET', `/sessions/${id}/get_load?x=1`)
  expect([response.status, await response.text(), response.headers.get('retry-after')]).toEqual([418, 'tea', '9'])
  expect(forwarded).toEqual([{ method: 'GET', path: '/get_load?x=1', routingKey: id }])
  expect(await calls(id)).toEqual([])
  const generated = await send('POST', `/sessions/${id}/generate`, { input_ids: [97] })
  expect([generated.status, await generated.text()]).toEqual([418, 'tea'])
  expect(await calls(id)).toEqual([])
  expect(await (await send('GET', `/sessions/${id}/v1/models`)).json()).toMatchObject({ data: [{ id: 'bytes' }] })
})

/** Lets the server answer a forwarded call when `answered` resolves, with the ids of “ok”. */
function generatingServer(answered: Promise<void>): void {
  const forward: EngineClient['forward'] = async (_, signal) => {
    const left = new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await Promise.race([answered, left])
    const ids = byteTokenizer.encode('ok')
    const meta_info = {
      finish_reason: { type: 'length' },
      completion_tokens: ids.length,
      output_token_logprobs: ids.map((id) => [-0.5, id, null]),
    }
    return {
      status: 200,
      contentType: 'application/json',
      chunks: (async function* () {
        yield Buffer.from(JSON.stringify({ text: 'ok', output_ids: ids, meta_info }))
      })(),
    }
  }
  const client = services.servers.client
  services = { ...services, servers: { ...services.servers, client: (name: string) => ({ ...client(name), forward }) } }
  shareServices(services)
}

test('The deletion of a session waits until a call to /generate is recorded', async () => {
  const facts = Promise.withResolvers<void>()
  described = facts.promise
  generatingServer(Promise.resolve())
  const id = await created()
  const answering = send('POST', `/sessions/${id}/generate`, { input_ids: [97] })
  await expect.poll(() => services.sessions.find(id).running).toBe(1)
  let isDeleted = false
  const deleting = send('DELETE', `/sessions/${id}`).then(() => {
    isDeleted = true
  })
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(isDeleted).toBe(false)
  facts.resolve()
  expect((await answering).status).toBe(200)
  await deleting
  const { rows } = services.store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 9 })
  expect(rows).toHaveLength(1)
})

test('The end of the process ends a call to /generate, whose client may send it again', async () => {
  generatingServer(new Promise(() => {}))
  const id = await created()
  const answering = send('POST', `/sessions/${id}/generate`, { input_ids: [97] })
  await expect.poll(() => services.sessions.find(id).running).toBe(1)
  await services.sessions.close()
  const response = await answering
  expect([response.status, await response.json()]).toEqual([503, expect.objectContaining({ hint: 'Send it again.' })])
})

test.each([[false], [true]])(
  'The end of the process ends a call, keeps its tokens, and its client learns to send it again (stream: %s)',
  async (stream) => {
    let isRead = false
    scripts = [
      async function* (_, signal) {
        yield { tokens: { ids: byteTokenizer.encode('half'), logprobs: [-1, -1, -1, -1] }, problems: [] }
        isRead = true
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    ]
    const id = await created()
    const body = { model: 'm', messages: [user('a')], stream }
    const answering = send('POST', `/sessions/${id}/v1/chat/completions`, body)
    await expect.poll(() => isRead).toBe(true)
    await services.sessions.close()
    const response = await answering
    expect(response.status).toBe(stream ? 200 : 503)
    expect(await response.text()).toContain('Rollscope ended during this call')
    expect(await calls(id)).toMatchObject([{ status: 503, nodes: [{ status: 'aborted' }] }])
  },
)

test('While the recording is paused, calls of clients go on to the server unchanged, and auto opens no session', async () => {
  const forwarded = teaServer()
  const id = await created()
  const headers = { host: 'localhost', authorization: `Bearer ${SESSION_TOKEN}`, 'x-rollscope': '1' }
  const pause = async (isPaused: boolean) =>
    (await send('PUT', '/api/sessions', { isPaused }, { headers: { ...headers, 'content-type': 'application/json' } }))
      .status
  expect(await pause(true)).toBe(204)
  const body = { model: 'm', messages: [user('a')], unknown: 1 }
  for (const session of [id, 'auto'])
    expect((await send('POST', `/sessions/${session}/v1/chat/completions`, body)).status).toBe(418)
  const call = { method: 'POST', path: '/v1/chat/completions', body: Buffer.from(JSON.stringify(body)) }
  expect(forwarded).toEqual([{ ...call, routingKey: id }, call])
  expect(await (await send('GET', '/api/sessions')).json()).toMatchObject({
    isPaused: true,
    sessions: [{ id, calls: 0 }],
  })
  expect(await pause(false)).toBe(204)
  await chat(id, [user('a')])
  expect(await calls(id)).toHaveLength(1)
})

test('The samples of a session train shared tokens once, in the leaves that the query picks, up to a number of tokens', async () => {
  scripts = ['one', 'left', 'right', 'again']
  const id = await created()
  const reply = messageOf(await chat(id, [user('a')]))
  await chat(id, [user('a'), reply, user('x')])
  await chat(id, [user('a'), reply, user('y')])
  await chat(id, [user('a'), reply, user('y')])
  const samples = (query: string) => exported(id, query)
  expect((await samples('')).map(trained)).toEqual([
    [4, 5],
    [0, 6],
    [0, 6],
  ])
  expect((await samples('mask=every-leaf')).map(trained)).toEqual([
    [4, 5],
    [4, 6],
    [4, 6],
  ])
  expect(await samples('leaves=without-retries')).toHaveLength(2)
  expect(await samples('leaves=without-retries,longest')).toHaveLength(1)
  const [whole] = await samples('leaves=longest')
  const most = (whole?.segments.flatMap((segment) => segment.ids).length ?? 0) - 1
  // The last call does not fit, so the path ends before it.
  expect((await samples(`leaves=longest&max_tokens=${most}`)).map(trained)).toEqual([[4]])
  expect(await (await send('GET', `/sessions/${id}/trajectories?format=slime`)).text()).toContain('"loss_mask"')
  expect((await send('GET', `/sessions/${id}/trajectories?leaves=best`)).status).toBe(400)
  expect((await send('GET', `/sessions/${id}/trajectories?max_tokens=1`)).status).toBe(422)
})

test('A client that never reads its stream is disconnected after 30 s, and its generation ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const aborted = Promise.withResolvers<void>()
  let tokens = 0
  scripts = [
    async function* (_, signal) {
      signal.addEventListener('abort', () => aborted.resolve())
      while (!signal.aborted) {
        tokens++
        yield { tokens: { ids: byteTokenizer.encode('x'), logprobs: [-1] }, problems: [] }
        await new Promise((resolve) => setImmediate(resolve))
        if (tokens > 50) await aborted.promise
      }
      throw signal.reason
    },
  ]
  const id = await created()
  const response = await send('POST', `/sessions/${id}/v1/chat/completions`, {
    model: 'm',
    messages: [user('a')],
    stream: true,
  })
  await expect.poll(() => tokens, { interval: 0 }).toBeGreaterThan(50)
  await vi.advanceTimersByTimeAsync(31_000)
  await aborted.promise
  vi.useRealTimers()
  await expect
    .poll(async () => (await calls(id)).map(({ status, nodes }) => [status, nodes[0]?.status]))
    .toEqual([[499, 'aborted']])
  expect(await response.text()).toContain('read nothing from this stream for 30 s')
})

test('A stream without a token begins after 20 s, so that proxies which end idle connections keep it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const waiting = Promise.withResolvers<void>()
  scripts = [
    async function* () {
      await waiting.promise
      yield* says('late')
    },
  ]
  const id = await created()
  const body = { model: 'm', messages: [user('a')], stream: true }
  let response: Response | undefined
  const answer = send('POST', `/sessions/${id}/v1/chat/completions`, body).then((begun) => {
    response = begun
  })
  await expect.poll(() => requests.length, { interval: 0 }).toBe(1)
  await vi.advanceTimersByTimeAsync(19_000)
  expect(response).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(response?.status).toBe(200)
  vi.useRealTimers()
  waiting.resolve()
  await answer
  expect(await response?.text()).toMatch(/"finish_reason":"stop".*\[DONE\]/s)
})

test.each([['ses_killed'], ['auto']])(
  'A process that is killed during a call to /sessions/%s loses nothing that was answered, lists the call as interrupted, and the client continues',
  async (name) => {
    services.store.close()
    const child = spawn(process.execPath, ['lib/server/sessions/test-killed-session.ts', folder, name], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      lines.push(line)
      if (line === 'generating') child.kill('SIGKILL')
    }
    start()
    const reply = JSON.parse(lines[0] ?? '') as object
    scripts = ['two']
    // The address finds the session before anything else reads it.
    await chat(name, [user('a'), reply, user('b')])
    const listed = (await (await send('GET', '/api/sessions')).json()) as {
      sessions: readonly { readonly id: string }[]
    }
    expect(listed).toMatchObject({ sessions: [{ calls: 3, failedCalls: 1, running: 0 }] })
    const id = listed.sessions[0]?.id ?? ''
    const [, interrupted] = await calls(id)
    expect(interrupted).toMatchObject({
      status: 503,
      error: expect.stringContaining('Rollscope ended during this call'),
      attached: { kind: 'continued' },
      messages: 3,
      nodes: [{ parent: 0, status: 'failed', trajectory: null }],
    })
    // The instance that ended has no call any more, whichever instance looks next.
    services.store.close()
    start()
    const rows = await calls(id)
    expect(rows.map(({ status, attached }) => [status, attached?.kind])).toEqual([
      [200, 'new-root'],
      [503, 'continued'],
      [200, 'retried'],
    ])
    const stored = services.store.get(rows[2]?.nodes[0]?.trajectory ?? '')
    expect(stored?.segments.map(({ kind }) => kind)).toEqual(['prompt', 'response', 'prompt', 'response'])
    expect(services.store.interruptedSessionCalls()).toEqual([])
  },
)

test('A call to /generate is recorded although its client leaves when the server has answered', async () => {
  const leaving = new AbortController()
  const forward: EngineClient['forward'] = async () => ({
    status: 200,
    contentType: 'application/json',
    chunks: (async function* () {
      const info = { output_token_logprobs: [[-0.5, 104, null]], finish_reason: { type: 'length', length: 1 } }
      yield Buffer.from(JSON.stringify({ text: 'h', meta_info: info }))
      leaving.abort()
    })(),
  })
  const { client } = services.servers
  services = { ...services, servers: { ...services.servers, client: (name: string) => ({ ...client(name), forward }) } }
  shareServices(services)
  const id = await created()
  await send('POST', `/sessions/${id}/generate`, { input_ids: [97] }, { signal: leaving.signal })
  expect(await calls(id)).toMatchObject([{ status: 200, nodes: [{ status: 'complete', reply: 1 }] }])
})

test('A call with ids to /generate is recorded, and one that begins with recorded ids continues them', async () => {
  const sent: Record<string, unknown>[] = []
  const forward: EngineClient['forward'] = async ({ body }) => {
    sent.push(JSON.parse(String(body)))
    const rows = [104, 105].map((token) => [-0.5, token, null])
    const finish = { type: 'length', length: 2 }
    const read = { prompt_tokens: 50, cached_tokens: 1 }
    const info = {
      output_token_logprobs: rows,
      finish_reason: finish,
      ...(sent.at(-1)?.image_data ? read : { cached_tokens: 1 }),
    }
    const chunks = (async function* () {
      yield Buffer.from(JSON.stringify({ text: 'hi', meta_info: info }))
    })()
    return { status: 200, contentType: 'application/json', chunks }
  }
  const { client } = services.servers
  services = { ...services, servers: { ...services.servers, client: (name: string) => ({ ...client(name), forward }) } }
  shareServices(services)
  const id = await created()
  const generateIds = async (input: readonly number[], more: object = {}) => {
    const body = { input_ids: input, sampling_params: { max_new_tokens: 2 }, ...more }
    return (await send('POST', `/sessions/${id}/generate`, body)).json()
  }
  // The client gets no logprobs that it has not requested.
  expect(await generateIds([97, 98])).toEqual({
    text: 'hi',
    meta_info: { finish_reason: { type: 'length', length: 2 }, cached_tokens: 1 },
  })
  await generateIds([97, 98, 104, 105, 99])
  await generateIds([97, 99])
  expect(sent[0]).toEqual({ input_ids: [97, 98], sampling_params: { max_new_tokens: 2 }, return_logprob: true })
  const rows = await calls(id)
  expect(rows.map(({ attached }) => attached?.kind)).toEqual(['new-root', 'continued', 'new-root'])
  const stored = services.store.get(rows[1]?.nodes[0]?.trajectory ?? '')
  expect(stored?.segments.map((segment) => segment.ids)).toEqual([[97, 98], [104, 105], [99], [104, 105]])
  expect(rows[0]?.nodes[0]?.trajectory).toBe(rows[1]?.nodes[0]?.trajectory)
  expect(stored).not.toHaveProperty('imageData')
  // Images belong to their placeholders in the ids. A server also takes addresses, which no trajectory has.
  await generateIds([1, 2], { image_data: PNG_URL })
  await generateIds([1, 2, 104, 105, 1], { image_data: [PNG_URL, JPEG_URL] })
  await generateIds([3], { image_data: ['http://a/b.png'] })
  const [first, second, address] = (await calls(id))
    .slice(3)
    .map((row) => services.store.get(row.nodes[0]?.trajectory ?? ''))
  expect(first?.id).toBe(second?.id)
  expect(second?.imageData).toEqual([PNG_URL, JPEG_URL])
  expect(second?.segments.at(-1)).toMatchObject({ request: { images: { count: 2 } }, usage: { promptTokens: 50 } })
  expect(address).not.toHaveProperty('imageData')
})

test('A call to /generate is listed as interrupted after a restart, and a call that failed or ended is not', async () => {
  let isPending = false
  const forward: EngineClient['forward'] = async () => {
    if (isPending) return new Promise(() => {})
    throw new EngineError('CONNECT_REFUSED', 'nothing listens')
  }
  const { client } = services.servers
  services = { ...services, servers: { ...services.servers, client: (name: string) => ({ ...client(name), forward }) } }
  shareServices(services)
  const id = await created()
  const body = { input_ids: [97] }
  expect((await send('POST', `/sessions/${id}/generate`, body)).status).toBe(502)
  isPending = true
  void send('POST', `/sessions/${id}/generate`, body)
  const begun = vi.spyOn(services.store, 'beginSessionCall')
  await expect.poll(() => begun.mock.results.length).toBe(1)
  services.store.close()
  start()
  expect(await calls(id)).toMatchObject([{ status: 503, attached: null, nodes: [] }])
})
