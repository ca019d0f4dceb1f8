/** Tests the start and the continuation of rollouts with a real store and real runs, and a server that answers as the test says. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { LONGEST_PROMPT } from '#lib/sampling/dialects/text-limits.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { testServices } from '#testing/services.ts'
import { scriptedTokenizer } from '#testing/sglang/scripted-tokenizer.ts'
import { chatml } from '#testing/small-templates.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { previewPrompt } from './prompt-preview.ts'
import { continueRollout, rolloutRequestSchema, startRollout } from './rollouts.ts'

const END = byteId('<|im_end|>')
const never = new AbortController().signal

let all: Services
let isDown: boolean
let modelName: string
let capabilities: ServerDescription['capabilities']
let shippedTemplate: string
let toolCallParser: string | undefined
let replies: string[]
let slowServerAnswers: PromiseWithResolvers<void>
beforeEach(() => {
  isDown = false
  modelName = 'm'
  capabilities = undefined
  shippedTemplate = chatml
  toolCallParser = undefined
  replies = []
  const generate: EngineClient['generate'] = async function* () {
    if (isDown) throw new EngineError('CONNECT_REFUSED', 'nothing listens')
    const end = { finish: { kind: 'stop', matched: END }, usage: {} } as const
    yield { tokens: { ids: [...byteTokenizer.encode(replies.shift() ?? 'yes'), END] }, problems: [], end }
  }
  const chat: EngineClient['chat'] = async ({ messages }) => {
    const said = replies.shift() ?? 'yes'
    const end = { finish: { kind: 'stop', matched: END }, usage: {} } as const
    const promptIds = byteTokenizer.encode(`${JSON.stringify(messages)}<|im_start|>`)
    const ids = [...byteTokenizer.encode(said), END]
    return { promptIds, tokens: { ids }, message: { role: 'assistant', content: said }, end, problems: [] }
  }
  slowServerAnswers = Promise.withResolvers()
  const describe = async (name?: string) => {
    if (name === 'slow') await slowServerAnswers.promise
    return { modelName, contextLength: 4096, toolCallParser, capabilities }
  }
  all = testServices(folderOfTest(), {
    generate,
    chat,
    describe,
    template: () => shippedTemplate,
  })
})
afterEach(() => all.store.close())

const stored = (key: string) => all.store.get(key) as Trajectory
const questions = ({ segments }: Trajectory) =>
  segments.flatMap((segment) => (segment.kind === 'prompt' ? segment.messages.map(({ content }) => content) : []))
const lastPrompt = ({ segments, vocab }: Trajectory) =>
  textOf(segments.findLast(({ kind }) => kind === 'prompt')?.ids ?? [], vocab)

async function ended(run: Promise<{ readonly rolloutId: string; readonly key: string }>): Promise<string> {
  const { rolloutId, key } = await run
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  return key
}

const began = (request: Partial<Parameters<typeof startRollout>[0]> = {}) =>
  ended(startRollout({ prompt: 'q', tokenizer: 'bytes', ...request }, all, never))

test('A continuation that is slower than another one keeps and continues the result of that one', async () => {
  const key = await began()
  const slow = ended(continueRollout(key, { prompt: 'to slow', server: 'slow' }, all, never))
  await ended(continueRollout(key, { prompt: 'to fast', server: 'fast' }, all, never))
  slowServerAnswers.resolve()
  await slow
  expect(questions(stored(key))).toEqual(['q', 'to fast', 'to slow'])
})

test('A continuation is refused if its client has not seen all of the trajectory', async () => {
  const key = await began()
  const seen = stored(key).segments.length
  await ended(continueRollout(key, { prompt: 'one', seenSegments: seen }, all, never))
  const failure = await continueRollout(key, { prompt: 'two', seenSegments: seen }, all, never).catch((error) => error)
  expect((failure as HttpProblem).details).toMatchObject({ status: 409, code: 'CHANGED' })
  expect(questions(stored(key))).toEqual(['q', 'one'])
})

const EVERYTHING = { filter: {}, sort: { by: 'added', order: 'desc' }, limit: 1 } as const

describe('Images of a question', () => {
  const content = [
    { type: 'image', image: PNG_URL },
    { type: 'image', image: JPEG_URL },
    { type: 'text', text: 'q' },
  ]
  const refused = (request: object) => {
    const parsed = rolloutRequestSchema.safeParse(request)
    return parsed.error?.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`)
  }

  test('precede its text, in a first question and in a further one', async () => {
    const key = await began({ images: [PNG_URL, JPEG_URL] })
    // The template of this test takes texts only.
    expect(stored(key).outcome).toMatchObject({
      code: 'TEMPLATE_ERROR',
      hint: expect.stringContaining('a model that reads images'),
      unsent: [{ role: 'user', content }],
    })
    const other = await began()
    await ended(continueRollout(other, { prompt: 'q', images: [PNG_URL, JPEG_URL] }, all, never))
    expect(stored(other).outcome).toMatchObject({
      code: 'TEMPLATE_ERROR',
      hint: expect.stringContaining('a model that reads images'),
      unsent: [{ role: 'user', content }],
    })
  })

  test('are refused before anything is stored if the model of the server reads none, also those of earlier turns', async () => {
    const withImages = await began()
    all.store.update(withImages, { ...stored(withImages), imageData: [PNG_URL] }, 2)
    capabilities = { ...ENGINE_CAPABILITIES.sglang, images: false }
    const count = all.store.list(EVERYTHING).total
    const problems = [
      began({ images: [PNG_URL] }),
      began({ prompt: undefined, messages: [{ role: 'user', content }] } as never),
      continueRollout(withImages, { prompt: 'q' }, all, never),
    ]
    for (const problem of problems)
      await expect(problem).rejects.toMatchObject({
        details: {
          status: 422,
          code: 'NOT_IN_ENGINE',
          field: 'images',
          detail: 'SGLang serves a model that reads no images.',
        },
      })
    expect(all.store.list(EVERYTHING).total).toBe(count)
  })

  test('are refused by the schema with their place if they are addresses, SVG or too many, or have no question', () => {
    const svg = `data:image/png;base64,${btoa('<svg/>')}=`
    expect(refused({ prompt: 'q', images: [PNG_URL, 'https://a/b.png'] })).toEqual([
      'images.1: an image as a data URL. It is no data URL, and addresses are never fetched.',
    ])
    expect(refused({ prompt: 'q', images: [svg] })?.[0]).toMatch(/^images\.0: an image as a data URL/)
    expect(refused({ prompt: 'q', images: Array.from({ length: 33 }, () => PNG_URL) })?.[0]).toMatch(/^images: /)
    expect(refused({ messages: [{ role: 'user', content: 'q' }], images: [PNG_URL] })).toEqual([
      ': "images" only with "prompt"',
    ])
    expect(
      refused({ messages: [{ role: 'user', content: [content[2], { type: 'image', reference: 'a.png' }] }] }),
    ).toEqual([
      'messages.0.content.1.image: an image as a data URL. It is no data URL, and addresses are never fetched.',
    ])
    expect(refused({ prompt: 'q', images: [PNG_URL] })).toBeUndefined()
  })
})

describe('A stopped response', () => {
  const cutShort = async () => {
    const key = await began()
    const { segments, ...rest } = stored(key)
    const [prompt, response] = segments
    const stopped = { ...(response as ResponseSegment), finish: { kind: 'cancelled' } as const }
    all.store.update(key, { ...rest, segments: [prompt as typeof stopped, stopped], outcome: cancelled }, 1)
    return key
  }
  const cancelled = { kind: 'ended', reason: 'cancelled' } as const

  test('is resumed in place: its ids stay, and no segment is added', async () => {
    const key = await cutShort()
    const before = stored(key).segments
    replies = [' and no']
    await ended(continueRollout(key, { resume: true, seenSegments: 2 }, all, never))
    const after = stored(key).segments
    expect(after).toHaveLength(2)
    expect(after[1]?.ids).toEqual([...(before[1]?.ids ?? []), ...byteTokenizer.encode(' and no'), END])
    expect(after[1]).toMatchObject({ resumed: [{ at: before[1]?.ids.length, stopped: { kind: 'cancelled' } }] })
  })

  test('stays unchanged in the store until it has been resumed to an end', async () => {
    const key = await cutShort()
    const before = stored(key).segments
    isDown = true
    await ended(continueRollout(key, { resume: true }, all, never))
    expect(stored(key)).toMatchObject({ segments: before, outcome: { code: 'CONNECT_REFUSED' } })
  })

  test('is not resumed if the model has ended it, or if a grammar would bind it', async () => {
    const whole = await began()
    await expect(continueRollout(whole, { resume: true }, all, never)).rejects.toMatchObject({
      details: { code: 'NOT_RESUMABLE' },
    })
    const key = await cutShort()
    const bound = { resume: true, sampling: { regex: 'a+' } } as const
    await expect(continueRollout(key, bound, all, never)).rejects.toMatchObject({ details: { code: 'NOT_RESUMABLE' } })
  })
})

test('A continuation uses the recorded template instead of the tokenizer’s current one', async () => {
  const key = await began()
  shippedTemplate = chatml.replaceAll('<|im_start|>', '<|im_start|>3')
  await ended(continueRollout(key, { prompt: 'more' }, all, never))
  expect(lastPrompt(stored(key))).toBe('\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n')
})

test('A rollout uses the requested parser, or else that of the server, of the template, or hermes', async () => {
  const parserOf = async (request: Parameters<typeof began>[0] = {}) => stored(await began(request)).model.parser
  expect(await parserOf()).toBe('hermes')
  toolCallParser = 'glm45'
  expect(await parserOf()).toBe('glm')
  expect(await parserOf({ parser: 'kimi_k2' })).toBe('kimi_k2')
  toolCallParser = 'no_such_parser'
  expect(await parserOf()).toBe('hermes')
  expect(await parserOf({ chatTemplate: `${chatml}{# <arg_key> #}` })).toBe('glm')
  const failure = await began({ parser: 'no_such_parser' }).catch((error: unknown) => error)
  expect((failure as HttpProblem).details).toMatchObject({ status: 422, code: 'NO_PARSER' })
})

test('A continuation keeps the recorded parser, and uses the server’s one if none is recorded', async () => {
  const key = await began()
  toolCallParser = 'qwen3_coder'
  await ended(continueRollout(key, { prompt: 'more' }, all, never))
  expect(stored(key).model.parser).toBe('hermes')
  const { parser: _, ...unparsed } = stored(key).model
  const imported = all.store.add({ ...stored(key), model: unparsed })
  await ended(continueRollout(imported, { prompt: 'more' }, all, never))
  expect(stored(imported).model.parser).toBe('qwen_xml')
})

test('A continuation with an unknown tool is refused with its name before anything starts', async () => {
  const key = await began()
  const foreign = { name: 'web_search', inputSchema: {} }
  all.store.update(key, { ...stored(key), model: { ...stored(key).model, tools: [foreign] } }, 2)
  const failure = await continueRollout(key, { prompt: 'more' }, all, never).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(HttpProblem)
  expect((failure as HttpProblem).details).toMatchObject({ status: 422, code: 'NO_TOOL' })
  expect(stored(key).outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
})

test('A continuation after a failed first call still sends the system prompt', async () => {
  isDown = true
  const key = await began({ system: 'BE BRIEF' })
  expect(stored(key).segments).toEqual([])
  isDown = false
  await ended(continueRollout(key, { prompt: 'again' }, all, never))
  expect(questions(stored(key))).toEqual(['BE BRIEF', 'again'])
})

test('A rollout runs mock tools and stores them, and a continuation runs them again', async () => {
  const weather = {
    name: 'weather',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' } },
  } as const
  const asks = (city: string) => `<tool_call>{"name": "weather", "arguments": {"city": "${city}"}}</tool_call>`
  replies = [asks('Rome')]
  const key = await began({ tools: [weather] })
  expect(stored(key).model.tools).toEqual([weather])
  expect(lastPrompt(stored(key))).toContain('Sunny in Rome.')
  replies = [asks('Bern')]
  await ended(continueRollout(key, { prompt: 'and there?' }, all, never))
  expect(lastPrompt(stored(key))).toContain('Sunny in Bern.')
})

test('A trajectory that continues with another model records the token where it changed, once', async () => {
  const key = await began()
  expect(stored(key)).not.toHaveProperty('problems')
  const before = stored(key).segments.reduce((sum, { ids }) => sum + ids.length, 0)
  modelName = 'n'
  await ended(continueRollout(key, { prompt: 'more' }, all, never))
  expect(stored(key).problems).toEqual([
    { kind: 'model', message: `From token ${before} on the model is n; before it was m.`, raw: 'n' },
  ])
  await ended(continueRollout(key, { prompt: 'and more' }, all, never))
  expect(stored(key).problems).toHaveLength(1)
})

test('A rollout over the chat endpoint sends messages, in further turns too', async () => {
  const key = await began({ endpoint: 'chat', system: 'BE BRIEF' })
  expect(stored(key)).toMatchObject({ provenance: { endpoint: 'chat' }, outcome: { reason: 'end_turn' } })
  await ended(continueRollout(key, { prompt: 'more' }, all, never))
  const { segments, vocab } = stored(key)
  const requests = segments.flatMap((segment) => (segment.kind === 'response' ? [segment.request] : []))
  expect(requests.map((request) => [request?.endpoint, request?.chat?.messages.map(({ role }) => role)])).toEqual([
    ['chat', ['system', 'user']],
    ['chat', ['assistant', 'user']],
  ])
  expect(textOf(segments[0]?.ids ?? [], vocab)).toContain('"content":"BE BRIEF"')
})

test('A rollout over the chat endpoint is refused before it starts if it has unsupported fields or lacks messages', async () => {
  const request = { prompt: 'q', endpoint: 'chat' } as const
  expect(rolloutRequestSchema.safeParse({ ...request, chatTemplate: 'x' }).error?.message).toContain('chatTemplate')
  expect(rolloutRequestSchema.safeParse({ ...request, sampling: { json_schema: '{}' } }).success).toBe(false)
  expect(rolloutRequestSchema.safeParse({ ...request, endpoint: 'generate', chatTemplate: 'x' }).success).toBe(true)
  const key = await began({ endpoint: 'chat' })
  const refused = (change: object) =>
    continueRollout(key, { prompt: 'more', ...change }, all, never).catch((error) => error)
  expect(await refused({ sampling: { structural_tag: '{}' } })).toMatchObject({ details: { code: 'NOT_IN_CHAT' } })
  expect(await refused({ images: [PNG_URL] })).toMatchObject({ details: { code: 'NOT_IN_CHAT', field: 'images' } })
  capabilities = ENGINE_CAPABILITIES.openai
  expect(await refused({})).toMatchObject({ details: { code: 'NOT_IN_ENGINE', field: 'endpoint' } })
  capabilities = undefined
  const trajectory = stored(key)
  const [prompt, response] = trajectory.segments as [Trajectory['segments'][0], ResponseSegment]
  const { message: _, ...bare } = response
  all.store.update(key, { ...trajectory, segments: [prompt, bare] }, 0)
  expect(await refused({})).toMatchObject({ details: { code: 'NO_MESSAGES' } })
})

describe('A prompt of text or ids', () => {
  const given = (request: Partial<Parameters<typeof startRollout>[0]>) =>
    ended(startRollout({ tokenizer: 'bytes', ...request }, all, never))
  const promptOf = (key: string) => stored(key).segments[0]

  test('is sent unchanged, without a template', async () => {
    const text = '<|im_start|>user\nhi'
    expect(promptOf(await given({ text }))).toEqual({
      kind: 'prompt',
      ids: byteTokenizer.encode(text),
      messages: [],
      derivation: { kind: 'given', what: 'text' },
    })
    const key = await given({ ids: [104, 105, END], text: 'other' })
    expect(promptOf(key)).toMatchObject({
      ids: [104, 105, END],
      derivation: { kind: 'given', what: 'ids' },
      problems: [{ kind: 'given', raw: 'other', index: 0 }],
    })
    expect(stored(key).segments.map(({ kind }) => kind)).toEqual(['prompt', 'response'])
  })

  test('needs no chat template, as for base models', async () => {
    const bare = { tokenizer: byteTokenizer, template: () => undefined, compile: () => undefined }
    const services = { ...all, tokenizers: { load: async () => bare } } as unknown as Services
    const key = await ended(startRollout({ text: 'hi', tokenizer: 'bytes' }, services, never))
    expect(stored(key).model).not.toHaveProperty('template')
    expect(stored(key).outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    const refused = (request: object) =>
      startRollout({ tokenizer: 'bytes', ...request }, services, never).catch((error) => error)
    expect(await refused({ prompt: 'hi' })).toMatchObject({ details: { code: 'NO_TEMPLATE' } })
    expect(await refused({ text: 'hi', tools: ['calculator'] })).toMatchObject({ details: { code: 'NO_TEMPLATE' } })
  })

  test('without tools ends after one response, whose calls are recorded but not run', async () => {
    const asks = '<tool_call>{"name": "calculator", "arguments": {"expression": "1+1"}}</tool_call>'
    replies = [asks]
    const key = await given({ text: 'hi' })
    expect(stored(key).segments).toHaveLength(2)
    expect((stored(key).segments[1] as ResponseSegment).toolCalls).toMatchObject([{ name: 'calculator' }])
    expect((stored(key).segments[1] as ResponseSegment).toolCalls[0]).not.toHaveProperty('result')
    expect(stored(key).outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    replies = [asks]
    await ended(continueRollout(key, { prompt: 'more' }, all, never))
    expect(stored(key).segments).toHaveLength(4)
  })

  test('with tools runs the calls, and their results continue through the template', async () => {
    replies = ['<tool_call>{"name": "calculator", "arguments": {"expression": "1+1"}}</tool_call>']
    const key = await given({ text: 'hi', tools: ['calculator'] })
    expect(lastPrompt(stored(key))).toBe('\n<|im_start|>tool\n2<|im_end|>\n<|im_start|>assistant\n')
    expect(stored(key).segments[2]).toMatchObject({ derivation: { kind: 'continuation', check: { kind: 'unknown' } } })
  })

  test('that was never sent is kept, to be sent later', async () => {
    const full = { limits: { maxTokens: 1 } }
    expect(stored(await given({ ...full, text: 'hi' }))).toMatchObject({
      segments: [],
      outcome: { reason: 'max_tokens', unsentGiven: { what: 'text', ids: [104, 105] } },
    })
    expect(stored(await given({ ...full, ids: [104, 105] }))).toMatchObject({
      segments: [],
      outcome: { reason: 'max_tokens', unsentGiven: { what: 'ids', ids: [104, 105] } },
    })
  })

  test('can be continued', async () => {
    const key = await given({ ids: [104, 105] })
    await ended(continueRollout(key, { prompt: 'more' }, all, never))
    expect(lastPrompt(stored(key))).toBe('\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n')
    expect(stored(key).outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
  })

  test('also works through the server’s own tokenizer, and records the tokens that it adds', async () => {
    const framed = {
      ...scriptedTokenizer({
        tokenizer: { ...byteTokenizer, frame: { before: [byteId('<|endoftext|>')], after: [] } },
        template: chatTemplate(chatml, {}),
      }),
    }
    const client = all.servers.client('fast')
    const services = { ...all, servers: { ...all.servers, client: () => ({ ...client, ...framed }) } } as Services
    const key = await ended(startRollout({ text: 'hi', tokenizer: 'server' }, services, never))
    expect(promptOf(key)).toMatchObject({
      ids: [byteId('<|endoftext|>'), 104, 105],
      problems: [{ kind: 'given', index: 0 }],
    })
  })

  test('can be previewed with the same ids and notes, and their texts', async () => {
    const preview = await previewPrompt({ text: '<|im_start|>hi', tokenizer: 'bytes' }, all, never)
    expect(preview).toEqual({
      tokenizer: 'bytes',
      count: 3,
      head: [byteId('<|im_start|>'), 104, 105],
      tail: [],
      vocab: { 104: 'h', 105: 'i', [byteId('<|im_start|>')]: '<|im_start|>' },
      specialIds: [byteId('<|im_start|>')],
      notes: [],
    })
    const long = await previewPrompt({ ids: Array(1000).fill(104), text: 'x', tokenizer: 'server' }, all, never)
    expect([long.count, long.head.length, long.tail.length, long.notes.length]).toEqual([1000, 240, 60, 1])
    await expect(previewPrompt({ ids: [999], tokenizer: 'bytes' }, all, never)).rejects.toMatchObject({
      details: { code: 'UNKNOWN_ID', field: 'ids.0' },
    })
    await expect(previewPrompt({}, all, never)).rejects.toMatchObject({ details: { status: 422 } })
  })

  test('is refused before anything starts if it cannot be a prompt, with the position', async () => {
    const refused = (request: object) =>
      startRollout({ tokenizer: 'bytes', ...request }, all, never).catch((error) => error)
    expect(await refused({ ids: [1, 999] })).toMatchObject({
      details: { status: 422, code: 'UNKNOWN_ID', field: 'ids.1' },
    })
    expect(await refused({ text: '' })).toMatchObject({ details: { status: 422, code: 'EMPTY_PROMPT' } })
  })

  test.each([
    ['nothing', {}, 'exactly one'],
    ['a question too', { prompt: 'q', text: 't' }, 'exactly one'],
    ['messages too', { messages: [{ role: 'user', content: 'q' }], ids: [1] }, 'exactly one'],
    ['the chat endpoint', { ids: [1], endpoint: 'chat' }, 'it takes messages'],
    ['a system prompt', { text: 't', system: 's' }, 'no chat template'],
    ['no ids', { ids: [] }, '>=1'],
    ['an id below 0', { ids: [-1] }, '>=0'],
  ])('is refused with %s', (_, request, why) => {
    expect(rolloutRequestSchema.safeParse(request).error?.message).toContain(why)
  })
})

test.each([
  ['continue_final_message', 'render it in the template lab and give the result as "text" or "ids"'],
  ['add_generation_prompt', 'in a run, which requests a new reply'],
  ['tokenize', 'argument of apply_chat_template'],
])('A run refuses the template option %s by name, with what to do', (name, why) => {
  const request = { prompt: 'Hi', templateOptions: { enable_thinking: false, [name]: true } }
  const [issue] = rolloutRequestSchema.safeParse(request).error?.issues ?? []
  expect(issue).toMatchObject({ path: ['templateOptions', name], message: expect.stringContaining(why) })
})

test('A rollout is refused if its prompt is longer than the playground accepts', () => {
  const most = 'x'.repeat(LONGEST_PROMPT)
  const ids = new Array(LIMITS.tokens + 1).fill(1)
  const whole = (request: object) => rolloutRequestSchema.safeParse(request)
  expect([
    whole({ prompt: most }).success,
    whole({ text: most }).success,
    whole({ ids: ids.slice(1) }).success,
  ]).toEqual([true, true, true])
  for (const request of [{ prompt: `${most}x` }, { text: `${most}x` }, { prompt: 'x', system: `${most}x` }, { ids }])
    expect(whole(request).error?.issues).toMatchObject([{ code: 'too_big' }])
  const [half, image] = ['x'.repeat(LONGEST_PROMPT / 2), `data:image/png;base64,${'A'.repeat(1_000)}`]
  const messages = [half, half].map((content) => ({ role: 'user', content }))
  expect(whole({ messages }).error?.issues).toMatchObject([
    { message: 'messages of at most 8,000,000 characters together', path: ['messages'] },
  ])
  expect(whole({ messages: [{ role: 'user', content: [{ type: 'image', image }] }] }).error?.issues).not.toMatchObject([
    { message: 'messages of at most 8,000,000 characters together' },
  ])
})
