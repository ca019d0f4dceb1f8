/** Opens tables of Weights & Biases and of pandas (lib/formats/golden/writers/make_tables.py). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { source } from '#testing/trajectories.ts'
import { openText } from './open.ts'

const opened = (text: string) => {
  const read = openText(text, source)
  if (!read.ok) throw new Error(read.error.message)
  return read.trajectories.map((trajectory) => ({
    format: read.format.name,
    texts: conversation(trajectory).map(({ content }) => content),
    reward: trajectory.reward,
    group: trajectory.group && [trajectory.group.id, trajectory.group.index],
    foreign: trajectory.foreign?.[read.format.name],
  }))
}
const foreign = (name: string) => readFileSync(`lib/formats/golden/foreign/${name}`, 'utf8')

test.each(['wandb-trl.table.json', 'pandas-split.json'])('each row of %s is a completion of TRL', (name) => {
  expect(opened(foreign(name))).toMatchObject([
    { format: 'trl-completions', texts: ['2 + 3?', ' 5'], reward: 1, group: ['["1","2 + 3?"]', 0] },
    { format: 'trl-completions', texts: ['2 + 3?', ' 6'], reward: 0, group: ['["1","2 + 3?"]', 1] },
  ])
})

test('a row of the validations of verl has several samples', () => {
  const read = opened(foreign('wandb-verl.table.json'))
  expect(read.map(({ texts, reward }) => [...texts, reward])).toEqual([
    ['2 + 3?', ' 5', 1],
    ['25 * 17?', ' 425', 1],
    ['2 + 3?', ' 6', 0],
    ['25 * 17?', ' 42', 0],
  ])
  expect(read.map((one) => one.foreign)).toEqual([10, 10, 20, 20].map((step) => ({ step })))
  expect(opened('{"input_1": "q", "output_1": "a", "score_1": [1], "input_2": "q"}')).toMatchObject([
    { texts: ['q', 'a'], foreign: { score: [1], input_2: 'q' } },
  ])
})

test('a sample of OpenRLHF has its text and reward', () => {
  expect(opened(foreign('wandb-openrlhf.table.json'))).toMatchObject([
    { format: 'openrlhf', texts: ['2 + 3? 5'], reward: 1, foreign: { global_step: 1 } },
    { format: 'openrlhf', texts: ['2 + 3? 6'], reward: null, foreign: { global_step: 2 } },
  ])
  expect(opened('{"global_step": 1, "text": "x", "reward": null}')).toMatchObject([{ foreign: { reward: null } }])
})

test('rows of the data set viewer of Hugging Face open, and a broken row of a table costs only itself', () => {
  const messages = [{ role: 'user', content: 'q' }]
  const rows = [{ row_idx: 0, row: { messages }, truncated_cells: [] }]
  expect(opened(JSON.stringify({ features: [], rows }))).toMatchObject([{ format: 'messages', texts: ['q'] }])
  const table = { columns: ['messages', 'x'], data: [[messages], [7]] }
  expect(openText(JSON.stringify(table), source)).toMatchObject({
    ok: true,
    failed: [{ message: expect.stringMatching(/^data\[1\]: expected a trajectory of messages/) }],
  })
  expect(openText('{"columns": ["messages"], "data": [7], "rows": []}', source)).toMatchObject({ ok: false })
})
