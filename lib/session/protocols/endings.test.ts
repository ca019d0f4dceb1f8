/** Tests how the protocols write replies that end in different ways, and what has no value. */
import { describe, expect, test } from 'vitest'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'
import type { ProtocolName, ReplyDelta, ReplyPart, SessionCall, SessionReply } from '../call.ts'
import { messagesIn } from './fields.ts'
import { protocols } from './protocol.ts'
import { type CallFailure, CallRefusal, errorBody } from './refusal.ts'
import { replyDeltas } from './reply-parts.ts'
import { callOf, letterBytes } from './test-replies.ts'

const CALL: ReplyPart = { kind: 'call', id: 'c1', name: 'add', arguments: '{}' }

const replyOf = (finish: Finish, parts: readonly ReplyPart[] = []): SessionReply => ({
  id: 'a1',
  createdAt: 5000,
  model: 'tiny',
  promptTokens: 3,
  cachedTokens: 1,
  choices: [{ parts, finish, tokens: { ids: [0] } }],
  usage: { promptTokens: 3, cachedTokens: 1, completionTokens: 1, reasoningTokens: 0 },
})

/** Returns the data of all events of a stream but the last one of chat completions, which is no JSON. */
function eventsOf(reply: SessionReply, call: SessionCall, deltas: readonly ReplyDelta[] = replyDeltas(reply)) {
  const stream = protocols[call.protocol].stream(reply, call, letterBytes)
  const text = stream.begin() + deltas.map((delta) => stream.write(delta)).join('')
  return Array.from(text.matchAll(/^data: (\{.*)$/gm), ({ 1: json = '' }) => JSON.parse(json))
}

describe('A reply', () => {
  const ABORT: Finish = { kind: 'abort', message: 'out of memory' }
  const CUT: Finish = { kind: 'unknown', raw: 'odd' }

  test.each([
    ['chat', { kind: 'stop' }, { choices: [{ finish_reason: 'stop' }] }],
    ['chat', { kind: 'length' }, { choices: [{ finish_reason: 'length' }] }],
    ['chat', ABORT, { choices: [{ finish_reason: 'abort' }] }],
    ['messages', { kind: 'stop', matched: 7 }, { stop_reason: 'end_turn', stop_sequence: null }],
    ['messages', { kind: 'stop', matched: 'END' }, { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['messages', { kind: 'stop', matched: '[a-z]+' }, { stop_reason: 'end_turn', stop_sequence: null }],
    ['messages', { kind: 'length' }, { stop_reason: 'max_tokens' }],
    ['messages', ABORT, { stop_reason: null }],
    ['responses', { kind: 'stop' }, { status: 'completed', error: null, completed_at: 5 }],
    ['responses', { kind: 'length' }, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['responses', ABORT, { status: 'failed', error: { message: 'The reply was aborted: out of memory' } }],
    ['responses', CUT, { status: 'failed', error: { message: 'The reply was aborted.' }, completed_at: null }],
  ] as const)('of %s that ended with %j says so', (name, finish, expected) => {
    const call = callOf(name, { sampling: { stop: ['END'] } })
    expect(protocols[name].whole(replyOf(finish), call, letterBytes)).toMatchObject(expected)
  })

  test.each([
    ['chat', { choices: [{ finish_reason: 'tool_calls', message: { content: null } }] }],
    ['messages', { stop_reason: 'tool_use' }],
    ['responses', { status: 'completed', output: [{ type: 'function_call', call_id: 'c1' }] }],
  ] as const)('of %s with a call has the reason of a call', (name, expected) => {
    expect(protocols[name].whole(replyOf({ kind: 'stop' }, [CALL]), callOf(name), letterBytes)).toMatchObject(expected)
  })

  test('of responses repeats the settings of its request', () => {
    const body = {
      instructions: 'Be brief.',
      reasoning: { effort: 'low' },
      tools: [{}],
      metadata: { a: 'b' },
      user: 'u',
    }
    const call = callOf('responses', { body, sampling: { max_new_tokens: 5, temperature: 0, top_p: 0.5 } })
    expect(protocols.responses.whole(replyOf({ kind: 'stop' }), call, letterBytes)).toMatchObject({
      ...body,
      reasoning: { effort: 'low', summary: null },
      max_output_tokens: 5,
      temperature: 0,
      top_p: 0.5,
    })
  })
})

test('A call that was cut after its beginning has its text in OpenAI’s protocols, and no input in that of Anthropic', () => {
  const whole = (name: ProtocolName) =>
    protocols[name].whole(
      replyOf({ kind: 'length' }, [{ kind: 'call', id: 'c1', name: 'add', arguments: '{"a":' }]),
      callOf(name),
      letterBytes,
    )
  expect(whole('chat')).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: { arguments: '{"a":' } }] } }],
  })
  expect(whole('responses')).toMatchObject({ output: [{ arguments: '{"a":' }] })
  expect(whole('messages')).toMatchObject({ stop_reason: 'max_tokens', content: [{ name: 'add', input: {} }] })
})

