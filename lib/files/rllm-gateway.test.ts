/** Compares traces of rLLM’s gateway with what its own store returns of them (lib/formats/golden/writers/make_rllm.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { memoryTools, type UnpackTools } from '#lib/formats/containers/container.ts'
import { openFile } from '#lib/formats/reading/open.ts'
import { foreignRecords } from '#lib/formats/replies/test-files.ts'
import { calls, refusalOf, trajectoriesOf } from '#lib/formats/test-trajectories.ts'
import { rllmGateway } from '#lib/formats/traces/rllm-gateway.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { source } from '#testing/trajectories.ts'
import { sqliteTablesIn } from './sqlite-tables.ts'

interface Trace {
  readonly prompt_token_ids: readonly number[]
  readonly completion_token_ids: readonly number[]
  readonly logprobs: readonly number[]
}
const golden = JSON.parse(readFileSync('lib/formats/golden/rllm.json', 'utf8')) as Record<string, readonly Trace[]>
const tools: UnpackTools = { ...memoryTools, sqlite: sqliteTablesIn(folderOfFile()) }
const records = foreignRecords('rllm-gateway.jsonl') as readonly Record<string, unknown>[]

test.each(['rllm-gateway.sqlite', 'rllm-gateway.jsonl'])(
  'The traces of %s are a trajectory for each session with the ids and logprobs that rLLM reads',
  async (name) => {
    const bytes = readFileSync(`lib/formats/golden/foreign/${name}`)
    const read = async (start: number, end: number) => bytes.subarray(start, end)
    const opened = await Array.fromAsync(openFile({ size: bytes.length, read }, source, { tools }))
    const trajectories = opened.map((one) => (one.ok ? one.trajectory : expect.fail(one.error.message)))
    expect(trajectories.map(({ title }) => title)).toEqual(Object.keys(golden))
    for (const trajectory of trajectories) {
      const turns = calls(trajectory).map(({ prompt, response }) => ({
        prompt_token_ids: prompt,
        completion_token_ids: response.ids,
        logprobs: response.logprobs,
      }))
      expect(turns).toEqual(golden[trajectory.title ?? ''])
      expect(conversation(trajectory).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
      expect(trajectory).toMatchObject({
        createdAt: expect.stringMatching(/^2026-11-30T/),
        outcome: { kind: 'ended', reason: 'end_turn' },
        model: { name: 'tiny-qwen3', tools: [{ name: 'calculator' }] },
        provenance: { lacked: ['texts of the tokens'] },
        foreign: { 'rllm-gateway': { metadata: {} } },
      })
      expect(calls(trajectory).map(({ response }) => response.timing?.elapsedMs)).toEqual([250, 500])
    }
  },
)

describe('A trace of rLLM’s gateway', () => {
  const [, streamed = {}] = records

  test('opens alone, and joins the parts of a streamed call', () => {
    const part = (index: number, id: string | undefined, name: string | undefined, args: string) => ({
      index,
      ...(id !== undefined && { id }),
      type: 'function',
      function: { ...(name !== undefined && { name }), arguments: args },
    })
    const parts = [part(0, 'a', 'add', '{"a"'), part(0, undefined, undefined, ': 1}'), part(1, 'b', 'sub', '{}')]
    const [trajectory] = trajectoriesOf(rllmGateway, {
      ...streamed,
      response_message: { role: 'assistant', tool_calls: parts },
      raw_request: null,
    })
    expect(trajectory?.segments.at(-1)).toMatchObject({
      message: {
        tool_calls: [
          { id: 'a', function: { name: 'add', arguments: '{"a": 1}' } },
          { id: 'b', function: { name: 'sub', arguments: '{}' } },
        ],
      },
    })
    expect(trajectory?.segments[0]).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }],
    })
  })

  test('without ids and times has texts', () => {
    const { latency_ms: _, timestamp: __, metadata: ___, raw_request: ____, token_counts: _____, ...trace } = streamed
    const bare = { ...trace, prompt_token_ids: [], completion_token_ids: [], logprobs: null }
    const [text] = trajectoriesOf(rllmGateway, [bare, bare])
    expect(text?.segments.at(-1)).toMatchObject({ ids: [], message: { content: '425.' } })
    expect(text?.foreign).toBeUndefined()
  })

  test('is refused with the path of a wrong value', () => {
    const wrong = { ...streamed, completion_token_ids: [9, -1] }
    expect(refusalOf(rllmGateway, [wrong])).toMatchObject({ path: '[0].completion_token_ids[1]' })
    expect(refusalOf(rllmGateway, [{ created_at: 1, data: wrong }])).toMatchObject({
      path: '[0].data.completion_token_ids[1]',
    })
  })
})
