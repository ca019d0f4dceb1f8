/** Opens an evaluation of tinker-cookbook (lib/formats/golden/writers/make_tinker_eval.py). */
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { tinkerEval } from './text-dumps.ts'

test('a trajectory of tinker-cookbook’s evaluation has its turns, reward, error and the group of its example', () => {
  const records = foreignRecords('tinker-eval.jsonl')
  expect(records.map((record) => formatOf(record)?.name)).toEqual(['tinker-eval', 'tinker-eval'])
  const source = fileSource('eval')
  const [first, second] = records.flatMap((record) => trajectoriesOf(tinkerEval, record, source))
  if (!first || !second) throw new Error('a trajectory is missing')
  expect(conversation(first).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  expect(conversation(first)[3]).toMatchObject({ content: '425<|im_end|>' })
  expect([first, second]).toMatchObject([
    {
      reward: 1,
      group: { id: 'math-1f', index: 0 },
      outcome: { kind: 'ended', reason: 'end_turn' },
      foreign: { 'tinker-eval': { benchmark: 'math', metrics: { correct: 1 }, logs: { expected: '425' } } },
    },
    { reward: 0, group: { id: 'math-1f', index: 1 }, outcome: { kind: 'failed', message: 'Timeout after 2 s' } },
  ])
  const record = { benchmark: 'b', example_id: 'e', reward: 1 }
  expect(refusalOf(tinkerEval, { ...record, turns: 7 })?.path).toBe('turns')
  expect(refusalOf(tinkerEval, { ...record, turns: [7] })?.path).toBe('turns[0]')
  expect(trajectoryOf(tinkerEval, { ...record, turns: [] }).segments).toEqual([])
})
