/** Compares replies of OpenAI's Responses and Batch APIs with what its classes read (lib/formats/golden/writers/make_openai.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { openText } from '../reading/open.ts'
import { formatOf } from '../registry.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { batch, batchRequests } from './batch.ts'
import { chatCompletion } from './chat-completion.ts'
import { responses } from './responses.ts'
import { streamedResponses } from './responses-stream.ts'
import { fileSource, foreignRecords } from './test-files.ts'

interface Reply {
  readonly text?: string
  readonly texts?: readonly string[]
  readonly reasoning?: readonly string[]
  readonly calls: readonly (readonly [id: string, name: string, input: string])[]
  readonly prompt: number | null
  readonly completion: number | null
  readonly cached: number | null
}
const golden = JSON.parse(readFileSync('lib/formats/golden/openai.json', 'utf8')) as {
  readonly responses: readonly Reply[]
  readonly batch: Readonly<Record<string, Reply>>
  readonly streams: readonly Reply[]
}

const replies = ({ segments }: Trajectory) =>
  segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))
const roles = (trajectory: Trajectory) => conversation(trajectory).map(({ role }) => role)

function expectReply(
  { message = {}, usage }: ReturnType<typeof replies>[number],
  reply: Reply,
  content = reply.text,
): void {
  const read = assistantMessage(message)
  expect(read.content).toBe(content)
  expect(read.reasoning ?? '').toBe((reply.reasoning ?? []).join('\n'))
  expect(read.toolCalls ?? []).toEqual(reply.calls.map(([id, name, input]) => ({ id, name, input: JSON.parse(input) })))
  expect([usage?.promptTokens, usage?.completionTokens, usage?.cachedTokens].map((count) => count ?? null)).toEqual([
    reply.prompt,
    reply.completion,
    reply.cached,
  ])
}

describe('The Responses API', () => {
  const records = foreignRecords('openai-responses-api.jsonl') as readonly {
    readonly request: object
    readonly response: { readonly id: string; readonly output: readonly object[] }
  }[]

  test('chains the responses of a file by previous_response_id, and keeps two answers to one question apart', () => {
    expect(formatOf(records[0])).toBe(responses)
    const [first, second, ...others] = trajectoriesOf(responses, records, fileSource('responses')) as [
      Trajectory,
      Trajectory,
    ]
    expect(others).toEqual([])
    const asked = ['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user', 'assistant']
    expect([roles(first), roles(second)]).toEqual([asked, asked])
    for (const [index, reply] of [...replies(first), ...replies(second)].entries())
      expectReply(reply, golden.responses[index] as Reply)
    expect(first).toMatchObject({
      outcome: { reason: 'length' },
      createdAt: '2025-11-24T16:00:01.000Z',
      model: { name: 'gpt-5-mini', tools: [{ name: 'calculator', inputSchema: { required: ['expression'] } }] },
      provenance: {
        lacked: ['ids of the tokens with logprobs: these are kept unread'],
        missing: ['ids', 'mask', 'logprobs', 'special_tokens'],
      },
    })
    expect(second.outcome).toEqual({ kind: 'ended', reason: 'aborted' })
    expect(replies(second)[0]?.finish).toEqual({ kind: 'abort', message: 'The model could not be loaded.' })
    expect(JSON.stringify(first)).toContain('"encrypted_content":"gAAAAA=="')
    expect(first.foreign?.responses).not.toHaveProperty('calls[0].tools')
  })

  test('opens a response without its request, and says which messages the file lacks', () => {
    const [, { response }] = records as [unknown, (typeof records)[number]]
    const trajectory = trajectoryOf(responses, response)
    expect(roles(trajectory)).toEqual(['system', 'assistant'])
    expect(trajectory.provenance).toMatchObject({
      lacked: expect.arrayContaining(['messages of the prompt', 'messages before those of the request']),
    })
    expect(trajectory.foreign?.responses).toMatchObject({ calls: [{ request: { temperature: 1 }, id: 'resp_2' }] })
  })

  test('keeps responses without ids apart', () => {
    const records = ['a', 'b'].map((content) => ({ object: 'response', output: [{ role: 'assistant', content }] }))
    expect(trajectoriesOf(responses, records).map(roles)).toEqual([['assistant'], ['assistant']])
  })

  test('opens a request, and a list of items as one conversation', () => {
    const items = foreignRecords('openai-items.json')[0] as readonly object[]
    const asked = ['user', 'assistant', 'tool', 'tool', 'assistant']
    const request = { model: 'm', instructions: 'Be brief.', input: items, tools: [{ type: 'web_search' }], top_p: 1 }
    expect(formatOf(request)).toBe(responses)
    const trajectory = trajectoryOf(responses, [request])
    expect(roles(trajectory)).toEqual(['system', ...asked])
    expect(trajectory).toMatchObject({ model: { name: 'm', tools: [] }, foreign: { responses: { top_p: 1 } } })
    for (const text of [JSON.stringify(items), items.map((item) => JSON.stringify(item)).join('\n')]) {
      const opened = openText(text, fileSource('items'))
      expect(opened.ok && opened.trajectories.map(roles)).toEqual([asked])
      expect(opened.ok && opened.failed).toEqual([])
    }
    const lines = openText(`${JSON.stringify(items)}\n${JSON.stringify(items)}`, fileSource('items'))
    expect(lines.ok && lines.trajectories.map(roles)).toEqual([asked, asked])
  })

  const reply = (more: object) => ({ object: 'response', id: 'r', output: [], ...more })

  test('has the ids that vLLM returns beside the messages, with the logprobs of the text', () => {
    const raw = (tokens: readonly number[]) => [{ type: 'raw_message_tokens', message: 'x', tokens }]
    const entry = (token: string) => ({ token, logprob: -1, bytes: [97] })
    const text = { type: 'output_text', text: 'ab', logprobs: [entry('a'), entry('a')] }
    const output = [{ type: 'message', role: 'assistant', content: [text] }]
    const whole = reply({ output, input_messages: raw([1, 2]), output_messages: raw([3, 4]), status: 'completed' })
    expect(trajectoryOf(responses, { request: { input: 'q', temperature: 0.5 }, response: whole })).toMatchObject({
      segments: [
        { ids: [1, 2], messages: [{ role: 'user', content: 'q' }] },
        { ids: [3, 4], logprobs: [-1, -1], request: { inputLength: 2, samplingParams: { temperature: 0.5 } } },
      ],
      columnMeanings: { logprobs: { engine: 'vllm', values: 'raw', temperature: 0.5 } },
      outcome: { reason: 'end_turn' },
    })
    expect(refusalOf(responses, reply({ output_messages: raw([-1]) }))).toMatchObject({
      path: 'output_messages[0].tokens[0]',
    })
  })

  test('says how a response ended', () => {
    const finish = (more: object) => replies(trajectoryOf(responses, reply(more)))[0]?.finish
    expect(
      [
        { status: 'cancelled' },
        { status: 'failed' },
        { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
        { status: 'queued' },
        {},
      ].map(finish),
    ).toEqual([
      { kind: 'abort' },
      { kind: 'abort' },
      { kind: 'unknown', raw: 'content_filter' },
      { kind: 'unknown', raw: 'queued' },
      undefined,
    ])
  })

  test('keeps results of tools that the server executed, and its tools without names', () => {
    const output = [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: { a: 1 } },
      { type: 'message', role: 'assistant', content: 'done' },
    ]
    const trajectory = trajectoryOf(responses, reply({ output, tools: [{ type: 'web_search' }], instructions: null }))
    expect(conversation(trajectory)).toMatchObject([
      { role: 'assistant', toolCalls: [{ id: 'c', name: 'f' }] },
      { role: 'tool', callId: 'c', content: '{"a":1}' },
      { role: 'assistant', content: 'done' },
    ])
    expect(trajectory.foreign?.responses).toMatchObject({ calls: [{ tools: [{ type: 'web_search' }] }] })
  })

  test('opens a reply in the form of chat completions between items, and a request of one text', () => {
    const output = [{ role: 'assistant', content: 'done', tool_calls: [] }]
    expect(conversation(trajectoryOf(responses, { object: 'response', output }))).toMatchObject([{ content: 'done' }])
    const trajectory = trajectoryOf(batchRequests, [{ custom_id: 'a', body: { input: 'q' } }])
    expect(conversation(trajectory)).toEqual([{ role: 'user', content: 'q' }])
  })

  test('refuses items that are none, at their path', () => {
    expect(refusalOf(responses, [reply({}), reply({ output: [7] })])).toMatchObject({ path: '[1].output' })
    expect(refusalOf(responses, { request: { input: 7 }, response: reply({}) })).toMatchObject({
      path: 'response.request.input',
    })
    expect(
      [7, { model: 'm', input: 'text' }, { model: 'm', input: [] }, { model: 'm', input: [7] }].map(responses.sniff),
    ).toEqual([false, false, false, false])
  })
})

describe('Streams of the Responses API', () => {
  const events = foreignRecords('openai-responses-events.jsonl') as readonly { readonly type: string }[]

  const replyOf = (trajectory: Trajectory) => elementAt(replies(trajectory), 0)
  const messageOf = (trajectory: Trajectory) => assistantMessage(replyOf(trajectory).message ?? {})

  test('are the replies of their last events, or what arrived before the connection broke', () => {
    expect(formatOf(events[0])).toBe(streamedResponses)
    const trajectories = trajectoriesOf(streamedResponses, events, fileSource('events'))
    expect(trajectories).toHaveLength(golden.streams.length)
    for (const [index, reply] of golden.streams.entries()) expectReply(replyOf(elementAt(trajectories, index)), reply)
    expect(trajectories.map((one) => replyOf(one).finish)).toEqual([
      { kind: 'stop' },
      { kind: 'unknown', raw: 'in_progress' },
    ])
    expect(trajectories.map(({ model }) => model.name)).toEqual(['gpt-5-mini', 'gpt-5-mini'])
  })

  test('open from JSON lines', () => {
    const [first] = golden.streams
    const opened = openText(events.map((event) => JSON.stringify(event)).join('\n'), fileSource('events'))
    expect(opened.ok && opened.failed).toEqual([])
    expect(opened.ok && opened.trajectories.map((one) => messageOf(one).toolCalls?.length ?? 0)).toEqual([
      first?.calls.length,
      0,
    ])
  })

  const created = {
    type: 'response.created',
    sequence_number: 0,
    response: { object: 'response', id: 'r', output: [] },
  }
  const added = (item: object, output_index = 0) => ({ type: 'response.output_item.added', output_index, item })
  const delta = (name: string, text: string, more = {}) => ({
    type: `response.${name}.delta`,
    output_index: 0,
    delta: text,
    ...more,
  })

  test('that were cut have the beginnings of refusals, reasoning and arguments', () => {
    const cut = (...own: readonly object[]) => messageOf(trajectoryOf(streamedResponses, [created, ...own]))
    expect(
      cut(
        added({ type: 'message', role: 'assistant', content: [] }),
        delta('refusal', 'I can', { content_index: 0 }),
        delta('refusal', 'not', { content_index: 0 }),
      ).content,
    ).toEqual([{ type: 'refusal', refusal: 'I cannot' }])
    expect(
      cut(
        {
          type: 'response.output_item.done',
          output_index: 2,
          item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Whole.' }] },
        },
        added({ type: 'custom_tool_call', call_id: 'c', name: 'f', input: '' }, 1),
        { ...delta('custom_tool_call_input', 'a b'), output_index: 1 },
        added({ type: 'reasoning', summary: [] }),
        delta('reasoning_summary_text', 'First.', { summary_index: 0 }),
        delta('reasoning_summary_text', 'Second.', { summary_index: 1 }),
      ),
    ).toMatchObject({
      content: 'Whole.',
      reasoning: 'First.\nSecond.',
      toolCalls: [{ id: 'c', name: 'f', input: 'a b' }],
    })
    expect(
      cut(
        added({ type: 'reasoning', summary: [] }),
        delta('reasoning_text', 'Raw', { content_index: 0 }),
        delta('output_text', 'of no item', { output_index: 1 }),
      ).reasoning,
    ).toBe('Raw')
  })

  test('that a server ended with an error have its message, also without their beginning', () => {
    const error = { type: 'error', sequence_number: 3, code: 'server_error', message: 'Overloaded', param: null }
    const keepalive = { type: 'keepalive', sequence_number: 2 }
    expect(replyOf(trajectoryOf(streamedResponses, [created, keepalive, error])).finish).toEqual({
      kind: 'abort',
      message: 'Overloaded',
    })
    expect(replyOf(trajectoryOf(streamedResponses, [error])).finish).toEqual({ kind: 'abort', message: 'Overloaded' })
    expect([{ type: 'error', error: {} }, { type: 7 }, 7].map(streamedResponses.sniff)).toEqual([false, false, false])
  })
})

describe('A batch', () => {
  const output = foreignRecords('openai-batch-output.jsonl') as readonly { readonly custom_id: string }[]
  const input = foreignRecords('openai-batch-input.jsonl') as readonly object[]
  const texts = (records: readonly object[]) => records.map((record) => JSON.stringify(record)).join('\n')
  const FAILURES = [
    "line 4: response: expected a reply with status 200, found unsupported_value: Unsupported value: 'temperature' does not support 3.",
    'line 5: response: expected a reply with status 200, found batch_expired: This request could not be executed before the completion window expired.',
  ]

  test('has a trajectory for each choice of each reply, and names each request that failed', () => {
    const opened = openText(texts(output), fileSource('output'))
    if (!opened.ok) throw new Error(opened.error.message)
    expect([opened.format, opened.failed.map(({ message }) => message)]).toEqual([batch, FAILURES])
    expect(opened.failed[0]?.hint).toContain('send it again')
    expect(opened.trajectories.map(({ title }) => title)).toEqual(['task-2', 'task-2', 'task-1', 'task-3'])
    expect(opened.trajectories.map(({ group }) => group?.index)).toEqual([0, 1, undefined, undefined])
    for (const [index, trajectory] of opened.trajectories.entries()) {
      const reply = golden.batch[trajectory.title ?? ''] as Reply
      for (const one of replies(trajectory)) expectReply(one, reply, reply.texts?.[index === 1 ? 1 : 0] ?? reply.text)
    }
  })

  test('with its requests before the output has their messages, also those of requests that failed or have no reply', () => {
    const unanswered = {
      custom_id: 'last',
      method: 'POST',
      url: '/v1/completions',
      body: { model: 'm', prompt: 'Say', n: 1 },
    }
    const lines = [...input, unanswered, ...output, { ...output[1], custom_id: 'other' }]
    const opened = openText(texts(lines), fileSource('both'))
    if (!opened.ok) throw new Error(opened.error.message)
    expect([opened.format, opened.failed]).toEqual([batchRequests, []])
    expect(opened.trajectories.map((trajectory) => [trajectory.title, roles(trajectory)])).toEqual([
      ['task-1', ['system', 'user', 'assistant']],
      ['task-2', ['user', 'assistant']],
      ['task-2', ['user', 'assistant']],
      ['task-3', ['system', 'user', 'assistant']],
      ['task-4', ['user']],
      ['task-5', ['user']],
      ['last', ['user']],
      ['other', ['assistant']],
    ])
    expect(opened.trajectories.slice(4, 7).map(({ outcome }) => outcome)).toEqual([
      { kind: 'failed', code: 'unsupported_value', message: "Unsupported value: 'temperature' does not support 3." },
      { kind: 'failed', code: 'batch_expired', message: expect.stringContaining('completion window') },
      { kind: 'ended', reason: 'unknown' },
    ])
    expect(opened.trajectories[0]?.model.tools).toMatchObject([{ name: 'calculator' }])
    expect(opened.trajectories[6]?.foreign).toMatchObject({ 'batch-requests': { n: 1, url: '/v1/completions' } })
  })

  const result = (value: object) => ({ custom_id: 'a', result: value })

  test('of Anthropic opens with its messages, and says why a request has no result', () => {
    const message = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
    }
    const request = { custom_id: 'a', params: { model: 'claude', messages: [{ role: 'user', content: 'q' }] } }
    const opened = openText(texts([request, result({ type: 'succeeded', message })]), fileSource('anthropic'))
    expect(opened.ok && opened.trajectories.map(roles)).toEqual([['user', 'assistant']])
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens is missing' } }
    expect(
      [result({ type: 'errored', error }), result({ type: 'expired' })].map((line) => refusalOf(batch, line)),
    ).toEqual([
      { path: 'result', expected: 'a message', found: 'errored: max_tokens is missing' },
      { path: 'result', expected: 'a message', found: 'expired: no reason is given' },
    ])
  })

  const line = (body: unknown, more: object = {}) => ({
    custom_id: 'a',
    response: { status_code: 200, body },
    error: null,
    ...more,
  })

  test('of text completions opens, and one of another endpoint is refused', () => {
    const completion = { choices: [{ text: 'Hi', index: 0, finish_reason: 'stop' }], usage: {} }
    expect(trajectoryOf(batch, line(completion)).title).toBe('a')
    expect(refusalOf(batch, line({ data: [{ embedding: [] }] }))).toMatchObject({
      path: 'response.body',
      expected: 'a reply with messages or texts',
    })
  })

  test('reports errors at their path, and those that are texts or unknown objects', () => {
    expect(refusalOf(batch, line({ choices: [{ message: {} }, 7] }))).toMatchObject({
      path: 'response.body.choices[1]',
    })
    expect(refusalOf(batchRequests, [{ custom_id: 'b', body: {} }])).toMatchObject({ path: 'messages' })
    const failed = { custom_id: 'a', response: { status_code: 400, body: null }, error: 'The model is unknown' }
    expect(refusalOf(batch, failed)).toMatchObject({ found: '400: The model is unknown' })
    expect(refusalOf(batch, { custom_id: 'a', response: null, error: { why: 1 } })).toMatchObject({
      found: '200: {"why":1}',
    })
    expect(refusalOf(batchRequests, [{ custom_id: 'b', params: {} }, line(7)])).toMatchObject({ path: '[0].messages' })
  })
})

test('A logged reply has the messages beside it, of OpenHands those with structured calls', () => {
  const reply = (content: string) => ({
    id: content,
    choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
  })
  const messages = (content: string) => [{ role: 'user', content }]
  const log = { messages: messages('text'), response: reply('text'), kwargs: { temperature: 0.5 }, cost: 1 }
  const opened = (record: object) => trajectoryOf(chatCompletion, record)
  const contents = (record: object) => conversation(opened(record)).map(({ content }) => content)
  expect(contents(log)).toEqual(['text', 'text'])
  expect(opened(log).foreign).toMatchObject({
    'chat-completion': { cost: 1, calls: [{ request: { temperature: 0.5 } }] },
  })
  expect(contents({ ...log, fncall_messages: messages('calls'), fncall_response: reply('calls') })).toEqual([
    'calls',
    'calls',
  ])
  expect(contents({ ...log, kwargs: { messages: messages('own') } })).toEqual(['own', 'text'])
})