test('A call has the numbers that the model wrote, also in the object of Anthropic’s protocol', () => {
  const written = '{"a":12345678901234567890,"b":[1.0,-0.0],"c":7}'
  const reply = replyOf({ kind: 'stop' }, [{ kind: 'call', id: 'c1', name: 'add', arguments: written }])
  expect(JSON.stringify(protocols.messages.whole(reply, callOf('messages'), letterBytes))).toContain(
    `"input":${written}`,
  )
})

describe('A stream', () => {
  test('of chat completions has counts only on request, and ends with [DONE]', () => {
    const reply = replyOf({ kind: 'stop' }, [{ kind: 'text', text: 'hi' }])
    const usages = (includeUsage: boolean) =>
      eventsOf(reply, callOf('chat', { includeUsage })).map(({ usage }: { usage?: object | null }) => usage)
    expect(usages(false)).toEqual([undefined, undefined, undefined])
    expect(usages(true)).toEqual([null, null, null, expect.objectContaining({ total_tokens: 4 })])
    const stream = protocols.chat.stream(reply, callOf('chat', { includeUsage: false }), letterBytes)
    expect(stream.write({ kind: 'usage', usage: reply.usage })).toBe('data: [DONE]\n\n')
  })

  test('of chat completions has thinking in lines, and unknown logprobs as the smallest', () => {
    const parts: ReplyPart[] = [
      { kind: 'reasoning', text: 'one' },
      { kind: 'text', text: 'hi' },
      { kind: 'reasoning', text: 'two' },
    ]
    const chunks = eventsOf(replyOf({ kind: 'stop' }, parts), callOf('chat', { logprobs: 1 }))
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta))
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'one' },
      { content: 'hi' },
      { reasoning_content: '\ntwo' },
      {},
    ])
    expect(chunks[1].choices[0].logprobs.content).toEqual([
      { token: 'a', logprob: -9999, bytes: [97], top_logprobs: [] },
    ])
  })

  test.each(['messages', 'responses'] as const)('of %s closes what is open when it ends without a reason', (name) => {
    const reply = replyOf({ kind: 'stop' })
    const deltas: readonly ReplyDelta[] = [
      { kind: 'text', choice: 0, text: 'so far' },
      { kind: 'usage', usage: reply.usage },
    ]
    const types = eventsOf(reply, callOf(name), deltas).map(({ type }: { type: string }) => type)
    expect(types.slice(-3)).toEqual(
      name === 'messages'
        ? ['content_block_stop', 'message_delta', 'message_stop']
        : ['response.content_part.done', 'response.output_item.done', 'response.failed'],
    )
  })

  test('of responses numbers its events and names its items', () => {
    const parts: ReplyPart[] = [{ kind: 'reasoning', text: 'so' }, CALL]
    const events = eventsOf(replyOf({ kind: 'stop' }, parts), callOf('responses'))
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    expect(events.map(({ type, item_id: id }: { type: string; item_id?: string }) => [type, id])).toEqual([
      ['response.created', undefined],
      ['response.in_progress', undefined],
      ['response.output_item.added', undefined],
      ['response.content_part.added', 'rs_a1_0'],
      ['response.reasoning_text.delta', 'rs_a1_0'],
      ['response.reasoning_text.done', 'rs_a1_0'],
      ['response.content_part.done', 'rs_a1_0'],
      ['response.output_item.done', undefined],
      ['response.output_item.added', undefined],
      ['response.function_call_arguments.delta', 'fc_a1_1'],
      ['response.function_call_arguments.done', 'fc_a1_1'],
      ['response.output_item.done', undefined],
      ['response.completed', undefined],
    ])
  })

  test.each(['chat', 'messages', 'responses'] as const)('of %s has its own event for waiting', (name: ProtocolName) => {
    const waiting = protocols[name].stream(replyOf({ kind: 'stop' }), callOf(name), letterBytes).keepAlive()
    expect(waiting).toBe(name === 'messages' ? 'event: ping\ndata: {"type":"ping"}\n\n' : ': waiting\n\n')
  })
})

