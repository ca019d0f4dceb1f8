import { expect, test } from 'vitest'
import { firstMessages, readMessages, readTools } from './messages.ts'

test.each<[string, unknown, unknown]>([
  [
    'messages of OpenAI',
    [
      { role: 'system', content: 's' },
      { role: 'tool', tool_call_id: 'c', content: '4' },
      { role: 'tool', content: [{ type: 'text', text: '5' }, { type: 'x' }] },
    ],
    [
      { role: 'system', content: 's' },
      { role: 'tool', callId: 'c', content: '4' },
      { role: 'tool', content: [{ type: 'text', text: '5' }, { type: 'x' }] },
    ],
  ],
  [
    'messages with parts that are not text',
    [{ role: 'user', content: [{ text: 'see' }, { image: {} }, { type: 'audio' }, {}] }],
    [
      {
        role: 'user',
        content: [{ type: 'text', text: 'see' }, { type: 'image' }, { type: 'audio' }, { type: 'unknown' }],
      },
    ],
  ],
  [
    'results of Strands, and a question with them',
    [
      {
        role: 'user',
        content: [
          { toolResult: { content: [{ text: 'a' }, { json: 1 }, 3] } },
          { toolResult: { toolUseId: 't' } },
          { toolResult: 7 },
          { text: 'so?' },
        ],
      },
    ],
    [
      { role: 'tool', content: 'a1' },
      { role: 'tool', callId: 't', content: '' },
      { role: 'user', content: 'so?' },
    ],
  ],
])('firstMessages reads %s', (_what, messages, expected) => {
  expect(firstMessages(messages)).toEqual(expected)
})

test.each<[string, unknown]>([
  ['a text', 'hi'],
  ['a list of numbers', [7]],
  ['a message with an unknown role', [{ role: 'robot', content: 'x' }]],
  ['a message without content', [{ role: 'user' }]],
  ['a message whose parts are texts', [{ role: 'user', content: ['x'] }]],
])('firstMessages returns undefined for %s', (_what, messages) => {
  expect(firstMessages(messages)).toBeUndefined()
})

test('firstMessages returns the messages before the first answer', () => {
  expect(
    firstMessages([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ]),
  ).toEqual([{ role: 'user', content: 'a' }])
  expect(firstMessages([])).toBeUndefined()
})

test('readMessages reads messages of the assistant with reasoning and calls, also calls in a JSON text', () => {
  const call = { id: 'c', function: { name: 'add', arguments: '{"a": 1}' } }
  expect(
    readMessages([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, reasoning_content: 'so', tool_calls: [call, 7] },
      { role: 'assistant', content: [{ type: 'text', text: 'ok' }], tool_calls: JSON.stringify([call]) },
      { role: 'assistant', content: 'x', tool_calls: 'none' },
      { role: 'assistant', tool_calls: [{ name: 'f', arguments: '{' }, { arguments: { a: 1 } }, { name: 'g' }] },
    ]),
  ).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: '', reasoning: 'so', toolCalls: [{ id: 'c', name: 'add', input: { a: 1 } }] },
    { role: 'assistant', content: 'ok', toolCalls: [{ id: 'c', name: 'add', input: { a: 1 } }] },
    { role: 'assistant', content: 'x' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { name: 'f', input: '{' },
        { name: '', input: { a: 1 } },
        { name: 'g', input: {} },
      ],
    },
  ])
})

test('readMessages returns nothing for values that are not messages', () => {
  expect([readMessages('hi'), readMessages([{ role: 'robot', content: '' }])]).toEqual([undefined, undefined])
})

test('readTools reads tools with or without an enclosing function, also from a JSON text', () => {
  const tools = [
    { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } },
    { name: 'g' },
  ]
  const specs = [
    { name: 'f', description: 'd', inputSchema: { type: 'object' } },
    { name: 'g', inputSchema: {} },
  ]
  expect(readTools(tools)).toEqual(specs)
  expect(readTools(JSON.stringify(tools))).toEqual(specs)
  expect([readTools(undefined), readTools([{}]), readTools([3])]).toEqual([undefined, undefined, undefined])
})

test('Numbers that JSON cannot represent stay as texts in the schema of a tool', () => {
  const parameters = { properties: { x: { minimum: Number.NEGATIVE_INFINITY, maximum: 1, default: [Number.NaN] } } }
  expect(readTools([{ function: { name: 'f', parameters } }])).toMatchObject([
    { inputSchema: { properties: { x: { minimum: '-Infinity', maximum: 1, default: ['NaN'] } } } },
  ])
})
