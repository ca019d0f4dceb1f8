/** Tests replies with the JavaScript clients of OpenAI and Anthropic: what they read from a stream is the whole body. */
import Anthropic from '@anthropic-ai/sdk'
import type { Message as AnthropicMessage } from '@anthropic-ai/sdk/resources/messages'
import fc from 'fast-check'
import OpenAI from 'openai'
import type { ChatCompletion } from 'openai/resources/chat/completions'
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import type { ProtocolName, ReplyDelta, SessionCall, SessionReply } from '../call.ts'
import { protocols, type ReplyStream } from './protocol.ts'
import { errorBody } from './refusal.ts'
import { callOf, cutDeltas, letterBytes, replies, withTextSpans } from './test-replies.ts'

/** Returns the events of a stream. */
function streamed(reply: SessionReply, deltas: readonly ReplyDelta[], call: SessionCall): string {
  const stream = protocols[call.protocol].stream(reply, call, letterBytes)
  return stream.begin() + deltas.map((delta) => stream.write(delta)).join('')
}

const answering = (body: string, type: string, status = 200) => ({
  apiKey: 'key',
  baseURL: 'http://127.0.0.1/v1',
  maxRetries: 0,
  fetch: () => Promise.resolve(new Response(body, { status, headers: { 'content-type': type } })),
})

const openAi = (body: string, status?: number) =>
  new OpenAI(answering(body, status ? 'application/json' : 'text/event-stream', status))
const anthropic = (body: string, status?: number) =>
  new Anthropic(answering(body, status ? 'application/json' : 'text/event-stream', status))

const message = { role: 'user', content: 'hi' } as const

/** Reads a stream with the protocol's own client. */
const READERS: Readonly<Record<ProtocolName, (events: string) => Promise<unknown>>> = {
  chat: readChat,
  messages: (events) =>
    anthropic(events)
      .messages.stream({ model: 'tiny', max_tokens: 9, messages: [message] })
      .finalMessage(),
  responses: (events) => openAi(events).responses.stream({ model: 'tiny', input: 'hi' }).finalResponse(),
}

/** The client adds up every field of a chunk but the reasoning, which its own type does not have. */
async function readChat(events: string): Promise<unknown> {
  const reasoning: string[] = []
  const stream = openAi(events).chat.completions.stream({ model: 'tiny', messages: [message] })
  stream.on('chunk', ({ choices }) => {
    for (const { index, delta } of choices)
      if ('reasoning_content' in delta) reasoning[index] = (reasoning[index] ?? '') + delta.reasoning_content
  })
  const { choices, ...rest } = await stream.finalChatCompletion()
  return {
    ...rest,
    choices: choices.map(({ message: read, ...choice }) => {
      const thought = reasoning[choice.index]
      return { ...choice, message: { ...read, ...(thought !== undefined && { reasoning_content: thought }) } }
    }),
  }
}

/** Fields that a client adds to what it reads, or that its stream reader leaves out. */
const ADDED = [
  ...['parsed', 'parsed_arguments', 'parsed_output', 'output_text', 'output_parsed', 'output_tokens_details'],
  '_request_id',
]

