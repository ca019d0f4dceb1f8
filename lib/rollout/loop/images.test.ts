/** Runs with images over HTTP, against a server that answers as SGLang does for a model that reads images. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import type { ContentPart, Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { imageBoxesOf } from '#lib/trajectory/images/image-boxes.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizerWith } from '#testing/byte-tokenizer.ts'
import { JPEG_URL, PNG_URL } from '#testing/images.ts'
import { call, empty } from '#testing/scripted-rollout.ts'
import { startVisionServer, type VisionServerOptions } from '#testing/sglang/vision-server.ts'
import { visionTemplate } from '#testing/small-templates.ts'
import { calculator } from '../tools/calculator.ts'
import type { CallSettings } from './call-input.ts'
import { type RolloutStart, rollout } from './rollout.ts'

const [START, END, VISION, PAD, VISION_END] = [256, 257, 258, 259, 260]
const TOKENS = ['<|im_start|>', '<|im_end|>', '<|vision_start|>', '<|image_pad|>', '<|vision_end|>']
const tokenizer = byteTokenizerWith(
  'vision',
  TOKENS.map((content, index) => ({ id: START + index, content, special: true })),
  0,
)
/** A template that also prints calls, as the model writes them. */
const callTemplate = visionTemplate.replace(
  '<|im_end|>',
  `{% for call in message.tool_calls or [] %}<tool_call>
{{ call.function | tojson }}
</tool_call>{% endfor %}<|im_end|>`,
)
/** A template that removes the white space around texts. */
const trimming = visionTemplate.replace('{{ message.content }}', '{{ message.content | trim }}')
const textOnly = visionTemplate.replaceAll('<|vision_start|><|image_pad|><|vision_end|>', '')

const reply = (text: string) => [...tokenizer.encode(text), END]
const textOf = (list: readonly number[]) => Buffer.concat(list.map((id) => tokenizer.bytes(id))).toString('utf8')
const png: ContentPart = { type: 'image', image: PNG_URL }
const jpeg: ContentPart = { type: 'image', image: JPEG_URL }
const asks = (...content: readonly ContentPart[]): Message => ({ role: 'user', content })
const text = (words: string): ContentPart => ({ type: 'text', text: words })

interface Play {
  readonly server?: Partial<VisionServerOptions>
  readonly settings?: Partial<CallSettings>
  readonly template?: string
  /** The description of the server. Omitted: it takes images beside ids. */
  readonly described?: Partial<ServerDescription>
}

/** Starts a server, and returns a function that runs turns on a trajectory. */
async function start({ server: options, settings, template: chosen = visionTemplate, described }: Play = {}) {
  const asked: GenerateRequest[] = []
  const server = await startVisionServer({
    placeholderId: PAD,
    replies: [reply('Dots.')],
    textOf,
    positionsOf: ({ type }) => (type === 'image/png' ? 5 : 9),
    ...options,
  })
  const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined, retry: { firstMs: 1 } })
  onTestFinished(server.close)
  onTestFinished(() => client.close())
  let rid = 0
  const play = async (more: Partial<RolloutStart>): Promise<Trajectory> => {
    const fold = createFold()
    const trajectory = more.trajectory ?? {
      ...empty,
      model: {
        ...empty.model,
        ...(options?.contextLength !== undefined && { contextLength: options.contextLength }),
        tokenizer: { name: 'vision', specialIds: [], endOfTurnId: END },
        template: { text: chosen, options: {} },
      },
    }
    const events = rollout(
      { rolloutId: 'r', messages: [], ...more, trajectory },
      {
        sampling: { max_new_tokens: 64 },
        limits: {},
        promptLogprobs: true,
        topLogprobs: 1,
        stream: false,
        ...settings,
      },
      {
        generate: (request, signal) => {
          asked.push(request)
          return client.generate(request, signal)
        },
        serverName: 'vision',
        server: { kind: 'server', version: '0.5.23', incrementalStreaming: false, ...described },
        promptEncoder: { tokenizer, template: chatTemplate(chosen, {}) },
        parser: hermes,
        tools: [calculator],
        now: () => new Date(0),
        elapsedMs: () => 0,
        newRequestId: () => String(rid++).padStart(8, '0'),
      },
      new AbortController().signal,
    )
    for await (const event of events) fold.add(event)
    return fold.trajectory as Trajectory
  }
  return { play, requests: server.requests, asked }
}

