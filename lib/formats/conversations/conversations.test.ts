/** Records have the fields that datasets and trainers write; recorded files are in files.test.ts. */
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { source } from '#testing/trajectories.ts'
import { openText } from '../reading/open.ts'
import { formatOf } from '../registry.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { slime } from '../trainers/slime.ts'
import { anthropic } from './anthropic.ts'
import { chatMessages, messageLines } from './chat-messages.ts'
import { sharegpt } from './sharegpt.ts'
import { relax, trl, verlDump } from './text-dumps.ts'

const texts = (trajectory: Trajectory) => conversation(trajectory).map(({ role, content }) => [role, content])

describe('messages', () => {
  const question = { role: 'user', content: 'q' }
  test('that end with a question or with a call have no known outcome', () => {
    const calling = { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }
    const outcomes = [[question], [question, calling], [question, { role: 'assistant', content: 'a' }]].map(
      (messages) => trajectoryOf(chatMessages, { messages, model: 'm' }).outcome,
    )
    expect(outcomes.map((outcome) => outcome.kind === 'ended' && outcome.reason)).toEqual([
      'unknown',
      'unknown',
      'end_turn',
    ])
  })

  test('have the reward, the group and the status beside them, if these are of the right kind', () => {
    const of = (more: object) => trajectoryOf(chatMessages, { messages: [question], ...more })
    expect(of({ score: 2, status: 'aborted' })).toMatchObject({
      reward: 2,
      outcome: { reason: 'aborted' },
      foreign: { messages: { score: 2 } },
    })
    expect(of({ group_index: 1, sample_index: -1, reward: 'x', status: 'odd' })).toMatchObject({
      foreign: { messages: { group_index: 1, reward: 'x' } },
    })
    expect([of({ reward: true }).reward, of({ reward: { a: 1 }, score: false }).reward]).toEqual([1, 0])
    // A name with a meaning in JavaScript is data.
    expect(of({ status: '__proto__' }).outcome).toEqual({ kind: 'ended', reason: 'unknown' })
    expect(of({ group_index: 1, sample_index: 0 }).group).toEqual({ id: '1', index: 0 })
  })

  test('are refused at the message that is none', () => {
    expect(refusalOf(chatMessages, { messages: [question, { role: 'robot', content: 'x' }] })).toEqual({
      path: 'messages[1].role',
      expected: 'one of system, developer, user, assistant, tool, function',
      found: '"robot"',
    })
    expect(refusalOf(chatMessages, { messages: [question, { role: 'tool', content: 7 }] })).toMatchObject({
      path: 'messages[1]',
      expected: 'a message with a known role and its content',
    })
  })

  test('beside token ids are not read as texts, because their ids would be lost', () => {
    const values = [{ prompt_token_ids: [1] }, { tokens: [1] }, { input_ids: [1] }, { input_ids: [] }, {}]
    expect(values.map((more) => chatMessages.sniff({ messages: [question], ...more }))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
    expect([{ messages: [] }, { messages: [7] }, 7].map(chatMessages.sniff)).toEqual([false, false, false])
  })
})

describe('A list of messages without anything around it', () => {
  const question = { role: 'user', content: 'q' }
  const answer = { role: 'assistant', content: 'a' }
  const list = [question, answer]
  const json = (value: unknown) => JSON.stringify(value)
  const opened = (text: string) => {
    const found = openText(text, source)
    return found.ok
      ? {
          format: found.format.name,
          roles: found.trajectories.map((trajectory) => conversation(trajectory).map(({ role }) => role)),
          failed: found.failed.map(({ message }) => message),
        }
      : found.error.message
  }
  const roles = ['user', 'assistant']

  test.each([
    ['a JSON list', json(list), 'message-list', [roles]],
    ['a JSON list over several lines', JSON.stringify(list, null, 2), 'message-list', [roles]],
    ['a message in each line', list.map(json).join('\n'), 'message-list', [roles]],
    ['a list in each line, as rLLM writes them', `${json(list)}\n${json(list)}\n`, 'message-list', [roles, roles]],
    ['a list of lists', json([list, list]), 'messages', [roles, roles]],
  ])('opens as a conversation: %s', (_, text, format, expected) => {
    expect(opened(text)).toEqual({ format, roles: expected, failed: [] })
  })

  test('loses only a message that is none, with its position', () => {
    const robot = { role: 'robot', content: 'x' }
    const words = 'expected one of system, developer, user, assistant, tool, function, found "robot"'
    expect(opened(json([question, robot, answer]))).toEqual({
      format: 'message-list',
      roles: [roles],
      failed: [`[1].role: ${words}`],
    })
    expect(opened(`${json([robot])}\n${json(list)}\n${json([robot])}`)).toEqual({
      format: 'message-list',
      roles: [roles],
      failed: [`line 1: [0].role: ${words}`, `line 3: [0].role: ${words}`],
    })
    expect(opened(json([list, [robot]]))).toEqual({
      format: 'messages',
      roles: [roles],
      failed: [`[1][0].role: ${words}`],
    })
    expect(opened(json([robot]))).toBe(`[0].role: ${words}`)
  })

  test('is recognised only if every element is a message', () => {
    const lists = [list, [question, 7], [{ role: 'user' }], [{ role: 7, content: 'x' }], []]
    expect(lists.map(chatMessages.sniff)).toEqual([true, false, false, false, false])
    const calls = { role: 'assistant', tool_calls: [] }
    expect([question, calls, { role: 'user' }, list].map(messageLines.sniff)).toEqual([true, true, false, false])
  })
})

describe('Anthropic messages', () => {
  const reply = {
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'tool_use', id: 'c', name: 'f', input: { x: 1 } },
    ],
    usage: { input_tokens: 3, output_tokens: 4 },
    stop_reason: 'tool_use',
  }
  const body = {
    model: 'm',
    system: 'be',
    messages: [{ role: 'user', content: 'q' }],
    tools: [{ name: 'f', input_schema: {} }],
  }

  test('open as a request, a reply, or both', () => {
    const both = trajectoryOf(anthropic, { request: body, response: reply, run: 7, reward: 1 })
    expect(conversation(both)).toMatchObject([
      { role: 'system', content: 'be' },
      { role: 'user', content: 'q' },
      { role: 'assistant', reasoning: 'hm', toolCalls: [{ id: 'c', name: 'f', input: { x: 1 } }] },
    ])
    expect(both).toMatchObject({
      reward: 1,
      model: { name: 'm', tools: [{ name: 'f' }] },
      segments: [{}, { usage: { promptTokens: 3, completionTokens: 4 }, finish: { kind: 'stop' } }],
      foreign: { anthropic: { run: 7 } },
    })
    expect(texts(trajectoryOf(anthropic, body))).toEqual([
      ['system', 'be'],
      ['user', 'q'],
    ])
    expect(texts(trajectoryOf(anthropic, { ...reply, usage: 7, content: [{ type: 'text', text: 'a' }] }))).toEqual([
      ['assistant', 'a'],
    ])
    expect(refusalOf(anthropic, { request: {}, response: reply })).toBeUndefined()
    expect(refusalOf(anthropic, { messages: 7 })).toMatchObject({ path: 'messages' })
  })

  test.each<[unknown, object | undefined, string]>([
    ['end_turn', { kind: 'stop' }, 'end_turn'],
    ['max_tokens', { kind: 'length' }, 'length'],
    ['stop_sequence', { kind: 'stop', matched: 'end' }, 'end_turn'],
    ['refusal', { kind: 'unknown', raw: 'refusal' }, 'unknown'],
    [null, undefined, 'unknown'],
  ])('that ended with %s say so', (stop_reason, finish, reason) => {
    const { segments, outcome } = trajectoryOf(anthropic, {
      ...reply,
      content: [{ type: 'text', text: 'a' }],
      stop_reason,
      stop_sequence: 'end',
      usage: { output_tokens: 2 },
    })
    expect(outcome).toEqual({ kind: 'ended', reason })
    expect(segments[0]).toMatchObject({ usage: { completionTokens: 2 }, ...(finish && { finish }) })
    const plain = trajectoryOf(anthropic, { ...reply, stop_reason: 'stop_sequence', usage: { input_tokens: 2 } })
    expect(plain.segments[0]).toMatchObject({ finish: { kind: 'stop' }, usage: { promptTokens: 2 } })
  })

  test('count the tokens of the cache as tokens of the prompt', () => {
    const usageOf = (usage: object) => {
      const [segment] = trajectoryOf(anthropic, { ...reply, usage }).segments
      return segment?.kind === 'response' && segment.usage
    }
    const cached = { cache_creation_input_tokens: 3, cache_read_input_tokens: 100 }
    expect(usageOf({ input_tokens: 5, output_tokens: 7, ...cached })).toEqual({
      promptTokens: 108,
      completionTokens: 7,
      cachedTokens: 100,
    })
    expect(usageOf({ output_tokens: 7, ...cached })).toEqual({ completionTokens: 7 })
    expect(usageOf(cached)).toBeUndefined()
  })

  test('are recognised by what only Anthropic has', () => {
    const messages = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }] }]
    const values = [
      body,
      reply,
      { response: reply },
      { messages },
      { messages: [{ role: 'user', content: 'q' }], system: [] },
      { messages: [{ role: 'system', content: 'q' }], system: 'a' },
    ]
    expect(values.map((value) => formatOf(value)?.name)).toEqual([...Array(5).fill('anthropic'), 'messages'])
    expect([7, { messages: [] }, { messages: [{ role: 'user', content: 'q' }] }].map(anthropic.sniff)).toEqual([
      false,
      false,
      false,
    ])
  })
})