/** Returns the data that both have. The client of OpenAI reads an empty content as null. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, entry: unknown) =>
      ADDED.includes(key) ? undefined : key === 'content' && entry === '' ? null : entry,
    ),
  )

const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 5 }))

describe.each(['chat', 'messages', 'responses'] as const)('A reply of the protocol %s', (name) => {
  test('is the same for its JavaScript client as a stream and as a whole', async () => {
    await fc.assert(
      fc.asyncProperty(replies(1), cuts, async (reply, cut) => {
        const call = callOf(name, { sampling: { stop: ['END'] } })
        const deltas = cutDeltas(reply, () => cut.next().value as number)
        const read = await READERS[name](streamed(reply, deltas, call))
        expect(plain(read)).toEqual(plain(protocols[name].whole(reply, call, letterBytes)))
      }),
    )
  })
})

test('A chat completion with several choices and logprobs is the same for its client as a stream and as a whole', async () => {
  await fc.assert(
    fc.asyncProperty(replies(3), cuts, fc.constantFrom(0, 1), async (reply, cut, logprobs) => {
      const call = callOf('chat', { n: 3, logprobs })
      const deltas = cutDeltas(reply, () => cut.next().value as number)
      const read = await READERS.chat(streamed(reply, deltas, call))
      expect(plain(read)).toEqual(plain(protocols.chat.whole(reply, call, letterBytes)))
    }),
  )
})

test('A response has the logprobs of its texts, the same for its client as a stream and as a whole', async () => {
  await fc.assert(
    fc.asyncProperty(replies(1).map(withTextSpans), cuts, fc.constantFrom(0, 1), async (reply, cut, logprobs) => {
      const call = callOf('responses', { logprobs })
      const deltas = cutDeltas(reply, () => cut.next().value as number)
      const events = streamed(reply, deltas, call)
      const whole = protocols.responses.whole(reply, call, letterBytes)
      expect(plain(await READERS.responses(events))).toEqual(plain(whole))
      const written = (whole.output as { content?: { logprobs?: object[] }[] }[]).flatMap(({ content = [] }) =>
        content.flatMap((part) => part.logprobs ?? []),
      )
      const spans = reply.choices.flatMap(({ parts }) =>
        parts.flatMap((part) => ('tokens' in part && part.tokens) || []),
      )
      expect(written).toHaveLength(spans.reduce((sum, { start, end }) => sum + end - start, 0))
      const sent = Array.from(events.matchAll(/^data: (.*"response\.output_text\.delta".*)$/gm), ({ 1: json = '' }) =>
        JSON.parse(json),
      )
      expect(sent.flatMap((event) => event.logprobs)).toEqual(written)
    }),
  )
})

describe('A streamed answer that fails', () => {
  const failure = { status: 503, message: 'The server does not answer.' }
  const failed = (name: ProtocolName, write: (stream: ReplyStream) => string): string => {
    const head = { id: 'a1', createdAt: 0, model: 'tiny', promptTokens: 3, cachedTokens: 0 }
    const stream = protocols[name].stream(head, callOf(name), letterBytes)
    return stream.begin() + write(stream)
  }
  const text: ReplyDelta = { kind: 'text', choice: 0, text: 'so far' }

  test.each(['chat', 'messages'] as const)('is an error of the client of %s', async (name) => {
    const events = failed(name, (stream) => stream.keepAlive() + stream.write(text) + stream.fail(failure))
    await expect(READERS[name](events)).rejects.toThrow('The server does not answer.')
  })

  test('is a failed response of the client of responses', async () => {
    const events = failed('responses', (stream) => stream.keepAlive() + stream.write(text) + stream.fail(failure))
    expect(await READERS.responses(events)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'The server does not answer.' },
      output: [{ content: [{ text: 'so far' }] }],
    })
  })
})

describe('An error body', () => {
  const body = (name: ProtocolName, status: number) =>
    JSON.stringify(errorBody(name, { status, message: 'No such tool.', field: 'tool_choice' }))

  test('has the status, the message and the field for the client of OpenAI', async () => {
    const request = openAi(body('chat', 400), 400).chat.completions.create({ model: 'tiny', messages: [message] })
    await expect(request).rejects.toMatchObject({
      status: 400,
      param: 'tool_choice',
      type: 'invalid_request_error',
      message: '400 No such tool.',
    })
  })

  test.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [404, 'not_found_error'],
    [422, 'invalid_request_error'],
    [500, 'api_error'],
    [503, 'overloaded_error'],
  ])('has the type of status %i for the client of Anthropic', async (status, type) => {
    const request = anthropic(body('messages', status), status).messages.create({
      model: 'tiny',
      max_tokens: 9,
      messages: [message],
    })
    await expect(request).rejects.toMatchObject({ status, error: { error: { type, message: 'No such tool.' } } })
  })
})

test('Whole bodies have the types that the clients declare', () => {
  fc.assert(
    fc.property(replies(1), (reply) => {
      const body = (name: ProtocolName) => protocols[name].whole(reply, callOf(name), letterBytes)
      const chat = body('chat') as unknown as ChatCompletion
      const messages = body('messages') as unknown as AnthropicMessage
      const response = body('responses') as unknown as OpenAiResponse
      expect(chat.choices[0]?.message.role).toBe('assistant')
      expect(messages.content).toHaveLength(reply.choices[0]?.parts.length ?? 0)
      expect(response.output).toHaveLength(messages.content.length)
    }),
  )
})
