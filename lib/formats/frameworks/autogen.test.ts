/** Opens the messages of runs of AutoGen and AG2 (lib/formats/golden/writers/make_autogen.py, lib/formats/golden/make_ag2.py). */
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { messageLines } from '../conversations/chat-messages.ts'
import { formatOf } from '../registry.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoryOf } from '../test-trajectories.ts'
import { autogen } from './autogen.ts'

test('the messages of a run of AutoGen have its thoughts, calls, results and counts', () => {
  const [events] = foreignRecords('autogen.json') as [readonly unknown[]]
  expect(events.map((event) => formatOf(event)?.name)).toEqual(events.map(() => 'autogen'))
  const trajectory = trajectoryOf(autogen, events)
  expect(conversation(trajectory)).toEqual([
    { role: 'user', content: 'What is 25 * 17?' },
    {
      role: 'assistant',
      content: '',
      reasoning: 'A product.',
      toolCalls: [{ id: 'call_1', name: 'calculator', input: { expression: '25 * 17' } }],
    },
    { role: 'tool', callId: 'call_1', name: 'calculator', content: '425' },
    { role: 'assistant', content: 'It is 425.', reasoning: 'Done.' },
  ])
  expect(trajectory).toMatchObject({
    outcome: { kind: 'ended', reason: 'end_turn' },
    createdAt: expect.stringMatching(/^2026-/),
    foreign: { autogen: { events: [{ source: 'user' }, {}, { source: 'solver' }, {}, {}, {}] } },
  })
  expect(trajectory.segments[1]).toMatchObject({ usage: { promptTokens: 20, completionTokens: 11 } })
})

test('a summary of results is no message, and a structured message is its JSON', () => {
  const event = (type: string, content: unknown) => ({ source: 'solver', models_usage: null, type, content })
  const events = [event('ToolCallSummaryMessage', '425'), event('StructuredMessage', { answer: 425 })]
  expect(conversation(trajectoryOf(autogen, events)).map(({ content }) => content)).toEqual(['{"answer":425}'])
  const wrong = event('ToolCallExecutionEvent', [{ call_id: 'c', content: 7 }])
  expect(refusalOf(autogen, [...events, wrong])?.path).toBe('[2].content')
  expect([7, { source: 'user' }, { source: 'user', type: 'x' }].some(autogen.sniff)).toBe(false)
})

test('the chat of AG2 has the roles that its model sees, although its agents see each other as the user', () => {
  const [chat] = foreignRecords('ag2-chat.json') as [readonly object[]]
  expect(chat.map((message) => (message as { role: unknown }).role)).toEqual(['assistant', 'assistant', 'tool', 'user'])
  expect(conversation(trajectoryOf(messageLines, chat)).map(({ role, content }) => [role, content])).toEqual([
    ['user', 'What is 25*17?'],
    ['assistant', ''],
    ['tool', '425'],
    ['assistant', '425. TERMINATE'],
  ])
})

test('Named messages keep their roles unless the first one is of the assistant and another name is of the user', () => {
  const rolesOf = (...messages: readonly (readonly [role: string, name?: string])[]) =>
    conversation(
      trajectoryOf(
        messageLines,
        messages.map(([role, name]) => ({ role, name, content: 'x' })),
      ),
    ).map(({ role }) => role)
  expect(rolesOf(['user', 'a'], ['assistant', 'b'])).toEqual(['user', 'assistant'])
  expect(rolesOf(['assistant', 'a'], ['user', 'a'])).toEqual(['assistant', 'user'])
  expect(rolesOf(['assistant'], ['user', 'b'])).toEqual(['assistant', 'user'])
  expect(rolesOf(['assistant', 'a'], ['user', 'b'], ['system'], ['assistant', 'a'])).toEqual([
    'user',
    'assistant',
    'system',
    'user',
  ])
})
