/**
 * Tests prompts with images against a server that answers as vLLM 0.32.0 does for a model that reads images. It repeats the placeholder
 * of each image, and writes scripted tokens.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createConnection } from '#lib/engine/connection.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import type { RequestImages } from '#lib/engine/images.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { scripted } from '#testing/sglang/recordings.ts'
import { vllmClient } from './client.ts'

const PAD = 90
const SENT = [1, 5, PAD, 6, PAD, 7, 2]
/** The ids that the model reads: three positions for each image. */
const READ = [1, 5, PAD, PAD, PAD, 6, PAD, PAD, PAD, 7, 2]
const OUTPUT = [8, 9, 2]
const never = new AbortController().signal

interface Vision {
  /** False: the model reads text only. */
  readonly readsImages?: boolean
  /** False: vLLM was started without --enable-scale-out. */
  readonly takesIds?: boolean
  /** The ids that the server reports to have read. */
  readonly read?: readonly number[]
  /** The number of images of which it reports the placeholders. */
  readonly images?: number
}

type Body = Readonly<Record<string, unknown>>
type Answer = readonly [status: number, json: unknown]

const SWITCHED_OFF = 'Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.'
const refusal = (message: string, type: string, code: number): Answer => [
  code,
  { error: { message, type, param: null, code } },
]

/** Returns the logprobs of tokens: the sampled one first, and after it as many of the most likely ones as fit. */
const listed = (token: (id: number) => object, ids: readonly number[], most: number) => ({
  content: ids.map((id, index) => ({
    ...token(id),
    logprob: -index - 1,
    top_logprobs: [
      { ...token(id), logprob: -index - 1 },
      { ...token(70), logprob: -0.25 },
      { ...token(71), logprob: -0.5 },
    ].slice(0, Math.max(1, most)),
  })),
})

const scores = (ids: readonly number[]) =>
  ids.map((id, index) => (index === 0 ? null : { [id]: { logprob: -index / 100 } }))
const usage = (read: readonly number[]) => ({ prompt_tokens: read.length, completion_tokens: OUTPUT.length })
const ended = { finish_reason: 'stop', stop_reason: null }

async function start({ readsImages = true, takesIds = true, read = READ, images = 2 }: Vision = {}) {
  const requests: { readonly path: string; readonly body: Body }[] = []
  const isProbe = (body: Body) => JSON.stringify(body).includes('[1,1]') || body.max_completion_tokens === 1
  const reply = (path: string, body: Body): Answer => {
    const probed = isProbe(body)
    const ids = probed ? [1, 1] : read
    const output = probed ? [0] : OUTPUT
    const { logprobs: most, prompt_logprobs: scored } = (body.sampling_params ?? body) as Readonly<
      Record<string, number>
    >
    switch (path) {
      case '/v1/models':
        return [200, { data: [{ id: 'vl', owned_by: 'vllm', root: '/models/vl', max_model_len: 2048 }] }]
      case '/v1/completions':
        if (body.logprobs === 1_000_000) return refusal('… maximum allowed: 20 …', 'BadRequestError', 400)
        return [
          200,
          {
            choices: [
              {
                ...{ index: 0, text: '', token_ids: output, prompt_token_ids: ids, finish_reason: 'length' },
                logprobs: { tokens: ['token_id:0'], token_logprobs: [-9], top_logprobs: [{ 'token_id:0': -9 }] },
                prompt_logprobs: scores(ids),
              },
            ],
          },
        ]
      case '/inference/v1/generate':
        if (!takesIds) return refusal(SWITCHED_OFF, 'PermissionDeniedError', 403)
        return [
          200,
          {
            request_id: `generate-tokens-${body.request_id}`,
            choices: [
              {
                index: 0,
                ...ended,
                token_ids: output,
                logprobs: listed((id) => ({ token_id: id }), output, most ?? 0),
              },
            ],
            usage: usage(ids),
            prompt_token_ids: ids,
            mm_placeholders: body.content_parts
              ? { image: Array.from({ length: images }, () => ({ offset: 2, length: 3 })) }
              : null,
            prompt_logprobs: scored === undefined ? null : scores(ids),
          },
        ]
      case '/v1/chat/completions': {
        if (!readsImages && JSON.stringify(body).includes('image_url'))
          return refusal('At most 0 image(s) may be provided in one prompt.', 'BadRequestError', 400)
        const token = (id: number) => ({ token: `token_id:${id}` })
        return [
          200,
          {
            choices: [
              {
                ...{ index: 0, message: { role: 'assistant', content: 'x' }, token_ids: output, ...ended },
                logprobs: listed(token, output, Number(body.top_logprobs ?? 0)),
              },
            ],
            usage: usage(ids),
            prompt_token_ids: ids,
            prompt_logprobs: scored === undefined ? null : scores(ids),
          },
        ]
      }
      default:
        return [404, { detail: 'Not Found' }]
    }
  }
  const server = await scripted(async (incoming, response) => {
    let text = ''
    for await (const part of incoming) text += String(part)
    const body = (text === '' ? {} : JSON.parse(text)) as Body
    const path = incoming.url ?? ''
    if (!isProbe(body)) requests.push({ path, body })
    const [status, json] = reply(path, body)
    if (status !== 200 || !body.stream)
      return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(
      [...(isProbe(body) ? [JSON.stringify(json)] : eventsOf(json as WholeReply)), '[DONE]']
        .map((data) => `data: ${data}\n\n`)
        .join(''),
    )
  })
  const client = vllmClient(createConnection({ baseUrl: server.baseUrl, apiKey: undefined, retry: { repetitions: 0 } }))
  onTestFinished(server.close)
  onTestFinished(() => client.close())
  return { client, requests }
}

