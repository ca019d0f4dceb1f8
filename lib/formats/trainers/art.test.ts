/** Compares trajectories of ART with what its own reader finds in them (lib/formats/golden/writers/make_art_rows.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { memoryTools } from '../containers/container.ts'
import { openFile } from '../reading/open.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { calls, refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { art } from './art.ts'

const drawn = (trajectory: Trajectory) => ({
  reward: trajectory.reward,
  texts: conversation(trajectory).map(({ role, content }) => [role, content]),
  calls: calls(trajectory).map(({ prompt, response: { ids, logprobs } }) => [prompt, ids, logprobs]),
})
const texts = [
  ['user', 'What is 25 * 17?'],
  ['assistant', ''],
  ['tool', '425'],
  ['assistant', '425'],
]
/** The first trajectory has exchanges with the ids of their prompts, the second one only choices. */
const expected = [
  {
    reward: 1,
    texts,
    calls: [
      [
        [1, 2, 3],
        [4, 5],
        [-0.04, -0.05],
      ],
      [
        [1, 2, 3, 4, 5, 6],
        [7, 8],
        [-0.07, -0.08],
      ],
    ],
  },
  {
    reward: 0.5,
    texts,
    calls: [
      [[], [4, 5], [-0.04, -0.05]],
      [
        [4, 5],
        [7, 8],
        [-0.07, -0.08],
      ],
    ],
  },
]

describe('trajectories of ART', () => {
  test('in a Parquet file have the ids, logprobs and rewards of their exchanges and choices, in one group', async () => {
    const bytes = readFileSync('lib/formats/golden/foreign/art-rows.parquet')
    const file = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
    const found = await Array.fromAsync(openFile(file, fileSource('art'), { tools: memoryTools }))
    const trajectories = found.map((one) => (one.ok ? one.trajectory : expect.fail(one.error.message)))
    expect(trajectories.map(drawn)).toEqual(expected)
    expect(trajectories.map(({ group }) => group)).toEqual([
      { id: '0', index: 0 },
      { id: '0', index: 1 },
    ])
    const [group] = JSON.parse(readFileSync('lib/formats/golden/art-rows.json', 'utf8')) as { reward: number }[][]
    expect(trajectories.map(({ reward }) => reward)).toEqual(group?.map(({ reward }) => reward))
    expect(trajectories[0]).toMatchObject({
      model: { name: 'm', tools: [{ name: 'calculator' }] },
      foreign: { art: { metrics: { correct: true }, group: { task: 't1' } } },
    })
    expect(trajectories[1]?.provenance).toMatchObject({ lacked: expect.arrayContaining(['ids of the prompt']) })
  })

  test('as dumps open alone and as a group', () => {
    const records = foreignRecords('art-trajectories.jsonl')
    expect(records.map((record) => formatOf(record)?.name)).toEqual(['art', 'art', 'art'])
    expect(records.slice(0, 2).map((record) => drawn(trajectoryOf(art, record)))).toEqual(expected)
    const group = trajectoriesOf(art, records[2])
    expect(group.map(drawn)).toEqual(expected)
    expect(group.map((one) => one.group?.index)).toEqual([0, 1])
    expect(new Set(group.map((one) => one.group?.id)).size).toBe(1)
  })

  const user = { role: 'user', content: 'q' }
  const reply = { role: 'assistant', content: 'a' }
  const choice = { index: 0, finish_reason: 'stop', message: reply }

  test('without choices are messages, and further histories are trajectories with the same reward', () => {
    const history = { messages_and_choices: [user, choice] }
    const record = { messages_and_choices: [user, reply], additional_histories: [history], reward: 2, metrics: {} }
    const trajectories = trajectoriesOf(art, record)
    const both = {
      reward: 2,
      texts: [
        ['user', 'q'],
        ['assistant', 'a'],
      ],
    }
    expect(trajectories.map(drawn)).toMatchObject([both, both])
    expect(trajectories[0]?.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(trajectories.map(({ foreign }) => foreign)).toEqual([{ art: { metrics: {} } }, undefined])
    const bare = trajectoriesOf(art, { reward: null, messages_and_choices: [user], additional_histories: [{}] })
    expect(bare.map((one) => [one.reward, one.segments.length])).toEqual([
      [undefined, 1],
      [undefined, 0],
    ])
  })

  test('have the exchanges of other interfaces, each as a trajectory of its own', () => {
    const exchange = {
      request: { messages: [user] },
      response: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn' },
    }
    const row = {
      group_index: null,
      group_json: '{}',
      trajectory_json: JSON.stringify({
        exchanges: { chat_completions: [{ response: { choices: [choice] } }], messages: [exchange] },
        reward: 1,
      }),
    }
    const [chat, message] = trajectoriesOf(art, row)
    expect(chat).toMatchObject({ reward: 1, segments: [{ kind: 'response' }] })
    expect(message).toMatchObject({ reward: 1, segments: [{ kind: 'prompt' }, { kind: 'response' }] })
    const { reward: _, ...unscored } = JSON.parse(row.trajectory_json) as { reward: number }
    const grouped = { trajectories: [{ ...unscored, reward: null }] }
    expect(trajectoriesOf(art, grouped).map(({ reward, group }) => [reward, group?.index])).toEqual([
      [undefined, 0],
      [undefined, 0],
    ])
  })

  test('that are broken are refused with the position', () => {
    const refusals = [
      { group_json: '{}', trajectory_json: '{"reward"' },
      { reward: 1, messages_and_choices: [user, 7] },
      { reward: 1, messages_and_choices: [user, { ...choice, token_ids: [-1] }] },
      { reward: 1, exchanges: { chat_completions: [{ response: 7 }] } },
      { reward: 1, exchanges: { chat_completions: [], messages: [{ request: 7, response: { content: 7 } }] } },
    ].map((record) => refusalOf(art, record)?.path)
    expect(refusals).toEqual([
      'trajectory_json',
      'messages_and_choices[1]',
      'messages_and_choices[1].token_ids[0]',
      'exchanges.chat_completions[0].response',
      expect.stringMatching(/^exchanges\.messages\[0\]/),
    ])
    expect(trajectoriesOf(art, { group_json: '{}', trajectory_json: null })).toEqual([])
  })
})
