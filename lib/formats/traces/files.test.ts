/** Compares traces that tools wrote with what Python reads in them (lib/formats/golden/make_traces.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { miniSweAgent } from '../coding-agents/mini-swe-agent.ts'
import { formatOf } from '../registry.ts'
import { archiveEntries, fileSource, foreignRecords } from '../replies/test-files.ts'
import { trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { agentLightningEvents } from './agent-lightning.ts'
import { inspectLog } from './inspect-log.ts'
import { mlflowTrace } from './mlflow.ts'
import { otlp } from './otlp.ts'

interface Turn {
  readonly prompt: readonly number[]
  readonly ids: readonly number[]
  readonly logprobs: readonly number[]
}
interface Run {
  readonly turns: readonly Turn[]
  readonly reward?: number
}
interface InspectRun extends Run {
  readonly id: string
  readonly epoch: number
  readonly texts: readonly string[]
}
const golden = JSON.parse(readFileSync('lib/formats/golden/traces.json', 'utf8')) as Record<
  'agent-lightning-events.json' | 'otlp-openinference.json' | 'mlflow-trace.json',
  readonly Run[]
> & { readonly inspect: Record<string, readonly InspectRun[]> }

/** Returns each response with all ids before it, as a trainer would get them. */
const turnsOf = (trajectories: readonly Trajectory[]): readonly Turn[] =>
  trajectories.flatMap(({ segments }) => {
    const before: number[] = []
    return segments.flatMap((segment) => {
      const prompt = [...before]
      before.push(...segment.ids)
      if (segment.kind === 'prompt') return []
      return [{ prompt, ids: segment.ids, logprobs: (segment.logprobs ?? []).map(Number) }]
    })
  })

/** Checks that turns become one trajectory exactly where a prompt begins with all tokens before it. */
function expectJoined(trajectories: readonly Trajectory[], { turns, reward }: Run): void {
  expect(turnsOf(trajectories)).toEqual(turns)
  for (const trajectory of trajectories) expect(trajectory.reward).toBe(reward)
  const chains = turns.map(({ prompt, ids }) => [...prompt, ...ids])
  const splits = turns.slice(1).flatMap(({ prompt }, index) => {
    const before = chains[index] as readonly number[]
    const token = commonIds(before, prompt)
    return token < before.length ? [token] : []
  })
  expect(trajectories.slice(1).map(({ forkedFrom }) => forkedFrom)).toEqual(
    splits.map((token, index) => ({ trajectory: trajectories[index]?.id, token, kind: 'rendered_again' })),
  )
}

test('the events of Agent Lightning have ids, logprobs and reward, and name the turn whose prompt was rendered again', () => {
  const [record] = foreignRecords('agent-lightning-events.json') as [readonly unknown[]]
  expect(record.map((event) => formatOf(event)?.name)).toEqual(Array(3).fill('agent-lightning-events'))
  const trajectories = trajectoriesOf(agentLightningEvents, record, fileSource('events'))
  const [run] = golden['agent-lightning-events.json']
  expectJoined(trajectories, run as Run)
  expect(trajectories.map(({ forkedFrom }) => forkedFrom?.token)).toEqual([undefined, 123])
  expect(trajectories[0]).toMatchObject({
    columnMeanings: { logprobs: { values: 'raw', engine: 'vllm', temperature: 1 } },
    model: { name: 'tiny', tools: [{ name: 'calculator' }] },
    segments: [
      { messages: [{ role: 'user', content: 'What is 25 * 17?' }] },
      { timing: { elapsedMs: 332.9741490001652 } },
    ],
  })
})

test.each([
  ['otlp-openinference.json', otlp],
  ['mlflow-trace.json', mlflowTrace],
] as const)('%s has the ids and logprobs of the replies in its spans', (name, format) => {
  const [record] = foreignRecords(name)
  expect(formatOf(record)?.name).toBe(format.name)
  const trajectories = trajectoriesOf(format, format.joins ? [record] : record, fileSource(name))
  expectJoined(trajectories, golden[name][0] as Run)
  expect(trajectories[0]?.segments[0]).toMatchObject({ messages: [{ role: 'user', content: 'What is 25 * 17?' }] })
  expect(trajectories[0]?.segments[1]).toMatchObject({ timing: { startedAt: expect.stringMatching(/^2026-11-22T/) } })
})

describe('an archive of Inspect', () => {
  test('with raw replies has the ids, logprobs, scores and epochs of each sample', () => {
    const runs = golden.inspect['inspect-server.eval'] as readonly InspectRun[]
    const entries = archiveEntries('inspect-server.eval')
    const source = fileSource('eval')
    const samples = entries.filter(([name]) => name.startsWith('samples/'))
    expect(samples).toHaveLength(runs.length)
    for (const [name, value] of samples) {
      const run = runs.find(({ id, epoch }) => name === `samples/${id}_epoch_${epoch}.json`) as InspectRun
      const trajectories = trajectoriesOf(inspectLog, value, source)
      expectJoined(trajectories, run)
      expect(trajectories[0]?.group).toEqual({ id: run.id, index: run.epoch - 1 })
      expect(trajectories[0]?.columnMeanings?.logprobs).toMatchObject({ values: 'processed', temperature: 1 })
    }
  })

  test('has entries besides its samples, which contain no trajectory and are no errors', () => {
    const others = archiveEntries('inspect-server.eval').filter(([name]) => !name.startsWith('samples/'))
    const records = others.flatMap(([, value]) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    expect(records.map((record) => formatOf(record)?.name)).toEqual(records.map(() => 'inspect'))
    expect(records.flatMap((record) => trajectoriesOf(inspectLog, record))).toEqual([])
  })

  test('without raw replies opens as the messages of its samples, in a whole log too', () => {
    const runs = golden.inspect['inspect-mockllm.eval'] as readonly InspectRun[]
    const entries = archiveEntries('inspect-mockllm.eval')
    const samples = entries.filter(([name]) => name.startsWith('samples/')).map(([, value]) => value)
    const log = { ...(entries.find(([name]) => name === 'header.json')?.[1] as object), samples }
    expect(formatOf(log)?.name).toBe('inspect')
    const trajectories = trajectoriesOf(inspectLog, log)
    expect(trajectories.map((trajectory) => conversation(trajectory).map(({ content }) => content))).toEqual(
      runs.map(({ texts }) => texts),
    )
    expect(trajectories.map(({ reward }) => reward)).toEqual(runs.map(({ reward }) => reward))
    expect(trajectories[0]).toMatchObject({
      model: { name: 'mockllm/model', tools: [{ name: 'calculator' }] },
      outcome: { kind: 'ended', reason: 'end_turn' },
      provenance: { missing: ['ids', 'mask', 'logprobs', 'special_tokens'] },
    })
  })
})

test('a trajectory of mini-swe-agent has its messages and exit status', () => {
  const [record] = foreignRecords('mini-swe-agent.json')
  expect(formatOf(record)?.name).toBe('mini-swe-agent')
  const trajectory = trajectoryOf(miniSweAgent, record)
  expect(conversation(trajectory).map(({ role }) => role)).toEqual([
    ...['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'],
  ])
  expect(trajectory).toMatchObject({
    outcome: { kind: 'ended', reason: 'end_turn' },
    model: { name: 'deterministic_toolcall' },
    foreign: { 'mini-swe-agent': { info: { submission: '425\n' } } },
  })
})
