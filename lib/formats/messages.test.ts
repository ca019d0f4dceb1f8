import { expect, test } from 'vitest'
import { firstMessages } from './messages.ts'

test.each<[string, unknown, unknown]>([
  [
    'OpenAI’s',
    [
      { role: 'system', content: 's' },
      { role: 'tool', tool_call_id: 'c', content: '4' },
      { role: 'tool', content: [{ type: 'text', text: '5' }, { type: 'x' }] },
    ],
    [
      { role: 'system', content: 's' },
      { role: 'tool', callId: 'c', content: '4' },
      { role: 'tool', content: '5' },
    ],
  ],
  [
    'parts that are not text',
    [{ role: 'user', content: [{ text: 'see' }, { image: {} }, { type: 'audio' }, {}] }],
    [
      {
        role: 'user',
        content: [{ type: 'text', text: 'see' }, { type: 'image' }, { type: 'audio' }, { type: 'unknown' }],
      },
    ],
  ],
  [
    'Strands’ results, and a question with them',
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
      { role: 'tool', content: 'a' },
      { role: 'tool', callId: 't', content: '' },
      { role: 'user', content: 'so?' },
    ],
  ],
  ['no list', 'hi', undefined],
  ['no message', [7], undefined],
  ['an unknown role', [{ role: 'robot', content: 'x' }], undefined],
  ['no content', [{ role: 'user' }], undefined],
  ['parts that are none', [{ role: 'user', content: ['x'] }], undefined],
])('%s', (_what, messages, expected) => {
  expect(firstMessages(messages)).toEqual(expected)
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
