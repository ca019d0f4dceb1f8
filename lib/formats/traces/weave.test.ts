/** Calls have the fields of `CallSchema` of Weave’s interface. */
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { formatOf } from '../registry.ts'
import { refusalOf, trajectoriesOf } from '../test-trajectories.ts'
import { weave } from './weave.ts'

const call = (time: string, inputs: object, output: unknown, more: object = {}) => ({
  id: time,
  project_id: 'team/project',
  op_name: 'weave:///team/project/op/openai.chat.completions.create:x',
  trace_id: 't',
  started_at: `2026-11-30T00:00:0${time}Z`,
  ended_at: `2026-11-30T00:00:0${time}.500Z`,
  attributes: {},
  inputs,
  output,
  summary: { usage: {} },
  ...more,
})
const reply = (content: string, ids: object = {}, model: unknown = 'm') => ({
  id: 'c',
  object: 'chat.completion',
  model,
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content }, ...ids }],
})
const question = { role: 'user', content: 'q' }
const first = call('1', { self: {}, model: 'm', messages: [question] }, reply('a'))
const followUp = [question, { role: 'assistant', content: 'a' }, { role: 'user', content: 'more' }]
const second = call('2', { model: 'm', messages: followUp, temperature: 0.5 }, reply('b'))
const agent = call('0', { question: 'q' }, 'b', { op_name: 'weave:///team/project/op/agent:y', trace_id: 't' })

test('the calls of a trace of Weave are one run, in the order of their times', () => {
  expect([agent, second, first].map((one) => formatOf(one)?.name)).toEqual(['weave', 'weave', 'weave'])
  const [trajectory, ...others] = trajectoriesOf(weave, [agent, second, first])
  expect(others).toEqual([])
  if (!trajectory) throw new Error('no trajectory')
  expect(conversation(trajectory).map(({ content }) => content)).toEqual(['q', 'a', 'more', 'b'])
  expect(trajectory).toMatchObject({ model: { name: 'm' }, foreign: { weave: { trace_id: 't' } } })
  expect(trajectory.segments[1]).toMatchObject({ timing: { startedAt: '2026-11-30T00:00:01.000Z', elapsedMs: 500 } })
})

test('a call of Weave has the ids and logprobs of its reply, and is refused if they differ', () => {
  const content = [{ token: 'a', logprob: -0.5, bytes: [97] }]
  const ids = { prompt_token_ids: [1, 2], token_ids: [3], logprobs: { content } }
  const [trajectory] = trajectoriesOf(weave, call('1', {}, reply('a', ids, null)))
  expect(trajectory?.segments).toMatchObject([{ ids: [1, 2] }, { ids: [3], logprobs: [-0.5] }])
  const wrong = call('1', {}, reply('a', { ...ids, response_token_ids: [4] }))
  expect(refusalOf(weave, [agent, wrong])?.path).toMatch(/^\[1\]\.output\.choices\[0\]/)
  expect([7, { ...first, inputs: 7 }, { ...first, op_name: 1 }].some(weave.sniff)).toBe(false)
})
