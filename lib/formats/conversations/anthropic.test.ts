/** Compares replies and streams of Anthropic with what its client reads in them (lib/formats/golden/writers/make_anthropic.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { anthropic } from './anthropic.ts'
import { anthropicStream } from './anthropic-stream.ts'

interface Reply {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly (readonly [id: string, name: string, input: object])[]
  readonly stop: string | null
  readonly sequence: string | null
  readonly usage: Readonly<Record<string, number>>
}
const golden = JSON.parse(readFileSync('lib/formats/golden/anthropic.json', 'utf8')) as {
  readonly message: Reply
  readonly streams: readonly Reply[]
}

const replyOf = ({ segments }: Trajectory) => {
  const last = segments.at(-1)
  if (last?.kind !== 'response') throw new Error('the trajectory does not end with a response')
  return last
}
const FINISHES: Readonly<Record<string, object>> = { tool_use: { kind: 'stop' } }

function expectReply(trajectory: Trajectory, { text, thinking, calls, stop, sequence, usage }: Reply): void {
  const { message = {}, finish, usage: counts } = replyOf(trajectory)
  const read = assistantMessage(message)
  expect(read.content).toBe(text)
  expect(read.reasoning ?? '').toBe(thinking)
  // The arguments of a call that was cut are its text. The client completes them.
  const inputs = (read.toolCalls ?? []).map(({ input }) => input)
  expect(read.toolCalls ?? []).toEqual(
    calls.map(([id, name, input], index) => ({ id, name, input: stop === null ? inputs[index] : input })),
  )
  expect(finish).toEqual(stop === null ? undefined : (FINISHES[stop] ?? { kind: 'stop', matched: sequence }))
  const { input_tokens = 0, cache_read_input_tokens = 0, output_tokens } = usage
  expect(counts).toEqual({
    promptTokens: input_tokens + cache_read_input_tokens,
    completionTokens: output_tokens,
    cachedTokens: cache_read_input_tokens,
  })
}

test('A reply of Anthropic has its thinking, text, calls and counts, and the messages of its request', () => {
  const [record] = foreignRecords('anthropic-message.json')
  expect(formatOf(record)).toBe(anthropic)
  const trajectory = trajectoryOf(anthropic, record)
  expect(conversation(trajectory).map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
  expectReply(trajectory, golden.message)
})

describe('A stream of Anthropic', () => {
  const events = foreignRecords('anthropic-events.jsonl')

  test('is the message that its client joins, also if the connection broke', () => {
    expect(formatOf(events[0])).toBe(anthropicStream)
    const trajectories = trajectoriesOf(anthropicStream, events, fileSource('events'))
    expect(trajectories).toHaveLength(golden.streams.length)
    for (const [index, reply] of golden.streams.entries()) expectReply(trajectories[index] as Trajectory, reply)
    const [, , cut] = trajectories as [Trajectory, Trajectory, Trajectory]
    expect(conversation(cut)).toMatchObject([{ toolCalls: [{ name: 'calculator', input: expect.any(String) }] }])
  })

  const start = { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [] } }
  const delta = (more: object) => ({ type: 'content_block_delta', index: 0, delta: more })

  test('that ends with an error has it as its reason, and keeps citations', () => {
    const citation = { type: 'char_location', cited_text: 'a' }
    const trajectory = trajectoryOf(anthropicStream, [
      start,
      delta({ type: 'text_delta', text: 'a' }),
      delta({ type: 'citations_delta', citation }),
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ])
    expect(replyOf(trajectory)).toMatchObject({
      finish: { kind: 'unknown', raw: 'overloaded_error: Overloaded' },
      message: { content: [{ text: 'a', citations: [citation] }] },
    })
  })

  test('is not recognised by names of other events', () => {
    expect([7, { type: 'error' }, { type: 'message' }, { type: 'ping' }].map(anthropicStream.sniff)).toEqual([
      false,
      false,
      false,
      true,
    ])
  })
})
