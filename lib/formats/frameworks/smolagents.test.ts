/** Opens the memory of an agent of smolagents (lib/formats/golden/writers/make_smolagents.py). */
import { expect, test } from 'vitest'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { formatOf } from '../registry.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { smolagents } from './smolagents.ts'

const [steps] = foreignRecords('smolagents.json') as [readonly JsonObject[]]

test('the memory of an agent has the prompts, replies, calls and counts of its steps', () => {
  expect(steps.map((step) => formatOf(step)?.name)).toEqual(steps.map(() => 'smolagents'))
  const trajectory = trajectoryOf(smolagents, steps)
  const messages = conversation(trajectory)
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'assistant', 'user', 'assistant'])
  expect(messages[1]).toMatchObject({ content: 'New task:\nWhat is 25 * 17?' })
  expect(messages[2]).toMatchObject({
    content: 'I multiply.',
    toolCalls: [{ id: 'call_multiply', name: 'multiply', input: { a: 25, b: 17 } }],
  })
  expect(messages[4]).toMatchObject({ content: 'Observation:\n425' })
  expect(messages[5]).toMatchObject({ toolCalls: [{ name: 'final_answer', input: { answer: '425' } }] })
  expect(trajectory).toMatchObject({
    model: { name: 'tiny-qwen3' },
    outcome: { kind: 'ended', reason: 'end_turn' },
    foreign: {
      smolagents: { steps: [{ task: 'What is 25 * 17?' }, { observations: '425' }, { is_final_answer: true }] },
    },
  })
  expect(trajectory.segments[1]).toMatchObject({ usage: { promptTokens: 20, completionTokens: 11 } })
})

test('a reply with ids has them, and a step without a reply, its model, times and counts has what is there', () => {
  const reply = (step: JsonObject, raw: unknown) => ({
    model_input_messages: step.model_input_messages,
    model_output_message: { role: 'assistant', content: 'a', raw },
  })
  const call = steps.find(({ step_number: number }) => number === 1) as JsonObject
  const raw = {
    model: 'm',
    prompt_token_ids: [1, 2],
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, token_ids: [3], finish_reason: 'stop' }],
  }
  const found = (value: unknown) => trajectoriesOf(smolagents, [{ system_prompt: 's' }, reply(call, value)])
  expect(found(raw)[0]?.segments.map(({ ids }) => ids)).toEqual([[1, 2], [3]])
  const [alone] = found(undefined)
  expect(found({ _type: 'Reply' })[0]?.model.name).toBeUndefined()
  expect(alone?.model.name).toBeUndefined()
  expect(alone?.segments[1]).toMatchObject({ ids: [], message: { content: 'a' } })
  expect(trajectoriesOf(smolagents, [{ task: 't', task_images: null }])).toEqual([])
  // The last one is a row of the data set OpenOrca.
  const others = [7, { task: 't' }, { model_output_message: {} }, { id: 'a', system_prompt: 's', question: 'q' }]
  expect(others.some(smolagents.sniff)).toBe(false)
  expect(isObject(call.model_output_message) && trajectoryOf(smolagents, call).segments).toHaveLength(2)
})
