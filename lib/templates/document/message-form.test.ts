import { expect, test } from 'vitest'
import { withSwapped, withValue } from '#lib/json/json-text.ts'
import { messageCards, NEW_CALL, toolCards, withDuplicate, withMessage, withTool } from './message-form.ts'

const TALK = `[
  {"role": "user", "content": [{"type": "text", "text": "a"}], "weight": 1.0},
  {
    "role": "assistant",
    "content": null,
    "tool_calls": [
      {"id": "c1", "function": {"name": "add", "arguments": {"x": 1.0, "y": 1e3}}},
      {"name": "bare", "arguments": "{\\"z\\": 2}"}
    ]
  },
  {"role": "tool", "tool_call_id": "c1", "content": "3"}
]`
const cards = (text: string) => {
  const read = messageCards(text)
  return read.kind === 'cards' ? read.cards : read.why
}

test('a card shows texts unchanged and other values as their JSON', () => {
  expect(cards(TALK)).toMatchObject([
    { role: 'user', content: { kind: 'json', source: '[{"type": "text", "text": "a"}]' }, others: ['weight'] },
    {
      content: { kind: 'json', source: 'null' },
      reasoning: undefined,
      toolCalls: [
        { id: 'c1', name: 'add', arguments: { kind: 'json', source: '{"x": 1.0, "y": 1e3}' }, holder: ['function'] },
        { id: undefined, name: 'bare', arguments: { kind: 'text', text: '{"z": 2}' }, holder: [] },
      ],
      others: [],
    },
    { role: 'tool', toolCallId: 'c1', content: { kind: 'text', text: '3' } },
  ])
})

test('a change of one field keeps the spelling of every number', () => {
  const changed = withValue(TALK, [1, 'tool_calls', 0, 'function', 'name'], '"sub"')
  expect(changed).toBe(TALK.replace('"add"', '"sub"'))
  expect(withSwapped(changed, [], 0, 2)).toContain('"weight": 1.0}\n]')
})

test('new messages, calls and tools are inserted where they belong', () => {
  expect(cards(withMessage('[]', -1, 'user'))).toMatchObject([{ role: 'user', content: { kind: 'text', text: '' } }])
  expect(cards(withMessage(TALK, 0, 'system'))).toMatchObject([{ role: 'user' }, { role: 'system' }, {}, {}])
  expect(cards(withValue(TALK, [1, 'tool_calls', 2], NEW_CALL))).toMatchObject([{}, { toolCalls: [{}, {}, {}] }, {}])
  expect(toolCards(withTool('', 0))).toMatchObject({ cards: [{ name: '', holder: ['function'] }] })
})

test('a duplicate of a message has the same text, at the same depth', () => {
  const twice = withDuplicate(TALK, 1)
  const [, first, second] = JSON.parse(twice)
  expect(second).toEqual(first)
  expect(twice.split('"role": "assistant",\n    "content": null,')).toHaveLength(3)
})

test.each([
  ['[{]', /line 1, column 3: Expecting property name/],
  ['{}', /not a list of objects/],
  ['[1]', /not a list of objects/],
])('%s has no cards, and the reason is given', (text, why) => {
  expect(cards(text)).toMatch(why)
})

test('a tool may be given without the function object around it', () => {
  expect(toolCards('[{"name": "a", "parameters": {}}]')).toMatchObject({
    cards: [{ name: 'a', description: '', parameters: { kind: 'json', source: '{}' }, holder: [] }],
  })
})

test('a card keeps what it cannot show as the name of a further field', () => {
  expect(cards('[{"role": 1, "tool_calls": {"a": 1}, "reasoning_content": "Hm."}]')).toEqual([
    {
      role: '',
      content: { kind: 'missing' },
      reasoning: { kind: 'text', text: 'Hm.' },
      toolCalls: [],
      toolCallId: undefined,
      others: ['tool_calls'],
    },
  ])
  expect(cards('[{"role": "assistant", "tool_calls": [1]}]')).toMatchObject([
    { toolCalls: [{ id: undefined, name: '', arguments: { kind: 'missing' }, holder: [] }] },
  ])
  expect(toolCards('[{"type": "function", "function": {"description": "d"}}]')).toEqual({
    kind: 'cards',
    cards: [{ name: '', description: 'd', parameters: { kind: 'missing' }, holder: ['function'] }],
  })
  expect(toolCards(' ')).toEqual({ kind: 'cards', cards: [] })
})

test('a duplicate of a message that is not there changes nothing', () => {
  expect(withDuplicate('[{}]', 3)).toBe('[{}]')
  expect(withDuplicate('[{', 0)).toBe('[{')
})

test('a tool is added after the others', () => {
  expect(toolCards(withTool('[{"name": "a"}]', 1))).toMatchObject({ cards: [{ name: 'a' }, { name: '' }] })
})