interface WholeReply {
  readonly choices: readonly [
    { readonly token_ids: readonly number[]; readonly logprobs: { readonly content: readonly object[] } },
  ]
  readonly usage: object
}

/** Divides a reply into events: the prompt, each token, the counts. */
function eventsOf({ choices: [choice], usage: counts, ...prompt }: WholeReply): readonly string[] {
  const { token_ids: ids, logprobs, ...rest } = choice
  const tokens = ids.map((id, index) => ({
    choices: [
      {
        ...rest,
        token_ids: [id],
        logprobs: { content: [logprobs.content[index]] },
        finish_reason: index === ids.length - 1 ? 'stop' : null,
      },
    ],
    ...(index === 0 && prompt),
  }))
  return [...tokens, { choices: [], usage: counts }].map((event) => JSON.stringify(event))
}

const images = (more: Partial<RequestImages> = {}): RequestImages => ({
  urls: [PNG_URL, JPEG_URL],
  spans: [
    { start: 2, end: 3 },
    { start: 4, end: 5 },
  ],
  placeholders: { fillers: new Set([PAD]), markers: new Set() },
  ...more,
})

const conversation = {
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PNG_URL } }] }],
  tools: [{ name: 'calculator', description: 'd', inputSchema: {} }],
  templateOptions: { enable_thinking: false },
}

const request = (overrides: Partial<GenerateRequest> = {}): GenerateRequest => ({
  inputIds: SENT,
  sampling: { temperature: 0, max_new_tokens: 64, top_k: -1 },
  rid: 'a'.repeat(32),
  stream: false,
  topLogprobsNum: 2,
  vocabularySize: 100,
  images: images({ conversation }),
  ...overrides,
})

const chunksOf = (client: EngineClient, asked: GenerateRequest): Promise<Chunk[]> =>
  Array.fromAsync(client.generate(asked, never))

describe('A vLLM whose model reads images', () => {
  test('takes them beside ids if it was started with --enable-scale-out, and otherwise in messages', async () => {
    const capabilitiesOf = async (vision: Vision) => (await (await start(vision)).client.describe(never)).capabilities
    expect(await capabilitiesOf({})).toMatchObject({ images: true })
    expect(await capabilitiesOf({})).not.toHaveProperty('imagesInMessages')
    expect(await capabilitiesOf({ takesIds: false })).toMatchObject({ images: true, imagesInMessages: true })
    expect(await capabilitiesOf({ readsImages: false })).toMatchObject({ images: false })
  })

  test('is sent ids with one placeholder for each image, and the images in their order', async () => {
    const { client, requests } = await start()
    const repeated = [...SENT.slice(0, 3), PAD, PAD, ...SENT.slice(3)]
    const spans = [
      { start: 2, end: 5 },
      { start: 6, end: 7 },
    ]
    await chunksOf(client, request({ inputIds: repeated, images: images({ spans }), adapter: 'math' }))
    expect(requests.at(-1)).toEqual({
      path: '/inference/v1/generate',
      body: {
        model: 'math',
        token_ids: SENT,
        content_parts: [
          { type: 'image_url', url: PNG_URL },
          { type: 'image_url', url: JPEG_URL },
        ],
        sampling_params: {
          ...{ max_tokens: 64, temperature: 0, top_p: 1, top_k: 0, min_p: 0, logprobs: 3 },
          ...{ frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1 },
          ...{ skip_special_tokens: false, include_stop_str_in_output: true },
        },
        return_token_ids: true,
        stream: false,
        request_id: 'a'.repeat(32),
      },
    })
  })

  test('is sent priority and cache_salt beside the sampling parameters', async () => {
    const { client, requests } = await start()
    const sampling = { priority: 3, cache_salt: 's', bad_words: ['x'] } as GenerateRequest['sampling']
    await chunksOf(client, request({ sampling }))
    const { sampling_params: sent, ...others } = requests.at(-1)?.body ?? {}
    expect(others).toMatchObject({ priority: 3, cache_salt: 's' })
    expect(sent).toMatchObject({ bad_words: ['x'] })
    expect(sent).not.toHaveProperty('priority')
  })

  test('is sent the messages at its chat endpoint if it takes images there only, without its tool parser', async () => {
    const { client, requests } = await start({ takesIds: false })
    await chunksOf(client, request({ sampling: { max_new_tokens: 64, regex: 'a+' }, logprobStartLen: 0 }))
    expect(requests.at(-1)?.path).toBe('/v1/chat/completions')
    expect(requests.at(-1)?.body).toMatchObject({
      messages: conversation.messages,
      tools: [{ type: 'function', function: { name: 'calculator' } }],
      ...{ tool_choice: 'none', chat_template_kwargs: { enable_thinking: false } },
      ...{ max_completion_tokens: 64, structured_outputs: { regex: 'a+' }, temperature: 1 },
      ...{ skip_special_tokens: false, include_stop_str_in_output: true, stream: false },
      ...{ logprobs: true, top_logprobs: 3, prompt_logprobs: 2 },
      ...{ return_token_ids: true, return_tokens_as_token_ids: true, request_id: 'a'.repeat(32) },
    })
    for (const name of ['prompt', 'max_tokens', 'rid', 'lora_path'])
      expect(requests.at(-1)?.body).not.toHaveProperty(name)
  })

  test('is sent nothing without the messages that it needs, and nothing if its model reads text only', async () => {
    const inMessages = await start({ takesIds: false })
    await expect(chunksOf(inMessages.client, request({ images: images() }))).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
      message: 'the server takes images in messages only, and the prompt has none',
    })
    const textOnly = await start({ readsImages: false })
    await expect(chunksOf(textOnly.client, request())).rejects.toMatchObject({
      code: 'REQUEST_REFUSED',
      message: expect.stringMatching(/^vLLM serves a model that reads no images\. Choose/),
    })
    for (const { requests } of [inMessages, textOnly])
      expect(requests.map(({ path }) => path)).toEqual(['/v1/models', '/version'])
  })
})

