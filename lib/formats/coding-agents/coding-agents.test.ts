/** Compares sessions of coding agents with what their server received (lib/formats/golden/writers/make_coding_agents.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import type { Format } from '../format.ts'
import { formatOf } from '../registry.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { geminiCli } from './gemini-cli.ts'
import { opencode } from './opencode.ts'

interface Seen {
  readonly calls: readonly (readonly [id: string, name: string, input: object])[]
  readonly results: Readonly<Record<string, string>>
}
const golden = JSON.parse(readFileSync('lib/formats/golden/coding-agents.json', 'utf8')) as Record<string, Seen>

const roles = (trajectory: Trajectory) => conversation(trajectory).map(({ role }) => role)
const texts = (trajectory: Trajectory) => conversation(trajectory).map(({ content }) => content)
const callsOf = (trajectory: Trajectory) =>
  conversation(trajectory).flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
const thoughtsOf = (trajectory: Trajectory) =>
  conversation(trajectory).flatMap((message) => (message.role === 'assistant' ? [message.reasoning] : []))
const resultsOf = (trajectory: Trajectory) =>
  Object.fromEntries(
    conversation(trajectory).flatMap((message) => (message.role === 'tool' ? [[message.callId, message.content]] : [])),
  )

test.each<[string, Format, string, readonly string[]]>([
  ['claude-code.jsonl', claudeCode, 'claude-sonnet-4-5', ['user']],
  ['codex.jsonl', codex, 'gpt-5-codex', ['system', 'developer', 'user', 'user']],
  ['gemini-cli.jsonl', geminiCli, 'gemini-2.5-flash', ['user', 'user']],
  ['opencode.json', opencode, 'scripted', ['user']],
])('a session in %s has the calls and results that the server received', (file, format, model, prompt) => {
  const records = foreignRecords(file)
  expect(records.map((record) => formatOf(record)?.name)).toEqual(records.map(() => format.name))
  const trajectory = trajectoryOf(format, format.joins ? records : records[0])
  const { calls, results } = golden[format.name] as Seen
  expect(roles(trajectory)).toEqual([...prompt, 'assistant', ...calls.map(() => 'tool'), 'assistant'])
  expect(callsOf(trajectory)).toMatchObject(calls.map(([id, name, input]) => ({ id, name, input })))
  expect(Object.keys(resultsOf(trajectory))).toHaveLength(calls.length)
  if (Object.values(results).every((result) => result.length < 20)) expect(resultsOf(trajectory)).toEqual(results)
  expect(thoughtsOf(trajectory)).toEqual(['Thought 1.', 'Thought 2.'])
  expect(texts(trajectory).at(-1)).toBe('The product is 425.')
  expect(trajectory).toMatchObject({
    model: { name: model },
    outcome: { kind: 'ended', reason: 'end_turn' },
    createdAt: expect.stringMatching(/^2026-/),
  })
  const responses = trajectory.segments.filter(({ kind }) => kind === 'response')
  expect(responses.map((segment) => segment.kind === 'response' && segment.usage?.cachedTokens)).toEqual([5, 5])
})

describe('A session of Claude Code', () => {
  let count = 0
  const line = (type: string, parentUuid: string | null, content: unknown, more: object = {}) => ({
    type,
    uuid: `${++count}`,
    parentUuid,
    sessionId: 's',
    timestamp: '2026-11-30T00:00:00.000Z',
    message: { role: type, content, ...(type === 'assistant' && { id: `msg_${count}`, model: 'm' }) },
    ...more,
  })
  const uuid = (record: { readonly uuid: string }) => record.uuid
  const question = line('user', null, 'q')
  const reply = line('assistant', uuid(question), [{ type: 'text', text: 'a' }])

  test('has a trajectory for each edit of a message, and for each sub-agent', () => {
    const edited = line('user', uuid(reply), 'first')
    const again = line('user', uuid(reply), 'second')
    const agent = line('user', null, 'task', { isSidechain: true })
    const titles = [{ type: 'summary', summary: 'A product', leafUuid: '2' }]
    const found = trajectoriesOf(claudeCode, [...titles, question, reply, edited, again, agent])
    expect(found.map(texts)).toEqual([['q', 'a', 'first'], ['q', 'a', 'second'], ['task']])
    expect(found.map(({ title }) => title)).toEqual(['A product', 'A product', 'A product'])
    expect(found[0]?.foreign?.['claude-code']).toHaveProperty('otherLines', titles)
    expect(found[1]?.foreign?.['claude-code']).not.toHaveProperty('otherLines')
    expect(found[2]?.foreign?.['claude-code']).toMatchObject({ isSidechain: true })
  })

  test('continues after lines of the program, and fails with the error of the server', () => {
    const event = { type: 'system', uuid: 'e', parentUuid: uuid(reply), sessionId: 's' }
    const next = line('user', 'e', [{ type: 'tool_result', tool_use_id: 'other', content: 'r' }])
    const error = (content: unknown) => ({
      ...line('assistant', uuid(next), content, { isApiErrorMessage: true }),
      message: { role: 'assistant', model: '<synthetic>', content },
    })
    const session = [question, reply, event, next]
    const outcome = (...errors: readonly object[]) => trajectoryOf(claudeCode, [...session, ...errors]).outcome
    expect(texts(trajectoryOf(claudeCode, session))).toEqual(['q', 'a', 'r'])
    expect(outcome(error([{ type: 'text', text: 'Overloaded' }]))).toEqual({
      kind: 'failed',
      code: 'API_ERROR',
      message: 'Overloaded',
    })
    const unnamed = { message: 'The server answered with an error.' }
    expect(outcome(error('x'))).toMatchObject(unnamed)
    expect(outcome({ ...error('x'), message: null })).toMatchObject(unnamed)
    expect(outcome(line('user', uuid(next), 'retry'))).toMatchObject({ kind: 'ended' })
  })

  test('reads a repeated line once, and the results of replies without ids apart', () => {
    const withoutId = (parent: string, content: unknown) => ({
      ...line('assistant', parent, content),
      message: { role: 'assistant', content },
    })
    const result = (parent: string, id: string) =>
      line('user', parent, [{ type: 'tool_result', tool_use_id: id, content: id }])
    const first = withoutId(uuid(question), 'a')
    const firstResult = result(uuid(first), 'x')
    const second = withoutId(uuid(firstResult), 'b')
    const secondResult = result(uuid(second), 'y')
    const session = [question, first, firstResult, firstResult, second, secondResult, question]
    expect(texts(trajectoryOf(claudeCode, session))).toEqual(['q', 'a', 'x', 'b', 'y'])
  })

  test('is refused with the line of a message that cannot be read', () => {
    expect(refusalOf(claudeCode, [question, line('user', uuid(question), 7)])?.path).toBe('[1].message')
    expect(trajectoryOf(claudeCode, { ...reply, message: { role: 'assistant', content: 'alone' } })).toMatchObject({
      segments: [{ message: { content: 'alone' } }],
    })
  })

  test.each([
    [{ type: 'file-history-snapshot', snapshot: {} }, true],
    [{ type: 'summary', summary: 'x' }, false],
    [{ type: 'event', sessionId: 1 }, false],
    [{ type: 'chat', sessionId: 's', messages: [] }, false],
    [{ sessionId: 's' }, false],
  ])('has lines such as %j: %s', (value, isLine) => {
    expect(claudeCode.sniff(value)).toBe(isLine)
  })
})

describe('A session of Codex CLI', () => {
  const line = (type: string, payload: object) => ({ timestamp: '2026-11-30T00:00:00.000Z', type, payload })
  const item = (role: string, text: string) =>
    line('response_item', { type: 'message', role, content: [{ type: 'input_text', text }] })
  const replacement_history = [{ type: 'ghost_snapshot' }, { type: 'message', role: 'user', content: 'summary' }]

  test('has a trajectory for each history that a compaction begins', () => {
    const found = trajectoriesOf(codex, [
      line('session_meta', { id: 'x', instructions: 'Be brief.' }),
      line('session_meta', { id: 'y' }),
      item('user', 'q'),
      item('assistant', 'a'),
      line('response_item', { type: 'ghost_snapshot', ghost_commit: {} }),
      line('compacted', { message: 'summary', replacement_history }),
      line('compacted', { message: 'of an older version' }),
      line('event_msg', { type: 'task_started' }),
      item('assistant', 'b'),
      line('event_msg', { type: 'turn_aborted' }),
    ])
    expect(found.map(texts)).toEqual([
      ['Be brief.', 'q', 'a'],
      ['Be brief.', 'summary', 'b'],
    ])
    expect(found.map(({ outcome }) => outcome)).toEqual([
      { kind: 'ended', reason: 'end_turn' },
      { kind: 'ended', reason: 'cancelled' },
    ])
    expect(found[0]?.foreign?.codex).toHaveProperty('otherLines[1].payload.type', 'ghost_snapshot')
    expect(found[1]?.foreign?.codex).toEqual({ id: 'x' })
  })

  test('is refused with the line of a message that cannot be read', () => {
    expect(refusalOf(codex, [item('user', 'q'), item('robot', 'x')])?.path).toBe('[1].payload.role')
    const payload = { replacement_history: [{ type: 'message', role: 'robot', content: 'x' }] }
    expect(refusalOf(codex, [line('compacted', payload)])?.path).toBe('payload.replacement_history[0].role')
  })

  test('without an item has no trajectory', () => {
    const events = [
      line('session_meta', {}),
      line('event_msg', { type: 'token_count' }),
      { ...line('x', {}), payload: 7 },
    ]
    expect(trajectoriesOf(codex, events)).toEqual([])
    expect([{ timestamp: 1 }, { timestamp: 'x' }, { timestamp: 'x', type: 'y' }, 7].some(codex.sniff)).toBe(false)
  })
})

describe('A chat of Gemini CLI', () => {
  const message = (id: string, type: string, content: unknown, more: object = {}) => ({
    id,
    type,
    timestamp: '2026-11-30T00:00:00.000Z',
    content,
    ...more,
  })
  const call = {
    id: 'c',
    name: 'f',
    args: { x: 1 },
    result: [{ functionResponse: { id: 'c', name: 'f', response: { output: 'r' } } }],
  }

  test('of an older version is one object, whose calls have their results', () => {
    const chat = {
      sessionId: 's',
      projectHash: 'h',
      messages: [
        message('1', 'user', 'q'),
        message('2', 'gemini', 'a', {
          toolCalls: [call, { ...call, id: 'd', result: 'text' }],
          tokens: { output: 'x' },
        }),
        message('3', 'gemini', 'b'),
        message('4', 'info', 'shown'),
      ],
    }
    const trajectory = trajectoryOf(geminiCli, chat)
    expect(texts(trajectory)).toEqual(['q', 'a', 'r', 'text', 'b'])
    expect(resultsOf(trajectory)).toEqual({ c: 'r', d: 'text' })
    expect(trajectory.foreign?.['gemini-cli']).toMatchObject({ otherMessages: [{ content: 'shown' }] })
  })

  test('replaces messages, and goes back to one', () => {
    const chat = [
      { sessionId: 's', projectHash: 'h' },
      message('1', 'user', 'q'),
      message('2', 'gemini', 'draft'),
      message('2', 'gemini', 'a', { tokens: { input: 3, output: 1 } }),
      message('3', 'user', 'wrong'),
      { $rewindTo: '3' },
      message('4', 'user', [{ text: 'right' }]),
    ]
    expect(texts(trajectoryOf(geminiCli, chat))).toEqual(['q', 'a', 'right'])
    const replaced = [...chat, { $set: { messages: [message('9', 'user', 'new')] } }, { $set: 7 }]
    expect(texts(trajectoryOf(geminiCli, replaced))).toEqual(['new'])
  })
})

describe('A session of opencode', () => {
  const message = (role: string, parts: readonly object[], more: object = {}) => ({ info: { role, ...more }, parts })
  const tool = (state: unknown) => ({ type: 'tool', tool: 'bash', callID: 'c', state })

  test('has the errors of its calls, and of its last reply', () => {
    const parts = [
      tool({ status: 'error', input: {}, error: 'failed' }),
      tool({ status: 'running', input: {} }),
      tool(7),
    ]
    const failed = (error: object) =>
      trajectoryOf(opencode, {
        info: {},
        messages: [
          message('user', [{ type: 'text', text: 'q' }, { type: 'file', url: 'x' }, { type: 'snapshot' }]),
          message('assistant', parts, { error }),
        ],
      })
    const trajectory = failed({ name: 'APIError', data: { message: 'Overloaded' } })
    expect(conversation(trajectory).slice(2)).toMatchObject([{ role: 'tool', content: 'failed', isError: true }])
    expect(trajectory.outcome).toEqual({ kind: 'failed', code: 'AGENT_ERROR', message: 'Overloaded' })
    expect(failed({ name: 'UnknownError' }).outcome).toMatchObject({ message: 'UnknownError' })
    expect(failed({ name: 'MessageAbortedError' }).outcome).toEqual({ kind: 'ended', reason: 'cancelled' })
  })

  test('without names, times and counts opens', () => {
    const session = {
      info: {},
      messages: [message('assistant', [{ type: 'text', text: 'a' }], { tokens: {} }), { info: 7 }],
    }
    expect(opencode.sniff(session)).toBe(true)
    expect(opencode.sniff({ info: {}, messages: [7] })).toBe(false)
    expect(trajectoryOf(opencode, session)).toMatchObject({
      outcome: { kind: 'ended', reason: 'end_turn' },
    })
  })
})
