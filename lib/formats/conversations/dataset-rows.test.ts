/** Compares rows of data sets with what TRL and pyarrow read in them (lib/formats/golden/writers/make_rows.py). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { chatMessages } from './chat-messages.ts'
import { datasetRows } from './dataset-rows.ts'

type Messages = readonly { readonly role: string; readonly content: string }[]
interface VerlRow {
  readonly prompt: Messages
  readonly reward_model: object
}
const golden = JSON.parse(readFileSync('lib/formats/golden/rows.json', 'utf8')) as {
  readonly preference: readonly (readonly Messages[])[]
  readonly completion: readonly Messages[]
  readonly verl: readonly VerlRow[]
}

const opened = (records: readonly unknown[]) => {
  const source = fileSource('rows')
  expect(records.map(formatOf)).toEqual(records.map(() => datasetRows))
  return records.map((record) => trajectoriesOf(datasetRows, record, source))
}
const texts = (trajectory: Trajectory) => conversation(trajectory).map(({ role, content }) => ({ role, content }))

test('a row with a prompt and a completion opens with its reward, its tools and the group of its prompt', () => {
  const trajectories = opened(foreignRecords('trl-prompt-completion.jsonl')).flat()
  expect(trajectories.map(texts)).toEqual(golden.completion)
  expect(trajectories.map(({ reward, group }) => [reward, group?.index])).toEqual([
    [1, 0],
    [0, 1],
  ])
  expect(trajectories[0]).toMatchObject({ model: { tools: [{ name: 'add' }] }, outcome: { reason: 'end_turn' } })
  expect(trajectories[0]).not.toHaveProperty('foreign')
})

test('a preference opens as the chosen and the rejected conversation of one group', () => {
  const rows = opened(foreignRecords('trl-preference.jsonl'))
  expect(rows.map((samples) => samples.map(texts))).toEqual(golden.preference)
  for (const [chosen, rejected] of rows) {
    expect([chosen?.title, rejected?.title]).toEqual(['chosen', 'rejected'])
    expect([chosen?.group?.index, rejected?.group?.index]).toEqual([0, 1])
    expect(chosen?.group?.id).toBe(rejected?.group?.id)
  }
})

test('calls of a completion and their results open in their order', () => {
  const [samples = []] = opened(foreignRecords('trl-tool-calls.jsonl'))
  expect(samples.flatMap(conversation)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', toolCalls: [{ name: 'add', input: { a: 1 } }] },
    { role: 'tool', content: '2' },
    { role: 'assistant', content: '2' },
  ])
})

test('a row of verl opens as its prompt, with everything else kept', () => {
  const { verl } = golden
  expect(opened(verl).flat().map(texts)).toEqual(verl.map(({ prompt }) => prompt))
  expect(trajectoryOf(datasetRows, verl[0]).foreign).toMatchObject({
    'dataset-rows': { data_source: 'openai/gsm8k', reward_model: verl[0]?.reward_model },
  })
})

test('Prompts and answers may be texts, and an answer may repeat its prompt', () => {
  const question = { role: 'user', content: 'q' }
  const answer = { role: 'assistant', content: 'a' }
  const of = (row: object) => trajectoriesOf(datasetRows, row).map(texts)
  expect(of({ prompt: 'q', response: 'a' })).toEqual([[question, answer]])
  expect(of({ prompt: 'q', chosen: [question, answer], rejected: 'a' })).toEqual([
    [question, answer],
    [question, answer],
  ])
  expect(of({ chosen: 'a', rejected: [answer] })).toEqual([[answer], [answer]])
  const [chosen, rejected] = trajectoriesOf(datasetRows, {
    prompt: 'q',
    chosen: 'a',
    rejected: 'b',
    score_chosen: 8,
    score_rejected: null,
  })
  expect([chosen?.reward, rejected?.reward, rejected?.foreign]).toEqual([
    8,
    undefined,
    { 'dataset-rows': { score_chosen: 8, score_rejected: null } },
  ])
})

test('Rows with a conversation or with ids belong to other formats', () => {
  const messages = [{ role: 'user', content: 'q' }]
  expect(formatOf({ prompt: 'q', completion: 'a', messages })).toBe(chatMessages)
  const rows = [
    7,
    { prompt: 'q' },
    { completion: 'a' },
    { prompt: 7, completion: 'a' },
    { prompt: messages, token_ids: [1] },
  ]
  expect(rows.map(datasetRows.sniff)).toEqual(rows.map(() => false))
})

test('A message that is none is refused at its path', () => {
  const robot = [{ role: 'robot', content: 'x' }]
  expect(refusalOf(datasetRows, { prompt: robot })?.path).toBe('prompt[0].role')
  expect(refusalOf(datasetRows, { prompt: 'q', completion: robot })?.path).toBe('completion[0].role')
  expect(trajectoriesOf(datasetRows, 7)).toEqual([])
})

test('a row of stepwise supervision opens as one completion, and keeps its steps with their labels', () => {
  const row = { prompt: 'What is 2 + 3 * 4?', completions: ['3 * 4 is 12.', '2 + 12 is 15.'], labels: [true, false] }
  const [[trajectory]] = opened([row]) as [[Trajectory]]
  expect(texts(trajectory)).toEqual([
    { role: 'user', content: row.prompt },
    { role: 'assistant', content: '3 * 4 is 12.\n2 + 12 is 15.' },
  ])
  expect(trajectory.foreign).toEqual({ 'dataset-rows': { completions: row.completions, labels: row.labels } })
  expect(trajectory.provenance).toMatchObject({
    lacked: expect.arrayContaining(['labels of the steps: they are kept unread, with the steps']),
  })
  expect(
    [
      { ...row, labels: true },
      { ...row, completions: [7] },
    ].map(formatOf),
  ).toEqual([undefined, undefined])
})
