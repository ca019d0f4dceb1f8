import { expect, test } from 'vitest'
import { readForeignMessage } from './foreign-message.ts'
import { isItem, messagesOfItems } from './response-items.ts'

const read = (items: readonly unknown[]) => messagesOfItems(items).flatMap(({ message }) => readForeignMessage(message))

test('Items of the model that follow each other are one message, with what a server did by itself as parts', () => {
  const search = { type: 'web_search_call', id: 'ws_1', action: { query: 'q' } }
  expect(
    read([
      { role: 'user', content: 'q' },
      { type: 'reasoning', summary: [{ text: 'one' }, 7], content: null },
      { type: 'reasoning', summary: [{ text: 'two' }], content: [{ text: 'three' }] },
      search,
      { type: 'custom_tool_call', call_id: 'c', name: 'shell', input: 'ls' },
      { type: 'custom_tool_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'a.txt' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
    ]),
  ).toEqual([
    { role: 'user', content: 'q' },
    {
      role: 'assistant',
      content: [search],
      reasoning: 'one\nthree',
      toolCalls: [{ id: 'c', name: 'shell', input: 'ls' }],
    },
    { role: 'tool', callId: 'c', content: 'a.txt' },
    { role: 'assistant', content: 'done' },
  ])
})

test('A list of items has the index of each message, and leaves other values to its reader', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const reply = { role: 'assistant', tool_calls: [], content: 'x' }
  expect(messagesOfItems([call, call, 7, reply, { type: 'shell_call_output', call_id: 'c' }])).toMatchObject([
    { index: 0 },
    { index: 2, message: 7 },
    { index: 3, message: reply },
    { index: 4, message: { role: 'tool', tool_call_id: 'c', content: 'null' } },
  ])
})

test('isItem knows the items of the Responses API from other objects with a type', () => {
  const items = [
    { type: 'message', role: 'user' },
    { type: 'reasoning', summary: [] },
    { type: 'function_call', call_id: 'c' },
    { type: 'web_search_call', id: 'ws' },
  ]
  const others = [
    ...[7, {}, { type: 'message' }, { type: 'reasoning' }, { type: 'tool_call' }, { type: 'text', id: 'a' }],
    { type: 'function_call', call_id: 'c', role: 'user' },
  ]
  expect([items, others].map((list) => list.map(isItem))).toEqual([items.map(() => true), others.map(() => false)])
})