describe('ShareGPT conversations', () => {
  test('open with their roles, calls, results and tools', () => {
    const value = {
      system: 'be',
      tools: '[{"name": "f", "parameters": {"type": "object"}}]',
      conversations: [
        { from: 'human', value: 'q' },
        { from: 'function_call', value: '{"name": "f", "arguments": {"x": 1}}' },
        { from: 'observation', value: '4' },
        { from: 'function_call', value: 'no JSON' },
        { from: 'gpt', value: 'a' },
      ],
      source: 's',
    }
    expect(formatOf(value)?.name).toBe('sharegpt')
    const trajectory = trajectoryOf(sharegpt, value)
    expect(conversation(trajectory)).toMatchObject([
      { role: 'system', content: 'be' },
      { role: 'user', content: 'q' },
      { role: 'assistant', toolCalls: [{ name: 'f', input: { x: 1 } }] },
      { role: 'tool', content: '4' },
      { role: 'assistant', content: 'no JSON' },
      { role: 'assistant', content: 'a' },
    ])
    expect(trajectory).toMatchObject({ model: { tools: [{ name: 'f' }] }, foreign: { sharegpt: { source: 's' } } })
    const chat = { conversations: [{ role: 'user', content: 'q' }], reward: 1 }
    expect(trajectoryOf(sharegpt, chat)).toMatchObject({ reward: 1, segments: [{ messages: [{ content: 'q' }] }] })
  })

  test('are refused with an unknown role or without a text', () => {
    const of = (turn: object) => refusalOf(sharegpt, { conversations: [turn] })
    expect(of({ from: 'robot', value: 'x' })).toMatchObject({ path: 'conversations[0].from', found: '"robot"' })
    expect(of({ from: 'toString', value: 'x' })).toMatchObject({ path: 'conversations[0].from' })
    expect(of({ from: 'human', value: 7 })).toMatchObject({ path: 'conversations[0].value', expected: 'a text' })
    expect([{ conversations: [] }, { conversations: [7] }, 7].map(sharegpt.sniff)).toEqual([false, false, false])
  })
})

