/** Opens the log of a run that OpenAI’s evals wrote (lib/formats/golden/make_openai_evals.py). */
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { formatOf } from '../registry.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf } from '../test-trajectories.ts'
import { openaiEvals } from './openai-evals.ts'

const records = foreignRecords('openai-evals.jsonl')

test('a log of OpenAI’s evals has a trajectory for each sample, and one for each of several sampled texts', () => {
  expect(records.map((record) => formatOf(record)?.name)).toEqual(records.map(() => 'openai-evals'))
  const read = trajectoriesOf(openaiEvals, records)
  expect(read.map((trajectory) => conversation(trajectory).map(({ content }) => content))).toEqual([
    ['Answer.', '25 * 17?', '424', 'Sure?', '425'],
    ['The root of 81 is', ' 9'],
    ['The root of 81 is', ' 3'],
  ])
  const [first, second] = read
  expect(first).toMatchObject({ title: 'sums.dev.0', reward: 1, model: { name: 'tiny-qwen3' } })
  expect(first?.segments[1]).toMatchObject({ usage: { promptTokens: 9, completionTokens: 2 } })
  expect(first?.foreign?.['openai-evals']).toMatchObject({
    spec: { eval_name: 'sums.dev.v0' },
    events: [{ type: 'raw_sample' }, { type: 'match', data: { expected: '425' } }],
  })
  expect(second).not.toHaveProperty('reward')
  expect(second?.foreign?.['openai-evals']).toMatchObject({ events: [{ data: { f1_score: 0.5 } }] })
})

test('a sample of OpenAI’s evals has its error, and no model if neither the event nor the settings name one', () => {
  const event = { run_id: 'r', event_id: 0, sample_id: 's', type: 'sampling', data: { prompt: 'q', sampled: { a: 1 } } }
  const error = { ...event, type: 'error', data: { type: 'ValueError', message: 'gone' } }
  const [read] = trajectoriesOf(openaiEvals, [event, error])
  expect(read).toMatchObject({ outcome: { kind: 'failed', code: 'ValueError', message: 'gone' } })
  expect(read?.model).not.toHaveProperty('name')
  expect(read && conversation(read)[1]).toMatchObject({ content: '{"a":1}' })
  expect(
    trajectoriesOf(openaiEvals, [{ spec: { completion_fns: 7, eval_name: 'e', run_id: 'r' } }, event]),
  ).toHaveLength(1)
  expect(refusalOf(openaiEvals, [{ ...event, data: 7 }])?.path).toBe('[0].data')
})
