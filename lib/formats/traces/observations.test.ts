/**
 * Reads what a server of Phoenix returned and the client of Langfuse recorded (make_phoenix.py and make_langfuse.py in
 * lib/formats/golden/writers).
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { memoryTools } from '../containers/container.ts'
import { openFile } from '../reading/open.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { calls, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { langfuse } from './langfuse.ts'
import { otlp } from './otlp.ts'

test.each([
  ['langfuse-observations.jsonl', langfuse],
  ['langfuse-spans.jsonl', otlp],
])('The calls of %s are one run with its messages, tools, counts and times', (name, format) => {
  const trajectory = trajectoryOf(format, foreignRecords(name))
  expect(conversation(trajectory)).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is 25 * 17?' },
    { role: 'assistant', toolCalls: [{ id: 'call_1', name: 'calculator', input: { expression: '25 * 17' } }] },
    { role: 'tool', callId: 'call_1', content: '425' },
    { role: 'assistant', content: '425.' },
  ])
  expect(trajectory).toMatchObject({ model: { name: 'tiny-qwen3', tools: [{ name: 'calculator' }] } })
  for (const { response } of calls(trajectory))
    expect(response).toMatchObject({
      usage: { promptTokens: 12, completionTokens: 4 },
      timing: { elapsedMs: expect.any(Number) },
    })
})

describe('An observation of Langfuse', () => {
  const observation = (more: object) => ({
    traceId: 't',
    type: 'GENERATION',
    startTime: '2026-01-01T00:00:00Z',
    ...more,
  })
  const segmentsOf = (more: object): Trajectory['segments'] => trajectoryOf(langfuse, [observation(more)]).segments

  test('may have texts as input and output, and counts in the words of Langfuse', () => {
    expect(segmentsOf({ input: 'q', output: 'a', usageDetails: { input: 3, output: 1 } })).toMatchObject([
      { messages: [{ role: 'user', content: 'q' }] },
      { message: { role: 'assistant', content: 'a' }, usage: { promptTokens: 3, completionTokens: 1 } },
    ])
  })

  test('has the ids and logprobs of a whole reply, and a list of messages as input', () => {
    const choice = {
      message: { role: 'assistant', content: 'a' },
      token_ids: [4],
      logprobs: { content: [{ logprob: -1 }] },
    }
    const output = { prompt_token_ids: [1, 2], choices: [choice] }
    const input = [{ role: 'user', content: 'q' }]
    expect(segmentsOf({ input, output: JSON.stringify(output), modelParameters: { temperature: 0 } })).toMatchObject([
      { ids: [1, 2], messages: input },
      { ids: [4], logprobs: [-1], request: { samplingParams: {} } },
    ])
  })

  test('without a reply, or of another type, is no call', () => {
    const others = [
      observation({ output: null }),
      observation({ output: {} }),
      observation({ type: 'SPAN', output: 'a' }),
    ]
    expect(trajectoriesOf(langfuse, [...others, observation({ startTime: null, output: 'a' })])).toHaveLength(1)
    expect(langfuse.sniff({ traceId: 't', type: 'GENERATION' })).toBe(false)
  })
})

test.each(['phoenix-spans.jsonl', 'phoenix-frame.jsonl', 'phoenix-frame.parquet'])(
  'The calls of %s are one run with the ids and logprobs of the replies',
  async (name) => {
    const bytes = readFileSync(`lib/formats/golden/foreign/${name}`)
    const read = async (start: number, end: number) => bytes.subarray(start, end)
    const file = { size: bytes.length, read }
    const [found, ...others] = await Array.fromAsync(openFile(file, fileSource(name), { tools: memoryTools }))
    if (!found?.ok) throw new Error(found?.error.message)
    expect(others).toEqual([])
    const { trajectory } = found
    expect(calls(trajectory).map(({ prompt, response }) => [prompt, response.ids, response.logprobs])).toEqual([
      [
        [1, 2, 3],
        [4, 5],
        [-0.5, -0.5],
      ],
      [
        [1, 2, 3, 4, 5, 6],
        [7, 8],
        [-0.5, -0.5],
      ],
    ])
    expect(conversation(trajectory).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(trajectory.createdAt).toMatch(/^2026-11-30T/)
    for (const { response } of calls(trajectory)) expect(response.timing?.elapsedMs).toBeGreaterThanOrEqual(0)
  },
)

test('A row of a data frame without the whole reply has the messages of its columns', () => {
  const row = {
    'context.trace_id': 't',
    'context.span_id': 's',
    start_time: 1796000000000,
    end_time: 1796000000250,
    'attributes.openinference.span.kind': 'LLM',
    'attributes.llm.input_messages': [{ 'message.role': 'user', 'message.content': 'q', 'message.tool_calls': null }],
    'attributes.llm.output_messages': [
      {
        'message.role': 'assistant',
        'message.tool_calls': [{ 'tool_call.id': 'c', 'tool_call.function.name': 'f' }],
      },
    ],
    'attributes.llm.tools': [],
    'attributes.tag.tags': ['a'],
    'attributes.llm.model_name': null,
  }
  const trajectory = trajectoryOf(otlp, row)
  expect(conversation(trajectory)).toEqual([
    { role: 'user', content: 'q' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', input: {} }] },
  ])
  expect(calls(trajectory)[0]?.response.timing).toEqual({
    startedAt: '2026-11-30T00:53:20.000Z',
    elapsedMs: expect.closeTo(250, 2),
  })
  expect(trajectory.model.name).toBeUndefined()
})
