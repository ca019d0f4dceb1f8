/** Compares runs of SWE-agent and OpenHands with what Python reads in them (lib/formats/golden/writers/make_agents.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { zipOf } from '#testing/files/archives.ts'
import { openFile, openText } from '../reading/open.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { openHands, openHandsEvents } from './openhands.ts'
import { sweAgent } from './swe-agent.ts'

interface SdkMessage {
  readonly role: string
  readonly content?: readonly { readonly text: string }[]
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  readonly tool_call_id?: string
  readonly reasoning_content?: string
  readonly thinking_blocks?: readonly { readonly thinking: string }[]
}
type Call = readonly [id: string, name: string, input?: object]
const golden = JSON.parse(readFileSync('lib/formats/golden/agents.json', 'utf8')) as {
  readonly swe: {
    readonly roles: readonly string[]
    readonly calls: readonly Call[]
    readonly results: readonly string[]
  }
  readonly output: { readonly calls: readonly Call[] }
  readonly events: { readonly calls: readonly Call[] }
  readonly sdk: readonly SdkMessage[]
}

const roles = (trajectory: Trajectory) => conversation(trajectory).map(({ role }) => role)
const callsOf = (trajectory: Trajectory) =>
  conversation(trajectory).flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id, name, input }) => [id, name, input]) : [],
  )
const resultsOf = (trajectory: Trajectory) =>
  conversation(trajectory).flatMap((message) => (message.role === 'tool' ? [message.callId] : []))

test('the events of OpenHands in an archive are one trajectory for each folder, in the order of their names', async () => {
  const events = foreignRecords('openhands-sdk-events.jsonl')
  const [whole] = trajectoriesOf(openHandsEvents, events)
  const files = (folder: string, end: number) =>
    events
      .slice(0, end)
      .map((event, index) => ({ name: `${folder}/event-${index}.json`, content: JSON.stringify(event) }))
  const bytes = zipOf([
    { name: 'a/base_state.json', content: '{"id": "a"}' },
    ...files('a/events', events.length).reverse(),
    { name: 'a/events/broken.json', content: '{' },
    ...files('b', 2),
  ])
  const archive = { size: bytes.length, read: async (start: number, end: number) => bytes.subarray(start, end) }
  const opened = await Array.fromAsync(openFile(archive, { ...fileSource('run'), file: 'run.zip' }))
  const trajectories = opened.flatMap((one) => (one.ok ? [one.trajectory] : []))
  expect(trajectories.map(({ segments }) => segments)).toEqual([
    whole?.segments,
    trajectoryOf(openHandsEvents, events.slice(0, 2)).segments,
  ])
  const limits = { ...LIMITS, recordBytes: 5000 }
  expect((await Array.fromAsync(openFile(archive, fileSource('run'), { limits }))).at(-1)).toMatchObject({
    scope: 'file',
    error: { expected: 'records that belong together of at most 5000 bytes' },
  })
  // Windows PowerShell 5.1 writes backslashes.
  const ofWindows = zipOf(
    [...files('a\\events', 1), ...files('b', 1)].map(({ name, content }) => ({
      name: name.replace('/', '\\'),
      content,
    })),
  )
  expect(
    await Array.fromAsync(
      openFile(
        { size: ofWindows.length, read: async (start, end) => ofWindows.subarray(start, end) },
        fileSource('run'),
      ),
    ),
  ).toMatchObject([
    { trajectory: { provenance: { file: expect.stringMatching(/a\/events$/) } } },
    { trajectory: { provenance: { file: expect.stringMatching(/b$/) } } },
  ])
  expect(trajectories.map(({ provenance }) => provenance)).toMatchObject([
    { file: 'run.zip/a/events' },
    { file: 'run.zip/b' },
  ])
  expect(opened.flatMap((one) => (one.ok ? [] : [one.error.message]))).toEqual([
    expect.stringMatching(/^a\/events\/broken\.json: expected JSON/),
  ])
})

describe('A trajectory of SWE-agent', () => {
  const [record] = foreignRecords('swe-agent.json') as [object]

  test('has its messages, calls, results, exit status and configuration', () => {
    expect(formatOf(record)).toBe(sweAgent)
    const trajectory = trajectoryOf(sweAgent, record)
    expect(roles(trajectory)).toEqual(golden.swe.roles)
    expect(callsOf(trajectory).map(([id, name]) => [id, name])).toEqual(golden.swe.calls)
    expect(resultsOf(trajectory)).toEqual(golden.swe.results)
    expect(trajectory).toMatchObject({
      model: { name: 'gpt-4o' },
      outcome: { kind: 'ended', reason: 'end_turn' },
      foreign: { 'swe-agent': { info: { exit_status: 'submitted' } } },
      provenance: { missing: ['ids', 'mask', 'logprobs', 'special_tokens'] },
    })
    expect(trajectory.foreign?.['swe-agent']).toHaveProperty('trajectory[0].execution_time')
    expect(trajectory.foreign?.['swe-agent']).not.toHaveProperty('trajectory[0].observation')
  })

  const message = (role: string, content: unknown, more: object = {}) => ({ role, content, agent: 'main', ...more })

  test('that was repeated has a trajectory for each attempt, with its thinking', () => {
    const thinking = { thinking_blocks: [{ type: 'thinking', thinking: 'Hm.' }, { type: 'redacted_thinking' }] }
    const attempt = (status: string) => ({
      history: [message('user', 'q'), message('assistant', 'a', thinking)],
      trajectory: [{ action: 'ls' }],
      info: { exit_status: status },
      replay_config: { agent: { model: {} } },
    })
    const run = {
      attempts: [attempt('submitted (exit_cost)'), attempt('exit_forfeit')],
      history: [message('user', 'q')],
    }
    const trajectories = trajectoriesOf(sweAgent, run)
    expect(trajectories.map(({ outcome }) => outcome)).toEqual([
      { kind: 'ended', reason: 'truncated' },
      { kind: 'ended', reason: 'unknown' },
    ])
    expect(trajectories.map((one) => conversation(one)[1])).toMatchObject([{ reasoning: 'Hm.' }, { reasoning: 'Hm.' }])
    expect(refusalOf(sweAgent, { attempts: [{ history: [message('robot', 'x')] }] })?.path).toBe(
      'attempts[0].history[0].role',
    )
    expect(trajectoryOf(sweAgent, { history: [message('user', 'q')] })).not.toHaveProperty('foreign')
    expect(refusalOf(sweAgent, { history: [message('user', 7)] })?.path).toBe('history[0]')
  })

  test('is recognised by the agents of its messages', () => {
    const others = [7, { history: [] }, { history: [{ role: 'user', content: 'q' }] }, { attempts: [] }]
    expect(others.map(sweAgent.sniff)).toEqual(others.map(() => false))
  })
})

describe('A run of OpenHands', () => {
  test('opens as the line of an evaluation, with its calls, model, tools and instance', () => {
    const [record] = foreignRecords('openhands-output.jsonl')
    expect(formatOf(record)).toBe(openHands)
    const trajectory = trajectoryOf(openHands, record)
    expect(callsOf(trajectory)).toEqual(golden.output.calls)
    expect(roles(trajectory)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'])
    expect(resultsOf(trajectory)).toEqual(golden.output.calls.slice(0, 2).map(([id]) => id))
    expect(trajectory).toMatchObject({
      title: 'ponylang__ponyc-4595',
      model: { name: 'meta-llama/llama-4-maverick' },
      outcome: { kind: 'ended', reason: 'end_turn' },
      foreign: {
        openhands: { history: [{ action: 'recall' }, { observation: 'recall' }], metadata: { max_iterations: 50 } },
      },
    })
  })

  test('opens as a list of events', () => {
    const [events] = foreignRecords('openhands-events.json') as [readonly object[]]
    const opened = openText(JSON.stringify(events), fileSource('events'))
    if (!opened.ok) throw new Error(opened.error.message)
    const [trajectory] = opened.trajectories as [Trajectory]
    expect(opened.format).toBe(openHandsEvents)
    expect(callsOf(trajectory)).toEqual(golden.events.calls)
    expect(roles(trajectory)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(trajectory).toMatchObject({ model: { name: 'claude-3-5-sonnet-20241022' }, outcome: { reason: 'end_turn' } })
    expect(trajectory).not.toHaveProperty('foreign')
  })

  test('since 1.0 has the messages that the SDK makes of its events', () => {
    const events = foreignRecords('openhands-sdk-events.jsonl')
    expect(formatOf(events[0])).toBe(openHandsEvents)
    const trajectory = trajectoryOf(openHandsEvents, events)
    const expected = golden.sdk.map(({ role, content = [], tool_calls: calls, tool_call_id, ...message }) => ({
      role,
      content: content.map(({ text }) => text).join(''),
      ...(tool_call_id !== undefined && { callId: tool_call_id }),
      ...(calls && {
        toolCalls: calls.map(({ id, name, arguments: input }) => ({ id, name, input: JSON.parse(input) })),
      }),
      ...((message.reasoning_content || message.thinking_blocks?.length) && {
        reasoning: message.reasoning_content || message.thinking_blocks?.map(({ thinking }) => thinking).join('\n'),
      }),
    }))
    expect(conversation(trajectory)).toMatchObject(expected)
    expect(conversation(trajectory)).toHaveLength(expected.length)
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(trajectory.foreign?.['openhands-events']).toMatchObject({ history: [{ kind: 'PauseEvent' }] })
  })

  const event = (more: object) => ({ id: 1, source: 'agent', ...more })
  const line = (history: readonly object[], more: object = {}) => ({ history, ...more })

  test('before events had a source has its actions as calls', () => {
    const history = [
      { action: 'message', content: 'q' },
      { action: 'run', command: 'ls', thought: 'Look.' },
      { observation: 'run', content: { a: 1 } },
      { action: 'finish', thought: '', outputs: {} },
    ]
    const trajectory = trajectoryOf(openHands, line(history))
    expect(conversation(trajectory)).toEqual([
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'Look.', toolCalls: [{ name: 'run', input: { command: 'ls' } }] },
      { role: 'tool', content: '{"a":1}' },
      { role: 'assistant', content: '', toolCalls: [{ name: 'finish', input: { outputs: {} } }] },
    ])
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
  })

  test('has one reply for several actions of it, the messages of both sides, and the tools of the system prompt', () => {
    const call = (id: string) => ({ id, function: { name: 'f', arguments: '{}' } })
    const action = (id: string) =>
      event({
        action: 'run',
        args: { command: 'ls' },
        tool_call_metadata: {
          tool_call_id: id,
          function_name: 'f',
          model_response: {
            id: 'r',
            model: 'm',
            choices: [{ message: { content: 'Both.', tool_calls: [call('a'), call('b')] } }],
          },
        },
      })
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const history = [
      event({ action: 'system', args: { content: 'You are.', tools } }),
      event({ action: 'message', args: { content: 'Hi' } }),
      action('a'),
      action('b'),
      event({ observation: 'agent_state_changed' }),
      event({ source: 'user', action: 'stop', args: {} }),
    ]
    const trajectory = trajectoryOf(openHands, line(history))
    expect(conversation(trajectory)).toMatchObject([
      { role: 'system', content: 'You are.' },
      { role: 'assistant', content: 'Hi' },
      { role: 'assistant', content: 'Both.', toolCalls: [{ id: 'a' }, { id: 'b' }] },
    ])
    expect(trajectory.model).toMatchObject({ name: 'm', tools: [{ name: 'f' }] })
    expect(trajectory.foreign?.openhands).toMatchObject({
      history: [{ observation: 'agent_state_changed' }, { action: 'stop' }],
    })
  })

  test('says why it ended, and has the result of its tests as reward', () => {
    const history = [event({ action: 'message', source: 'user', args: { content: 'q' } })]
    const of = (more: object) => trajectoryOf(openHands, line(history, more))
    expect(['', 'Agent reached maximum iteration', 'Runtime died'].map((error) => of({ error }).outcome)).toEqual([
      { kind: 'ended', reason: 'unknown' },
      { kind: 'ended', reason: 'truncated' },
      { kind: 'failed', code: 'AGENT_ERROR', message: 'Runtime died' },
    ])
    expect(
      [
        { report: { resolved: true } },
        { test_result: { report: { resolved: false } } },
        { test_result: { git_patch: '' } },
      ].map((more) => of(more).reward),
    ).toEqual([1, 0, undefined])
    expect(of({ metadata: { llm: { model: 'n' } } }).model.name).toBe('n')
  })

  test('is refused at an event that is none, or a message without a role', () => {
    expect(refusalOf(openHandsEvents, [event({ action: 'x' }), 7])?.path).toBe('[1]')
    const message = { kind: 'MessageEvent', source: 'user', timestamp: '', llm_message: {} }
    expect(refusalOf(openHands, line([message]))?.path).toBe('history[0].llm_message.role')
    const robot = { ...message, llm_message: { role: 'robot', content: [] } }
    expect(refusalOf(openHandsEvents, [event({ observation: 'null' }), robot])?.path).toBe('[1].llm_message.role')
    expect(refusalOf(openHands, line([{ kind: 'MessageEvent', source: 'user', timestamp: '' }]))?.path).toBe(
      'history[0].llm_message.role',
    )
    expect(refusalOf(openHands, 7)?.path).toBe('history[0]')
    const others = [7, { history: [] }, { history: [{ role: 'user', action: 'x' }] }, { source: 'a' }]
    expect(others.map((value) => openHands.sniff(value) || openHandsEvents.sniff(value))).toEqual(
      others.map(() => false),
    )
  })

  test('since 1.0 opens with events that lack their parts', () => {
    const events = ['ActionEvent', 'ObservationEvent', 'MessageEvent'].map((kind) => ({
      kind,
      source: 'agent',
      timestamp: '',
      llm_message: { role: 'user' },
      observation: 'text',
    }))
    expect(conversation(trajectoryOf(openHandsEvents, events))).toEqual([
      { role: 'assistant', content: '', toolCalls: [{ name: '', input: {} }] },
      { role: 'tool', content: 'text' },
    ])
  })
})
