/** Compares replies of Ollama with what its package reads in them (lib/formats/golden/writers/make_ollama.py). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { ollama } from './ollama.ts'

interface Reply {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly (readonly [name: string, input: object])[]
  readonly prompt: number
  readonly completion: number
}
const golden = JSON.parse(readFileSync('lib/formats/golden/ollama.json', 'utf8')) as Record<
  'replies' | 'streams',
  readonly Reply[]
>

const repliesOf = (trajectory: Trajectory): readonly ResponseSegment[] =>
  trajectory.segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))

const readReply = ({ message = {}, usage }: ResponseSegment): Reply => {
  const { content, reasoning = '', toolCalls = [] } = assistantMessage(message)
  return {
    text: String(content),
    thinking: reasoning,
    calls: toolCalls.map(({ name, input }) => [name, input as object]),
    prompt: usage?.promptTokens ?? 0,
    completion: usage?.completionTokens ?? 0,
  }
}

test('Replies of Ollama with their requests are one conversation, and logprobs without ids are kept unread', () => {
  const records = foreignRecords('ollama.jsonl')
  expect(records.map(formatOf)).toEqual([ollama, ollama])
  const trajectory = trajectoryOf(ollama, records, fileSource('ollama'))
  expect(conversation(trajectory).map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant'])
  expect(repliesOf(trajectory).map(readReply)).toEqual(golden.replies)
  expect(trajectory).toMatchObject({
    createdAt: '2026-11-30T01:00:00.123Z',
    model: { name: 'qwen3', tools: [{ name: 'calculator' }] },
    outcome: { reason: 'length' },
    provenance: { lacked: ['ids of the tokens with logprobs: these are kept unread'] },
    foreign: { ollama: { calls: [{ total_duration: 4883583458 }, { logprobs: [{ token: '425' }, { token: '.' }] }] } },
  })
})

test('Streams of Ollama end with the chunk that is done', () => {
  const trajectories = trajectoriesOf(ollama, foreignRecords('ollama-stream.jsonl'), fileSource('ollama'))
  expect(trajectories.flatMap(repliesOf).map(readReply)).toEqual(golden.streams)
  expect(trajectories.map(({ outcome }) => outcome)).toMatchObject([{ reason: 'unknown' }, { reason: 'end_turn' }])
})

const reply = (more: object) => ({ model: 'm', done: true, response: 'a', ...more })

test('A reply of /api/generate has the texts of its request, its thinking and the reason for its end', () => {
  const asked = (request: object) =>
    conversation(trajectoryOf(ollama, [{ request: { model: 'm', ...request }, response: reply({ thinking: 'hm' }) }]))
  expect(asked({ system: 'be', prompt: 'q' })).toEqual([
    { role: 'system', content: 'be' },
    { role: 'user', content: 'q' },
    { role: 'assistant', content: 'a', reasoning: 'hm' },
  ])
  expect(asked({})).toMatchObject([{ role: 'assistant' }])
  const message = { role: 'assistant' }
  expect(conversation(trajectoryOf(ollama, [{ model: 'm', done: true, message }]))).toMatchObject([{ content: '' }])
  const finishes = [{ done: false }, { done_reason: 'length' }, { done_reason: 'load' }, {}].map(
    (more) => repliesOf(trajectoryOf(ollama, [reply(more)]))[0]?.finish,
  )
  expect(finishes).toEqual([undefined, { kind: 'length' }, { kind: 'unknown', raw: 'load' }, { kind: 'stop' }])
})

test('A record that is no reply of Ollama is not recognised, and a wrong logprob is refused', () => {
  expect([7, { model: 'm' }, reply({ done: 'yes' }), reply({ response: 7 })].map(ollama.sniff)).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect(trajectoriesOf(ollama, [{}])).toEqual([])
  expect(refusalOf(ollama, [reply({ logprobs: [{ token: 'a', logprob: 'x' }] })])).toMatchObject({
    path: expect.stringContaining('logprobs[0].logprob'),
  })
})
