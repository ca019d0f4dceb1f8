/** Compares text files that tools wrote with what Python reads in them (lib/formats/golden/make_traces.py). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { memoryTools } from '../containers/container.ts'
import type { Format } from '../format.ts'
import { openFile } from '../reading/open.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { trajectoriesOf } from '../test-trajectories.ts'

interface GivenMessage {
  readonly role: string
  readonly content: string
  readonly reasoning_content?: string | null
  readonly tool_calls?: string | readonly { readonly function: { readonly name: string } }[] | null
}
interface Row {
  readonly messages: readonly GivenMessage[]
  readonly prompt: readonly GivenMessage[]
  readonly completion: readonly GivenMessage[]
  readonly reward: number
  readonly advantage: number
}
const golden = JSON.parse(readFileSync('lib/formats/golden/traces.json', 'utf8')) as {
  readonly rows: Record<'trl-completions.parquet' | 'hf-messages.parquet', readonly Row[]>
  readonly scores: Record<'verl-3.jsonl', readonly number[]>
}
const opened = (name: string, records: readonly unknown[]) => {
  const format = formatOf(records[0]) as Format
  expect(format.name).toBe(name)
  return format.joins ? trajectoriesOf(format, records) : records.flatMap((record) => trajectoriesOf(format, record))
}
const plain = ({ role, content }: GivenMessage) => ({ role, content })

test('a dataset of messages opens with its messages, reasoning, calls, tools and rewards', () => {
  const rows = golden.rows['hf-messages.parquet']
  const trajectories = opened('messages', rows)
  expect(
    trajectories.map((trajectory) => conversation(trajectory).map(({ role, content }) => ({ role, content }))),
  ).toEqual(rows.map(({ messages }) => messages.map(plain)))
  expect(trajectories.map(({ reward }) => reward)).toEqual(rows.map(({ reward }) => reward))
  for (const trajectory of trajectories) {
    expect(conversation(trajectory)[1]).toMatchObject({
      reasoning: expect.any(String),
      toolCalls: [{ name: 'calculator' }],
    })
    expect(trajectory.model.tools).toMatchObject([{ name: 'calculator', inputSchema: { type: 'object' } }])
  }
})

test('a file of ART has its groups, and does not train the replies that it was given', async () => {
  interface Sample extends Pick<Row, 'messages' | 'reward'> {
    readonly metrics: object
  }
  const groups = JSON.parse(readFileSync('lib/formats/golden/art.json', 'utf8')) as readonly (readonly Sample[])[]
  const bytes = readFileSync('lib/formats/golden/foreign/art-trajectories.parquet')
  const file = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
  const found = await Array.fromAsync(openFile(file, fileSource('art'), { tools: memoryTools }))
  const trajectories = found.map((one) => (one.ok ? one.trajectory : expect.fail(one.error.message)))
  expect(trajectories.map((one) => conversation(one).map(({ role, content }) => ({ role, content })))).toEqual(
    groups.flat().map(({ messages }) => messages.map(plain)),
  )
  expect(trajectories.map(({ reward, group }) => [reward, group])).toEqual(
    groups.flatMap((samples, id) => samples.map(({ reward }, index) => [reward, { id: String(id), index }])),
  )
  const [first] = trajectories
  const replies = first?.segments.flatMap((segment) => (segment.kind === 'response' ? [segment.message?.weight] : []))
  expect(replies).toEqual([0, undefined, undefined])
  expect(first?.model.tools).toMatchObject([{ name: 'calculator' }])
})

test('completions of TRL are the groups of their prompts, without a reward if the file has several', () => {
  const rows = golden.rows['trl-completions.parquet']
  const trajectories = opened('trl-completions', rows)
  expect(
    trajectories.map((trajectory) => conversation(trajectory).map(({ role, content }) => ({ role, content }))),
  ).toEqual(rows.map(({ prompt, completion }) => [...prompt, ...completion].map(plain)))
  const groups = rows.map(
    ({ prompt }, index) =>
      rows.slice(0, index).filter((row) => JSON.stringify(row.prompt) === JSON.stringify(prompt)).length,
  )
  expect(trajectories.map(({ group }) => group?.index)).toEqual(groups)
  expect(new Set(trajectories.map(({ group }) => group?.id)).size).toBe(
    new Set(rows.map(({ prompt }) => JSON.stringify(prompt))).size,
  )
  expect(trajectories.map(({ foreign }) => foreign?.['trl-completions']?.advantage)).toEqual(
    rows.map(({ advantage }) => advantage),
  )
  expect(trajectories[0]?.provenance).toMatchObject({
    lacked: expect.arrayContaining(['reward: the file has several, and not their weights']),
    missing: ['ids', 'mask', 'logprobs', 'special_tokens'],
  })
  expect(trajectories[0]).not.toHaveProperty('reward')
})

test('a rollout dump of verl has its texts, scores and groups', () => {
  const records = foreignRecords('verl-3.jsonl') as readonly { readonly input: string; readonly output: string }[]
  const trajectories = opened('verl-dump', records)
  expect(trajectories.map(({ reward }) => reward)).toEqual(golden.scores['verl-3.jsonl'])
  expect(trajectories.map((trajectory) => conversation(trajectory).map(({ content }) => content))).toEqual(
    records.map(({ input, output }) => [input, output]),
  )
  expect(trajectories.map(({ group }) => group?.index)).toEqual([0, 1, 0, 1])
  expect(trajectories[0]?.foreign).toMatchObject({ 'verl-dump': { gts: '425', step: 3, request_id: 'r0' } })
})

test('fine-tuning JSONL has its messages and tools', () => {
  const records = foreignRecords('openai-finetuning.jsonl') as readonly { readonly messages: readonly GivenMessage[] }[]
  const trajectories = opened('messages', records)
  expect(trajectories.map((trajectory) => conversation(trajectory).map(({ role }) => role))).toEqual(
    records.map(({ messages }) => messages.map(({ role }) => role)),
  )
  expect(trajectories[0]?.model.tools).toMatchObject([
    { name: 'calculator', description: 'Calculate an arithmetic expression.' },
  ])
  expect(trajectories[0]?.foreign).toEqual({ messages: { parallel_tool_calls: false } })
})