test('Arguments of no call are no event of a stream of responses', () => {
  const stream = protocols.responses.stream(replyOf({ kind: 'stop' }), callOf('responses'), letterBytes)
  expect(() => stream.write({ kind: 'arguments', choice: 0, call: 0, text: '{' })).toThrow('follow the start')
})

test('A response without requested logprobs has none, also if its texts name their tokens', () => {
  const reply = replyOf({ kind: 'stop' }, [{ kind: 'text', text: 'a', tokens: { start: 0, end: 1 } }])
  const { output } = protocols.responses.whole(reply, callOf('responses'), letterBytes)
  expect(output).toMatchObject([{ content: [{ type: 'output_text', text: 'a', logprobs: [] }] }])
})

test('An error body has the code of a wrong key, and the class of an unlisted status', () => {
  const error = (name: ProtocolName, status: number) => errorBody(name, { status, message: 'no' })
  expect(error('chat', 401)).toEqual({
    error: { message: 'no', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
  })
  expect(error('responses', 502)).toEqual({ error: { message: 'no', type: 'server_error', param: null, code: null } })
  expect(error('messages', 418)).toMatchObject({ error: { type: 'invalid_request_error' } })
})

describe('A call that does not fit into the context', () => {
  const failure = { status: 400, message: 'Shorten it.', context: { needed: 900, holds: 512 } }
  const text = "This model's maximum context length is 512 tokens. Shorten it."

  test.each([
    ['chat', 'messages'],
    ['responses', 'input'],
  ] as const)('has the code of OpenAI in %s', (name, param) => {
    expect(errorBody(name, failure)).toEqual({
      error: { message: text, type: 'invalid_request_error', param, code: 'context_length_exceeded' },
    })
    expect(errorBody(name, { ...failure, context: {} })).toMatchObject({
      error: { message: 'Shorten it.', code: 'context_length_exceeded' },
    })
  })

  test('has the text of Anthropic in messages', () => {
    expect(errorBody('messages', failure)).toMatchObject({
      error: { type: 'invalid_request_error', message: 'prompt is too long: 900 tokens > 512 maximum' },
    })
    expect(errorBody('messages', { ...failure, context: { holds: 512 } })).toMatchObject({
      error: { message: 'prompt is too long: Shorten it.' },
    })
  })

  test('ends streams with the same error', () => {
    const fails = (name: ProtocolName, one: CallFailure) =>
      protocols[name].stream(replyOf({ kind: 'stop' }), callOf(name), letterBytes).fail(one)
    expect(fails('chat', failure)).toContain('"code":"context_length_exceeded"')
    expect(fails('messages', failure)).toContain('prompt is too long: 900 tokens > 512 maximum')
    expect(fails('responses', failure)).toContain('"error":{"code":"context_length_exceeded"')
    expect(fails('responses', { status: 502, message: 'no' })).toContain('"error":{"code":"server_error"')
  })
})

// Copying the logprobs of all pieces for each one would take minutes.
test('A long text with logprobs is streamed in linear time', () => {
  const stream = protocols.responses.stream(
    replyOf({ kind: 'stop' }),
    callOf('responses', { logprobs: 0 }),
    letterBytes,
  )
  const last = Array.from({ length: 100_000 }, (_, index) => {
    stream.write({ kind: 'tokens', choice: 0, tokens: { ids: [index], logprobs: [-1] } })
    return stream.write({ kind: 'text', choice: 0, text: 'a', tokens: { start: index, end: index + 1 } })
  }).at(-1)
  expect(last).toContain('"logprob":-1')
})

test('A value that is no message is refused', () => {
  expect(() => messagesIn(7)).toThrow(CallRefusal)
  const result = { role: 'tool', tool_call_id: 'c', content: '4' }
  expect(messagesIn({ ...result, name: 'add' })).toEqual(messagesIn(result))
})

test('A text of 150,000 tokens with logprobs may arrive at once', () => {
  const tokens = 150_000
  const stream = protocols.responses.stream(
    replyOf({ kind: 'stop' }),
    callOf('responses', { logprobs: 0 }),
    letterBytes,
  )
  const all = { ids: Array.from({ length: tokens }, () => 0), logprobs: Array.from({ length: tokens }, () => -1) }
  stream.write({ kind: 'tokens', choice: 0, tokens: all })
  const text = stream.write({ kind: 'text', choice: 0, text: 'a'.repeat(tokens), tokens: { start: 0, end: tokens } })
  expect(text.match(/"logprob":-1,/g)).toHaveLength(tokens)
})
