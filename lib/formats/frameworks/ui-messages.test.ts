/** Opens messages of the AI SDK (lib/formats/golden/writers/make_ai_sdk.py). */
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { messageLines } from '../conversations/chat-messages.ts'
import type { Format } from '../format.ts'
import { formatOf } from '../registry.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoryOf } from '../test-trajectories.ts'
import { uiMessages } from './ui-messages.ts'

const call = (name: string) => ({ id: `call_${name}`, name, input: { expression: '25 * 17' } })

test.each<[string, Format]>([
  ['ai-sdk-messages.json', messageLines],
  ['ai-sdk-ui-messages.json', uiMessages],
])('the messages in %s have their reasoning, calls and results', (file, format) => {
  const [messages] = foreignRecords(file) as [readonly unknown[]]
  expect(messages.map((message) => formatOf(message)?.name)).toEqual(messages.map(() => format.name))
  const trajectory = trajectoryOf(format, messages)
  expect(conversation(trajectory)).toEqual([
    { role: 'user', content: 'What is 25 * 17?' },
    {
      role: 'assistant',
      content: 'I calculate.',
      reasoning: 'A product.',
      toolCalls: [call('calculator'), call('broken')],
    },
    { role: 'tool', callId: 'call_calculator', name: 'calculator', content: '{"product":425}' },
    { role: 'tool', callId: 'call_broken', name: 'broken', content: 'It is broken.', isError: true },
    { role: 'assistant', content: 'It is 425.', reasoning: 'Done.' },
  ])
  expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
})

test('a message of an interface may have metadata, calls without a result, and tools that were found at run time', () => {
  const part = { type: 'dynamic-tool', toolName: 'f', toolCallId: 'c', state: 'input-streaming', rawInput: '{"x":1}' }
  const message = { role: 'assistant', metadata: { model: 'm' }, parts: [part] }
  const trajectory = trajectoryOf(uiMessages, [message])
  expect(conversation(trajectory)).toMatchObject([{ toolCalls: [{ id: 'c', name: 'f', input: { x: 1 } }] }])
  expect(trajectory.foreign).toEqual({ 'ui-messages': { metadata: [{ model: 'm' }] } })
  expect(refusalOf(uiMessages, [message, { role: 'robot', parts: [{ type: 'text', text: 'x' }] }])?.path).toBe(
    '[1].parts.role',
  )
  const others = [7, { role: 'user', parts: [] }, { role: 'user', parts: [{ text: 'x' }] }, { parts: [part] }]
  expect(others.some(uiMessages.sniff)).toBe(false)
})
