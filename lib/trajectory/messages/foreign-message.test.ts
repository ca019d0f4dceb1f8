import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { ResponseSegment, Trajectory } from '../format/trajectory.ts'
import { conversation } from './conversation.ts'
import { assistantMessage, readForeignMessage } from './foreign-message.ts'
import { partText, segmentMessages } from './message-parts.ts'

const call = { name: 'add', input: { a: 1 } }

test.each<[string, object, object]>([
  [
    'chat completions with `reasoning_content`',
    {
      content: null,
      reasoning_content: 'hm',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{"a": 1}' } }],
    },
    { content: '', reasoning: 'hm', toolCalls: [{ id: 'c', ...call }] },
  ],
  ['vLLM with `reasoning`', { content: 'hi', reasoning: 'hm', tool_calls: null }, { content: 'hi', reasoning: 'hm' }],
  [
    'an old function call, and arguments that are no JSON',
    { content: 'x', function_call: { name: 'add', arguments: '{a' } },
    { content: 'x', toolCalls: [{ name: 'add', input: '{a' }] },
  ],
  [
    'Inspect, with reasoning as a part and the name in `function`',
    {
      content: [
        { type: 'reasoning', reasoning: 'hm' },
        { type: 'text', text: 'hi' },
      ],
      tool_calls: [{ id: 'c', function: 'add', arguments: { a: 1 }, type: 'function' }],
    },
    { content: 'hi', reasoning: 'hm', toolCalls: [{ id: 'c', ...call }] },
  ],
  [
    'Anthropic',
    {
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 'c', name: 'add', input: { a: 1 } },
        { type: 'image', source: {} },
      ],
    },
    {
      content: [{ type: 'text', text: 'hi' }, { type: 'image' }],
      reasoning: 'hm',
      toolCalls: [{ id: 'c', ...call }],
    },
  ],
  [
    'Strands',
    {
      content: [
        { reasoningContent: { reasoningText: { text: 'hm' } } },
        { text: 'hi' },
        { toolUse: { toolUseId: 'c', name: 'add', input: { a: 1 } } },
      ],
    },
    { content: 'hi', reasoning: 'hm', toolCalls: [{ id: 'c', ...call }] },
  ],
  [
    'values of the wrong kind',
    {
      content: 7,
      reasoning: 7,
      tool_calls: [7, { function: {} }, { function: 7 }],
    },
    {
      content: '',
      toolCalls: [
        { name: '', input: {} },
        { name: '', input: {} },
      ],
    },
  ],
  [
    'empty thoughts',
    { content: [{ type: 'thinking' }, { reasoningContent: { reasoningText: {} } }, { type: 'reasoning' }] },
    { content: [{ type: 'reasoning' }] },
  ],
  [
    'content that is neither text nor image, which is kept',
    {
      content: [
        { type: 'document', source: { type: 'text', data: 'x' }, text: 7 },
        { document: { name: 'a' } },
        { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav', gain: Number.NaN } },
        {},
      ],
    },
    {
      content: [
        { type: 'document', source: { type: 'text', data: 'x' } },
        { type: 'document', document: { name: 'a' } },
        { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav', gain: 'NaN' } },
        { type: 'unknown' },
      ],
    },
  ],
  [
    'an empty text of arguments',
    { tool_calls: [{ function: { name: 'f', arguments: '' } }] },
    { content: '', toolCalls: [{ name: 'f', input: {} }] },
  ],
])('assistantMessage reads a message of %s', (_, message, read) => {
  expect(assistantMessage({ ...message })).toEqual({ role: 'assistant', ...read })
})

test('readForeignMessage reads the results in a message of Anthropic before its text', () => {
  expect(
    readForeignMessage({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: '4' }] },
        { type: 'tool_result', content: '5' },
        { type: 'text', text: 'so?' },
      ],
    }),
  ).toEqual([
    { role: 'tool', callId: 'c', content: '4' },
    { role: 'tool', content: '5' },
    { role: 'user', content: 'so?' },
  ])
  expect(readForeignMessage({ role: 'function', content: '4' })).toEqual([{ role: 'tool', content: '4' }])
  expect(['user', { role: 'exit', content: 'x' }, { role: 'user' }].map(readForeignMessage)).toEqual(
    Array(3).fill(undefined),
  )
})

test('readForeignMessage keeps that a tool reported an error, and the parts of its result that are neither text nor image', () => {
  const document = { type: 'document', source: { type: 'text', data: 'x' } }
  const results = [
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true }] },
    { role: 'user', content: [{ type: 'tool_result', content: [document], is_error: false }] },
    { role: 'user', content: [{ toolResult: { toolUseId: 'c', status: 'error', content: [{ json: { a: 1 } }] } }] },
    { role: 'tool', content: 'no', error: { type: 'timeout', message: 'no' } },
    { role: 'tool', content: [document], is_error: true },
  ]
  expect(results.flatMap((message) => readForeignMessage(message))).toEqual([
    { role: 'tool', callId: 'c', content: 'no', isError: true },
    { role: 'tool', content: [document] },
    { role: 'tool', callId: 'c', content: '{"a":1}', isError: true },
    { role: 'tool', content: 'no', isError: true },
    { role: 'tool', content: [document], isError: true },
  ])
})

