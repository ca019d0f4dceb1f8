/** Reads observations that the client of Langfuse records (lib/formats/golden/writers/make_langfuse.py). */
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { foreignRecords } from '../replies/test-files.ts'
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