describe.each([
  ['/inference/v1/generate', true],
  ['/v1/chat/completions', false],
])('A reply of %s to a prompt with images', (_, takesIds) => {
  test.each([false, true])(
    'has the ids, logprobs and alternatives, and the tokens of each image (streamed: %s)',
    async (stream) => {
      const { client } = await start({ takesIds })
      const chunks = await chunksOf(client, request({ stream }))
      expect(chunks.length).toBe(stream ? OUTPUT.length : 1)
      expect(chunks.flatMap(({ tokens }) => [...tokens.ids])).toEqual(OUTPUT)
      expect(chunks.flatMap(({ tokens }) => [...(tokens.logprobs ?? [])])).toEqual([-1, -2, -3])
      // The sampled token is the least likely of three, and two were requested.
      expect(chunks.flatMap(({ tokens }) => [...(tokens.topLogprobs?.ids ?? [])])).toEqual([70, 71, 70, 71, 70, 71])
      expect(chunks[0]?.imageTokens).toEqual([3, 3])
      expect(chunks.at(-1)?.end).toEqual({
        finish: { kind: 'stop', matched: 2 },
        usage: { promptTokens: READ.length, completionTokens: OUTPUT.length },
      })
      expect(chunks.flatMap(({ problems }) => problems)).toEqual([])
    },
  )

  test('has the logprobs of the prompt at the sent ids, unknown for images', async () => {
    const { client } = await start({ takesIds })
    const [chunk] = await chunksOf(client, request({ logprobStartLen: 0, topLogprobsNum: 0 }))
    expect(chunk?.prompt?.logprobs).toEqual([null, -0.01, null, -0.05, null, -0.09, -0.1])
    expect(chunk?.prompt?.problems).toEqual([])
  })

  test('leaves out a sampled token that may not be among the alternatives, if no further one can be requested', async () => {
    const { client } = await start({ takesIds })
    const [chunk] = await chunksOf(client, request({ topLogprobsNum: 20 }))
    // Twenty are requested of a limit of twenty; the server lists three of them.
    expect(chunk?.tokens.topLogprobs?.ids.slice(0, 4)).toEqual([70, 71, 8, -1])
  })

  test.each([
    ['other ids than were sent', { read: READ.with(5, 66) }, 'read other ids than were sent'],
    ['fewer images than were sent', { read: READ.filter((id, index) => id !== PAD || index < 5) }, 'expected 2'],
  ])('that reports %s is refused', async (_what, vision, message) => {
    const { client } = await start({ takesIds, ...vision })
    await expect(chunksOf(client, request())).rejects.toMatchObject({
      code: 'INCONSISTENT',
      message: expect.stringContaining(message),
    })
  })
})

test('A server that ignores the images of /inference/v1/generate is refused, although it reports the sent ids', async () => {
  const { client } = await start({ read: SENT, images: 0 })
  await expect(chunksOf(client, request())).rejects.toMatchObject({
    code: 'INCONSISTENT',
    message: 'the server read 0 images, 2 were sent',
  })
})