test('readForeignMessage reads reasoning, calls and each result in blocks of the AI SDK', () => {
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'f' }
  const result = { type: 'tool-result', toolCallId: 'c', toolName: 'f' }
  const content = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'a' },
    { ...call, input: { x: 1 } },
  ]
  expect(assistantMessage({ role: 'assistant', content })).toEqual({
    role: 'assistant',
    content: 'a',
    reasoning: 'Hm.',
    toolCalls: [{ id: 'c', name: 'f', input: { x: 1 } }],
  })
  expect(assistantMessage({ role: 'assistant', content: [{ ...call, args: { x: 1 } }] }).toolCalls).toHaveLength(1)
  const read = (block: object) => readForeignMessage({ role: 'tool', content: [block] })?.[0]
  const expected = (text: unknown, isError?: true) => ({
    role: 'tool',
    callId: 'c',
    name: 'f',
    content: text,
    ...(isError && { isError }),
  })
  expect(read({ ...result, output: { type: 'text', value: 'r' } })).toEqual(expected('r'))
  expect(read({ ...result, output: { type: 'json', value: { a: 1 } } })).toEqual(expected('{"a":1}'))
  expect(read({ ...result, output: { type: 'error-text', value: 'no' } })).toEqual(expected('no', true))
  expect(read({ ...result, output: { type: 'execution-denied', reason: 'no' } })).toEqual(expected('no', true))
  const parts = { type: 'content', value: [{ type: 'text', text: 'r' }] }
  expect(read({ ...result, output: parts })).toEqual(expected('r'))
  expect(read({ ...result, result: 7, isError: true })).toEqual(expected('7', true))
  expect(read({ type: 'tool-result' })).toEqual({ role: 'tool', content: 'null' })
})

test('readForeignMessage keeps the JSON text of arguments whose numbers a double does not keep', () => {
  const read = (text: string) =>
    readForeignMessage({
      role: 'assistant',
      content: null,
      tool_calls: [{ type: 'function', function: { name: 'add', arguments: text } }],
    })
  const exact = '{"a": 12345678901234567890, "b": 1.0}'
  const input = { a: 12345678901234567000, b: 1 }
  expect(read(exact)).toMatchObject([{ toolCalls: [{ input, json: exact }] }])
  for (const text of ['{"a": 1.5, "b": 2025}', '{"a": "1.0"}', '[1.0]', '{"a": 1.0', '1.0'])
    expect(read(text)).toEqual([expect.objectContaining({ toolCalls: [expect.not.objectContaining({ json: text })] })])
})

test('readForeignMessage keeps the names of tools and participants', () => {
  const named = [
    { role: 'tool', tool_call_id: 'c', name: 'add', content: '4' },
    { role: 'user', name: 'Ann', content: 'q' },
    { role: 'user', name: 'Ann', content: [{ type: 'text', text: 'q' }] },
    { role: 'user', name: 7, content: 'q' },
  ]
  expect(named.flatMap((message) => readForeignMessage(message))).toEqual([
    { role: 'tool', callId: 'c', name: 'add', content: '4' },
    { role: 'user', name: 'Ann', content: 'q' },
    { role: 'user', name: 'Ann', content: 'q' },
    { role: 'user', content: 'q' },
  ])
})

test('a response without tokens has the message of the file, as a list of parts and in the conversation', () => {
  const response: ResponseSegment = {
    kind: 'response',
    ids: [],
    thinks: [],
    toolCalls: [],
    message: { content: '', reasoning: 'hm', tool_calls: [{ function: { name: 'add', arguments: '{"a":1}' } }] },
  }
  const { tokenizer: _, parser: __, ...model } = sampleTrajectory.model
  const trajectory: Trajectory = { ...sampleTrajectory, model, segments: [response], vocab: {} }
  const [message] = segmentMessages(trajectory, 0)
  expect(message?.tokens).toBeUndefined()
  expect(message?.parts.map((part) => [part.kind, partText(part, response, trajectory)])).toEqual([
    ['thinking', 'hm'],
    ['given-call', '{"name":"add","arguments":{"a":1}}'],
  ])
  expect(conversation(trajectory)).toEqual([{ role: 'assistant', content: '', reasoning: 'hm', toolCalls: [call] }])
  const unknown: Trajectory = { ...trajectory, segments: [{ ...response, ids: [3] }] }
  expect(segmentMessages(unknown, 0)).toMatchObject([
    { tokens: { start: 0, end: 1 }, parts: [{ kind: 'thinking', tokens: undefined }, { kind: 'given-call' }] },
  ])
})

test('a response whose tokens have texts has the message of the file at these tokens, until a parser reads the texts', () => {
  const pieces = ['<think>', 'hm', '</think>', '4', '<call>', '{"a": 1}', '<|im_end|>']
  const message = { content: '4', reasoning: 'hm', tool_calls: [{ function: { name: 'add', arguments: '{"a":1}' } }] }
  const response: ResponseSegment = { kind: 'response', ids: [...pieces.keys()], thinks: [], toolCalls: [], message }
  const { tokenizer: _, parser: __, ...model } = sampleTrajectory.model
  const trajectory: Trajectory = {
    ...sampleTrajectory,
    model,
    segments: [response],
    vocab: Object.fromEntries(pieces.entries()),
  }
  expect(segmentMessages(trajectory, 0)[0]?.parts.map(({ kind, tokens }) => [kind, tokens])).toEqual([
    ['thinking', { start: 1, end: 2 }],
    ['text', { start: 3, end: 4 }],
    ['given-call', { start: 5, end: 6 }],
  ])
  expect(conversation(trajectory)).toEqual([{ role: 'assistant', content: '4', reasoning: 'hm', toolCalls: [call] }])
  expect(conversation({ ...trajectory, model: { ...model, parser: 'hermes' } })).toEqual([
    { role: 'assistant', content: pieces.join('') },
  ])
})

test('assistantMessage reads a call of verifiers, whose name is beside its arguments', () => {
  const message = { role: 'assistant', content: '', tool_calls: [{ id: 'c', name: 'add', arguments: '{"a": 1}' }] }
  expect(assistantMessage(message).toolCalls).toEqual([{ id: 'c', name: 'add', input: { a: 1 } }])
})