const requestOf = (trajectory: Trajectory, index: number) => {
  const segment = trajectory.segments[index]
  return segment?.kind === 'response' ? segment.request : undefined
}

describe('A run with images', () => {
  test('sends one placeholder and one data URL for each image, and records how many tokens the server read', async () => {
    const { play, requests } = await start()
    const trajectory = await play({ messages: [asks(png, text('and'), jpeg, text('?'))] })
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(requests).toHaveLength(1)
    expect(requests[0]?.image_data).toEqual([PNG_URL, JPEG_URL])
    expect(requests[0]?.input_ids).toEqual(trajectory.segments[0]?.ids)
    expect(textOf(requests[0]?.input_ids ?? [])).toBe(
      '<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>and<|vision_start|><|image_pad|><|vision_end|>?<|im_end|>\n<|im_start|>assistant\n',
    )
    expect(requestOf(trajectory, 1)).toMatchObject({
      images: { count: 2, tokens: [5, 9] },
      inputLength: requests[0]?.input_ids.length,
    })
    expect(imageBoxesOf(trajectory, 0).map(({ tokensRead }) => tokensRead)).toEqual([5, 9])
    expect(imageBoxesOf(trajectory, 0).map(({ image }) => image.ok && image.header.type)).toEqual([
      'image/png',
      'image/jpeg',
    ])
  })

  test('has the logprobs of its prompt at the sent ids, unknown for images', async () => {
    const { play } = await start()
    const trajectory = await play({ messages: [asks(png, text('?'))] })
    const [prompt] = trajectory.segments
    const at = prompt?.ids.indexOf(PAD) ?? 0
    const expected = prompt?.ids.map((_, index) =>
      index === 0 || index === at ? null : -(index + (index > at ? 4 : 0)) / 100,
    )
    expect(prompt?.logprobs).toEqual(expected)
    expect(prompt?.topLogprobs?.logprobs).toEqual(expected)
    expect(prompt?.problems).toBeUndefined()
  })

  test('sends all images again in each turn, once each, and scores only the new tokens by the positions of the server', async () => {
    const { play, requests } = await start({
      server: { replies: [reply(call('calculator', { expression: '1+1' })), reply('2.'), reply('Dots.')] },
    })
    const first = await play({ messages: [asks(png, text('?'))] })
    const second = await play({ trajectory: first, messages: [asks(jpeg, text('And this?'))] })
    expect(second.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(requests.map(({ image_data }) => image_data)).toEqual([[PNG_URL], [PNG_URL], [PNG_URL, JPEG_URL]])
    // Four positions more than tokens, from the first image; the request begins one position before the new tokens.
    const before = second.segments.slice(0, 4).reduce((count, segment) => count + segment.ids.length, 0)
    expect(requests[2]?.logprob_start_len).toBe(before + 4 - 1)
    expect(second.segments[4]?.logprobs?.[0]).toBe(-(before + 4) / 100)
    expect(ids(second).slice(0, ids(first).length)).toEqual(ids(first))
    expect(requestOf(second, 5)?.images).toEqual({ count: 2, tokens: [5, 9] })
  })

  test('lowers max_new_tokens to the rest of the context when the refusal shows how many tokens the images have', async () => {
    const { play, asked } = await start({
      server: { contextLength: 200, positionsOf: () => 80 },
      settings: { sampling: { max_new_tokens: 300 } },
    })
    const trajectory = await play({ messages: [asks(png, text('?'))] })
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    const sent = trajectory.segments[0]?.ids.length ?? 0
    expect(asked.map(({ sampling }) => sampling.max_new_tokens)).toEqual([200 - sent, 200 - sent - 79])
    expect(requestOf(trajectory, 1)).toMatchObject({
      images: { count: 1, tokens: [80] },
      samplingParams: { max_new_tokens: 200 - sent - 79 },
    })
  })

  test('ends with the needed tokens if its images leave no room in the context', async () => {
    const { play, asked } = await start({ server: { contextLength: 200, positionsOf: () => 190 } })
    const trajectory = await play({ messages: [asks(png, text('?'))] })
    expect(asked).toHaveLength(1)
    const sent = asked[0]?.inputIds.length ?? 0
    expect(trajectory.outcome).toMatchObject({
      ...{ kind: 'ended', reason: 'context_full' },
      context: { needed: sent + 189 + 64, holds: 200 },
    })
    expect(trajectory.segments).toEqual([])
  })

  test('sends the images of a response that is resumed, and of a streamed one', async () => {
    const { play, requests } = await start({ settings: { stream: true } })
    const whole = await play({ messages: [asks(png, text('?'))] })
    // Scoring is a call of its own.
    expect(requests.map(({ image_data }) => image_data)).toEqual([[PNG_URL], [PNG_URL]])
    expect(requestOf(whole, 1)?.images?.tokens).toEqual([5])
    const [prompt, response] = whole.segments
    if (prompt?.kind !== 'prompt' || response?.kind !== 'response') throw new Error('a run has a prompt and a response')
    const cut: Trajectory = {
      ...whole,
      segments: [
        prompt,
        {
          ...response,
          ids: response.ids.slice(0, 2),
          logprobs: [-1, -1],
          topLogprobs: undefined,
          finish: { kind: 'length' },
        } as typeof response,
      ],
    }
    await play({ trajectory: cut, resumes: true })
    expect(requests[2]?.image_data).toEqual([PNG_URL])
    expect(requests[2]?.input_ids).toEqual([...prompt.ids, ...response.ids.slice(0, 2)])
  })

  test('continues an imported trajectory with repeated placeholders, sending one for each image', async () => {
    const { play, requests } = await start()
    const made = await play({ messages: [asks(png, text('?'))] })
    const [prompt, response] = made.segments
    const repeated = prompt?.ids.flatMap((id) => (id === PAD ? [PAD, PAD, PAD, PAD, PAD] : [id])) ?? []
    const imported = {
      ...made,
      imageData: [PNG_URL],
      segments: [{ kind: 'prompt', ids: repeated, messages: [] }, response],
    } as unknown as Trajectory
    const next = await play({ trajectory: imported, messages: [asks(text('more'))] })
    expect(next.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(requests[1]?.image_data).toEqual([PNG_URL])
    expect(requests[1]?.input_ids.filter((id) => id === PAD)).toHaveLength(1)
    expect(next.segments[0]?.ids).toEqual(repeated)
  })
})

describe('A run with images that cannot be sent', () => {
  const outcomeOf = async (play: Play, message: Message) => {
    const { play: run, requests } = await start(play)
    const { outcome, segments } = await run({ messages: [message] })
    return { requests: requests.length, segments: segments.length, ...(outcome.kind === 'failed' && outcome) }
  }

  test('ends before its request if the template writes no placeholder, with both numbers', async () => {
    const message = asks(png, text('?'))
    expect(await outcomeOf({ template: textOnly }, message)).toEqual({
      requests: 0,
      segments: 0,
      kind: 'failed',
      code: 'IMAGE_PLACEHOLDERS',
      message: 'the prompt has 0 image placeholders, expected 1, one for each image',
      hint: expect.stringContaining('Choose the tokenizer of a model that reads images'),
      unsent: [message],
    })
  })

  test('ends before its request if a text contains a placeholder, with both numbers', async () => {
    expect(await outcomeOf({}, asks(png, text('<|image_pad|>')))).toMatchObject({
      requests: 0,
      code: 'IMAGE_PLACEHOLDERS',
      message: 'the prompt has 2 image placeholders, expected 1, one for each image',
      hint: expect.stringContaining('Remove it from the text'),
    })
  })

  test('ends before its request if an image is only an address, which is not fetched', async () => {
    expect(await outcomeOf({}, asks({ type: 'image', reference: 'https://a/b.png' }, text('?')))).toMatchObject({
      requests: 0,
      code: 'IMAGE_REFUSED',
      message: expect.stringContaining('only its address or path: https://a/b.png. Addresses are never fetched.'),
    })
  })

  test('ends at the reply if the server reports other ids than were sent', async () => {
    const merged = (list: readonly number[]) => list.map((id) => (id === VISION_END ? VISION : id))
    expect(await outcomeOf({ server: { encodesAgain: merged } }, asks(png, text('?')))).toMatchObject({
      requests: 1,
      segments: 0,
      code: 'INCONSISTENT',
      message: expect.stringMatching(/^the server read other ids than were sent: 258 in place of 260 at position 8\./),
    })
  })
})

test('A run with images on a server that does not report its ids has a note, and the length of its only image', async () => {
  const { play } = await start({ server: { reportsIds: false }, settings: { promptLogprobs: false } })
  const trajectory = await play({ messages: [asks(png, text('?'))] })
  expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
  expect(requestOf(trajectory, 1)?.images).toEqual({ count: 1, tokens: [5] })
  expect(trajectory.segments[1]?.problems).toEqual([
    { kind: 'missing', message: expect.stringContaining('does not report the ids of a prompt with images') },
  ])
})

describe('A run with images on a server that takes them in messages only', () => {
  const inMessages = { capabilities: { ...ENGINE_CAPABILITIES.vllm, imagesInMessages: true } }
  const asking = async (play: Play = {}) => {
    const { play: run, asked } = await start({ ...play, described: inMessages })
    return { run, asked }
  }

  test('gives it the whole conversation with the images, whose render has the ids of the call', async () => {
    const written = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "1+1"}}\n</tool_call>'
    const { run, asked } = await asking({
      server: { replies: [reply(written), reply('2.'), reply('Dots.')] },
      template: callTemplate,
    })
    const first = await run({ messages: [asks(png, text('?'))] })
    const second = await run({ trajectory: first, messages: [asks(text('And '), jpeg)] })
    expect(second.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(asked.at(-1)?.images?.conversation).toEqual({
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: PNG_URL } }, text('?')] },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            {
              id: expect.any(String),
              type: 'function',
              function: { name: 'calculator', arguments: '{"expression":"1+1"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: expect.any(String), content: '2' },
        { role: 'assistant', content: '2.' },
        { role: 'user', content: [text('And '), { type: 'image_url', image_url: { url: JPEG_URL } }] },
      ],
      tools: second.model.tools,
      templateOptions: {},
    })
    // A server that takes images beside ids needs no messages.
    const beside = await start()
    await beside.play({ messages: [asks(png)] })
    expect(beside.asked.at(-1)?.images?.conversation).toBeUndefined()
  })

  test('ends before a request whose conversation would be rendered with other ids, and says where they differ', async () => {
    // The model wrote “Dots.” as bytes with a space that the parser of messages removes.
    const { run, asked } = await asking({ template: trimming, server: { replies: [reply(' Dots.')] } })
    const first = await run({ messages: [asks(png, text('?'))] })
    expect(first.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    const at = ids(first).length - reply('Dots.').length - 1
    const { outcome, segments } = await run({ trajectory: first, messages: [asks(text('more'))] })
    expect(asked).toHaveLength(1)
    expect(segments).toHaveLength(2)
    expect(outcome).toMatchObject({
      kind: 'failed',
      code: 'IMAGES_IN_MESSAGES',
      message: `vLLM takes images in messages only here. It would render and encode the conversation again, with the token id ${'D'.charCodeAt(0)} in place of ${' '.charCodeAt(0)} at position ${at}, so the run would not be token-in/token-out.`,
      hint: expect.stringContaining('--enable-scale-out'),
      unsent: [asks(text('more'))],
    })
  })

  test('ends before a request whose prompt is not made of messages', async () => {
    const { run, asked } = await asking()
    const first = await run({ messages: [asks(png, text('?'))] })
    const [prompt, response] = first.segments
    const imported = {
      ...first,
      imageData: [PNG_URL],
      segments: [{ kind: 'prompt', ids: prompt?.ids, messages: [] }, response],
    } as unknown as Trajectory
    const { outcome } = await run({ trajectory: imported, messages: [asks(text('more'))] })
    expect(asked).toHaveLength(1)
    expect(outcome).toMatchObject({
      code: 'IMAGES_IN_MESSAGES',
      message: expect.stringContaining('not made of messages alone'),
    })
  })

  test('ends before a request whose whole conversation the template refuses', async () => {
    const once = `{% if messages|length > 2 and messages[2].content == 'more' %}{{ raise_exception('too long') }}{% endif %}${visionTemplate}`
    const { run, asked } = await asking({ template: once })
    const first = await run({ messages: [asks(png, text('?'))] })
    const { outcome } = await run({ trajectory: first, messages: [asks(text('more'))] })
    expect(asked).toHaveLength(1)
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('too long') })
  })
})