describe('text dumps of trainers', () => {
  test('of TRL take a single reward column, and refuse a prompt that is no text', () => {
    const row = { step: 1, prompt: 'q', completion: 'a', accuracy: 1, advantage: 0.5 }
    expect(trajectoryOf(trl, row)).toMatchObject({ reward: 1, group: { id: '[1,"q"]', index: 0 } })
    expect(trajectoriesOf(trl, [row, row]).map(({ group }) => group?.index)).toEqual([0, 1])
    expect(refusalOf(trl, [row, { ...row, prompt: 7 }])).toEqual({
      path: '[1].prompt',
      expected: 'a text or a list of messages',
      found: '7',
    })
    expect(refusalOf(trl, { ...row, prompt: [7] })).toMatchObject({ path: 'prompt[0]' })
  })

  test('of verl keep a score that is no number', () => {
    const trajectory = trajectoryOf(verlDump, { input: 'q', output: 'a', score: null, uid: 'u' })
    expect(trajectory).toMatchObject({ group: { id: '[null,"u"]' }, foreign: { 'verl-dump': { score: null } } })
    expect(trajectory).not.toHaveProperty('reward')
    expect(verlDump.sniff({ input: 1, output: 'a', score: 1 })).toBe(false)
  })

  test('of Relax have reward, status and group, and are no samples of slime', () => {
    const row = {
      prompt: 'q',
      response: 'a',
      reward: 1,
      response_length: 2,
      total_length: 3,
      status: 'TRUNCATED',
      group_index: 4,
    }
    expect(formatOf(row)?.name).toBe('relax')
    expect(trajectoriesOf(relax, [row, row]).map(({ group, reward, outcome }) => [group, reward, outcome])).toEqual(
      [0, 1].map((index) => [{ id: '4', index }, 1, { kind: 'ended', reason: 'truncated' }]),
    )
    const bare = trajectoryOf(relax, { ...row, reward: null, status: 7, group_index: null })
    expect(bare).toMatchObject({ outcome: { reason: 'unknown' }, foreign: { relax: { reward: null } } })
    expect(bare.group).toBeUndefined()
    expect(relax.sniff({ ...row, tokens: [1] })).toBe(false)
  })

  test('of slime without ids open as texts with reward, status and group', () => {
    const sample = {
      prompt: 'q',
      response: 'a',
      response_length: 1,
      reward: 1,
      status: 'completed',
      group_index: 2,
      index: 5,
      label: 'x',
    }
    expect(formatOf(sample)?.name).toBe('slime')
    expect(trajectoryOf(slime, sample)).toMatchObject({
      reward: 1,
      group: { id: '2', index: 5 },
      outcome: { kind: 'ended', reason: 'end_turn' },
      foreign: { slime: { label: 'x', response_length: 1 } },
      provenance: { missing: ['ids', 'mask', 'logprobs', 'special_tokens'] },
    })
    const bare = trajectoryOf(slime, { response: 'a', status: 'odd', reward: { a: 1 } })
    expect(texts(bare)).toEqual([['assistant', 'a']])
    expect(bare).toMatchObject({
      outcome: { reason: 'unknown' },
      foreign: { slime: { status: 'odd', reward: { a: 1 } } },
    })
  })
})
