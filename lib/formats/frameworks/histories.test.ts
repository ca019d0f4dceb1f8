/** Opens sessions of Google’s ADK, histories of DSPy (lib/formats/golden/writers/make_histories.py), and the output of a crew of CrewAI. */
import { expect, test } from 'vitest'
import type { JsonObject } from '#lib/json/json-object.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { chatMessages } from '../conversations/chat-messages.ts'
import { recordsIn } from '../reading/records.ts'
import { formatOf } from '../registry.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { adk } from './adk.ts'
import { dspy } from './dspy.ts'

const MESSAGES = [
  { role: 'user', content: 'What is 25 * 17?' },
  {
    role: 'assistant',
    content: '',
    reasoning: 'A product.',
    toolCalls: [{ id: 'c', name: 'calculator', input: { expression: '25 * 17' } }],
  },
  { role: 'tool', callId: 'c', name: 'calculator', content: '{"result":425}' },
  { role: 'assistant', content: 'It is 425.' },
]

test.each(['adk-session.json', 'adk-events.jsonl'])(
  '%s has its messages, thoughts, calls, results and counts',
  (file) => {
    const records = foreignRecords(file)
    expect(records.map((record) => formatOf(record)?.name)).toEqual(records.map(() => 'adk'))
    const trajectory = trajectoryOf(adk, records)
    expect(conversation(trajectory)).toEqual(MESSAGES)
    expect(trajectory).toMatchObject({
      model: { name: 'gemini-2.5-flash' },
      outcome: { kind: 'ended', reason: 'end_turn' },
      createdAt: new Date(1796000000500).toISOString(),
      foreign: { adk: { events: Array(5).fill({ author: expect.any(String) }) } },
    })
    expect(trajectory.segments[1]).toMatchObject({ usage: { promptTokens: 20, completionTokens: 11 } })
  },
)

test('each session of a list is a trajectory, and events beside them are another', () => {
  const [session] = foreignRecords('adk-session.json') as [JsonObject & { readonly events: readonly unknown[] }]
  const found = trajectoriesOf(adk, [session, { ...session, id: 'second' }, session.events[0]])
  expect(found.map((one) => conversation(one).length)).toEqual([4, 4, 1])
  expect(found.map(({ foreign }) => foreign?.adk?.id)).toEqual(['s', 'second', undefined])
  const events = [{ author: 'user', invocationId: 'i', content: { role: 'robot', parts: [{ text: 'x' }] } }]
  expect(refusalOf(adk, { ...session, events })?.path).toBe('events[0].content.role')
  expect([7, { author: 'x' }, { appName: 'a' }, { appName: 'a', events: [7] }].some(adk.sniff)).toBe(false)
})

test('each output of a call of DSPy is a sample with its prompt', () => {
  const [predicted, sampled] = foreignRecords('dspy-history.jsonl') as [JsonObject, JsonObject]
  expect([predicted, sampled].map((record) => formatOf(record)?.name)).toEqual(['dspy', 'dspy'])
  const trajectory = trajectoryOf(dspy, predicted)
  expect(conversation(trajectory).map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
  expect(conversation(trajectory)[2]).toMatchObject({
    content: '[[ ## answer ## ]]\n425\n\n[[ ## completed ## ]]',
    reasoning: 'A product.',
  })
  expect(trajectory).toMatchObject({ model: { name: 'openai/tiny-qwen3' }, outcome: { reason: 'end_turn' } })
  expect(trajectory.segments[1]).toMatchObject({ usage: { promptTokens: 20, completionTokens: 11 } })
  const samples = trajectoriesOf(dspy, sampled)
  expect(samples.map(({ group }) => group)).toEqual([0, 1].map((index) => ({ id: sampled.uuid, index })))
})

test('a call of DSPy may have a prompt, texts as outputs, and no model', () => {
  const call = { prompt: 'q', messages: null, kwargs: {}, outputs: ['a'] }
  const trajectory = trajectoryOf(dspy, call)
  expect(conversation(trajectory).map(({ content }) => content)).toEqual(['q', 'a'])
  expect(conversation(trajectoryOf(dspy, { ...call, outputs: [{}] }))[1]).toMatchObject({ content: '' })
  expect(trajectory.model.name).toBeUndefined()
  expect([7, { ...call, kwargs: 7 }, { ...call, prompt: null }, { kwargs: {} }].some(dspy.sniff)).toBe(false)
})

test('each task of a crew of CrewAI is a trajectory with its messages', () => {
  const records = recordsIn(foreignRecords('crewai.json')[0], {})
  expect(records.map(({ path }) => path)).toEqual(['tasks_output[0]', 'tasks_output[1]'])
  const read = records.map(({ value }) => trajectoryOf(chatMessages, value))
  expect(read.map((trajectory) => conversation(trajectory).map(({ role }) => role))).toEqual(
    read.map(() => ['system', 'user', 'assistant', 'tool', 'assistant']),
  )
  expect(read.map(({ foreign }) => foreign?.messages)).toMatchObject([
    { name: 'What is 25 * 17?', agent: 'Calculator', raw: 'It is 425.' },
    { name: 'Repeat it.' },
  ])
})
