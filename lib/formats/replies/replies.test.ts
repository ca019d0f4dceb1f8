/** Records have the fields that the servers write; recorded files are in files.test.ts. */
import { describe, expect, test } from 'vitest'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { lastServer } from '#lib/trajectory/messages/response-calls.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { formatOf } from '../registry.ts'
import { refusalOf, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { chatCompletionStream } from './chat-chunks.ts'
import { chatCompletion } from './chat-completion.ts'
import { completion, completionStream } from './completion.ts'
import { llamaCppCompletion, llamaCppCompletionStream } from './llama-cpp.ts'
import { sglangGenerate, sglangGenerateStream } from './sglang-generate.ts'
import { foreignRecords } from './test-files.ts'
import { vllmGenerate, vllmGenerateStream } from './vllm-generate.ts'

const entry = (token: string, logprob: number, more: object = {}) => ({
  token,
  logprob,
  bytes: [...Buffer.from(token)],
  ...more,
})
const chat = (choice: object, reply: object = {}) => ({
  id: 'r',
  object: 'chat.completion',
  ...reply,
  choices: [{ index: 0, message: { role: 'assistant', content: 'ab' }, finish_reason: 'stop', ...choice }],
})
const responseOf = (format: Format, value: unknown): ResponseSegment =>
  trajectoryOf(format, value).segments.findLast(({ kind }) => kind === 'response') as ResponseSegment
const kinds = ({ segments }: Trajectory) => segments.map(({ kind, ids }) => [kind, ids])
const missing = ({ provenance }: Trajectory) => provenance.kind === 'import' && provenance.missing

describe('ids of a chat completion', () => {
  const content = [entry('a', -1), entry('b', -2)]
  test.each<[string, object, object]>([
    ['vLLM', { token_ids: [5, 6] }, { prompt_token_ids: [1, 2] }],
    ['SGLang', { prompt_token_ids: [1, 2], response_token_ids: [5, 6] }, {}],
    ['LiteLLM', { provider_specific_fields: { prompt_token_ids: [1, 2], response_token_ids: [5, 6] } }, {}],
    ['a client that writes ids as texts', { token_ids: ['5', '6'] }, { prompt_token_ids: ['1', '2'] }],
    [
      'the same ids in two places',
      { token_ids: [5, 6], response_token_ids: [5, 6], prompt_token_ids: [1, 2] },
      { prompt_token_ids: [1, 2] },
    ],
  ])('are found in the layout of %s', (_, choice, reply) => {
    const trajectory = trajectoryOf(chatCompletion, chat({ logprobs: { content }, ...choice }, reply))
    expect(kinds(trajectory)).toEqual([
      ['prompt', [1, 2]],
      ['response', [5, 6]],
    ])
    expect(trajectory.segments[1]?.logprobs).toEqual([-1, -2])
    expect(trajectory.vocab).toEqual({ '5': 'a', '6': 'b' })
  })

  test('are in the entries of logprobs if the server wrote ids in place of texts, whose bytes are not the token’s', () => {
    const trajectory = trajectoryOf(
      chatCompletion,
      chat({
        logprobs: {
          content: [entry('token_id:5', -1, { top_logprobs: [entry('token_id:5', -1), entry('token_id:9', -3)] })],
        },
      }),
    )
    expect(kinds(trajectory)).toEqual([['response', [5]]])
    expect(trajectory.segments[0]?.topLogprobs).toEqual({ k: 2, ids: [5, 9], logprobs: [-1, -3] })
    expect(trajectory.vocab).toEqual({})
    expect(trajectory.provenance).toMatchObject({ lacked: expect.arrayContaining(['ids of the prompt']) })
  })

  test('have the text that the server wrote, even if it begins like an id in place of a text', () => {
    const trajectory = trajectoryOf(
      chatCompletion,
      chat({ token_ids: [5], logprobs: { content: [entry('token_id:x', -1)] } }),
    )
    expect(trajectory.vocab).toEqual({ '5': 'token_id:x' })
  })

  test('whose logprobs JSON cannot represent have problems that give the values', () => {
    const odd = [entry('a', -1), { ...entry('b', 0), logprob: '-Infinity' }]
    const { logprobs, problems } = responseOf(chatCompletion, chat({ token_ids: [5, 6], logprobs: { content: odd } }))
    expect(logprobs).toEqual([-1, null])
    expect(problems).toMatchObject([{ kind: 'number', index: 1, raw: '-Infinity' }])
  })

  test('stay if the server returned another number of logprobs, which are kept unread', () => {
    const trajectory = trajectoryOf(chatCompletion, chat({ token_ids: [5, 6, 7], logprobs: { content } }))
    const response = trajectory.segments.at(-1)
    expect([response?.ids, response?.logprobs]).toEqual([[5, 6, 7], undefined])
    expect(response?.problems).toMatchObject([
      { kind: 'count', message: expect.stringContaining('3 token ids and 2 logprobs') },
    ])
    expect(trajectory.foreign).toMatchObject({ 'chat-completion': { calls: [{ logprobs: { content } }] } })
    expect(missing(trajectory)).toContain('logprobs')
  })

  test.each<[string, object, object, object]>([
    [
      'copies that differ',
      { token_ids: [5, 6], response_token_ids: [5, 7] },
      {},
      { path: 'choices[0].response_token_ids[1]', expected: '6, as in choices[0].token_ids', found: '7' },
    ],
    [
      'logprobs of other ids',
      { token_ids: [5], logprobs: { content: [entry('token_id:6', -1)] } },
      {},
      { path: 'choices[0].logprobs.content[0]', expected: '5, as in choices[0].token_ids', found: '6' },
    ],
    [
      'an id that is negative',
      { token_ids: [5, -1] },
      {},
      { path: 'choices[0].token_ids[1]', expected: 'at least 0', found: '-1' },
    ],
    [
      'an id that is no number',
      {},
      { prompt_token_ids: [1, 'x'] },
      { path: 'prompt_token_ids[1]', expected: 'a number', found: '"x"' },
    ],
    [
      'a logprob that is a text',
      { logprobs: { content: [{ token: 'a', logprob: 'low' }] } },
      {},
      { path: 'choices[0].logprobs.content[0].logprob', expected: 'a number or null', found: '"low"' },
    ],
  ])('are refused with %s', (_, choice, reply, error) => {
    expect(refusalOf(chatCompletion, chat(choice, reply))).toEqual(error)
  })
})

describe('a chat completion', () => {
  test('with its request has the messages, tools, parameters and the temperature of the logprobs', () => {
    const request = {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } } }],
      temperature: 0.7,
      top_k: 5,
    }
    const reply = chat(
      { response_token_ids: [5], logprobs: { content: [entry('a', -1)] } },
      { prompt_token_ids: [1], model: 'm', created: 1_700_000_000, usage: { prompt_tokens: 1, completion_tokens: 1 } },
    )
    const trajectory = trajectoryOf(chatCompletion, { request, response: reply, step: 3 })
    expect(trajectory).toMatchObject({
      createdAt: '2023-11-14T22:13:20.000Z',
      model: { name: 'm', tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }] },
      columnMeanings: { logprobs: { values: 'processed', temperature: 0.7, engine: 'sglang' } },
      foreign: { 'chat-completion': { step: 3 } },
      outcome: { kind: 'ended', reason: 'end_turn' },
    })
    const [prompt, response] = trajectory.segments
    expect(prompt).toMatchObject({ messages: [{ role: 'user', content: 'hi' }], derivation: { kind: 'reported' } })
    expect(response).toMatchObject({
      usage: { promptTokens: 1, completionTokens: 1 },
      request: { endpoint: 'chat', inputLength: 1, samplingParams: { temperature: 0.7, top_k: 5 } },
    })
    expect(lastServer(trajectory)).toBeUndefined()
    expect(missing(trajectory)).toEqual(['texts', 'special_tokens'])
  })

  test('of raw logprobs keeps them raw at another temperature', () => {
    const value = {
      body: { temperature: 0.5 },
      reply: chat({ token_ids: [5], logprobs: { content: [entry('a', -1)] } }, { system_fingerprint: 'vllm-0.32' }),
    }
    expect(trajectoryOf(chatCompletion, value).columnMeanings?.logprobs).toEqual({
      quantity: 'logprob',
      model: 'rollout',
      engine: 'vllm',
      values: 'raw',
      temperature: 0.5,
    })
  })

  test('with several choices is a group of samples', () => {
    const choices = [0, 1].map((index) => ({ index, message: { content: String(index) }, token_ids: [index] }))
    const samples = trajectoriesOf(chatCompletion, { id: 'r', choices, prompt_token_ids: [9] })
    expect(samples.map(({ group }) => group)).toEqual([
      { id: 'r', index: 0 },
      { id: 'r', index: 1 },
    ])
    expect(samples.map(kinds)).toEqual(
      [0, 1].map((id) => [
        ['prompt', [9]],
        ['response', [id]],
      ]),
    )
  })

  test.each<[unknown, object, object]>([
    ['length', { kind: 'length' }, { reason: 'length' }],
    ['abort', { kind: 'abort' }, { reason: 'aborted' }],
    ['content_filter', { kind: 'unknown', raw: 'content_filter' }, { reason: 'unknown' }],
  ])('that ended with %s says so', (finish_reason, finish, outcome) => {
    const trajectory = trajectoryOf(chatCompletion, chat({ finish_reason, token_ids: [5] }))
    expect(trajectory).toMatchObject({ outcome, segments: [{ finish }] })
  })

  test('that calls a tool, or gives no reason, has an unknown outcome', () => {
    const calling = {
      message: { tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
      finish_reason: 'tool_calls',
    }
    expect(trajectoryOf(chatCompletion, chat(calling)).outcome).toEqual({ kind: 'ended', reason: 'unknown' })
    expect(trajectoryOf(chatCompletion, chat({ finish_reason: null })).outcome).toMatchObject({ reason: 'unknown' })
  })

  test('whose server counted other numbers of tokens has problems that say so', () => {
    const value = chat(
      { token_ids: [5, 6] },
      { prompt_token_ids: [1], usage: { prompt_tokens: 3, completion_tokens: 1 } },
    )
    expect(responseOf(chatCompletion, value).problems?.map(({ message }) => message)).toEqual([
      'The server counted 3 prompt_tokens, and the file has 1 ids.',
      'The server counted 1 completion_tokens, and the file has 2 ids.',
    ])
  })

  test('has the weight versions of the server, unless they do not fit its tokens', () => {
    const versions = (end: number) => ({ metadata: { weight_versions: [{ version: 'v', start: 0, end }] } })
    const of = (end: number) => responseOf(chatCompletion, chat({ token_ids: [5] }, versions(end))).weightVersions
    expect([of(1), of(2)]).toEqual([[{ version: 'v', start: 0, end: 1 }], undefined])
    const odd = { metadata: { weight_versions: [7] } }
    expect(responseOf(chatCompletion, chat({ token_ids: [5] }, odd)).weightVersions).toBeUndefined()
  })

  test('keeps the ids of alternatives that SGLang writes in meta_info, and texts of alternatives unread', () => {
    const meta_info = {
      id: 'x',
      output_token_logprobs: [[-1, 5, null]],
      output_top_logprobs: [
        [
          [-1, 5, null],
          [-3, 8, null],
        ],
      ],
    }
    const content = [entry('a', -1, { top_logprobs: [entry('a', -1), entry('b', -3)] })]
    const known = trajectoryOf(chatCompletion, chat({ response_token_ids: [5], logprobs: { content }, meta_info }))
    expect(known.segments[0]?.topLogprobs).toEqual({ k: 2, ids: [5, 8], logprobs: [-1, -3] })
    expect(known.foreign).toEqual({ 'chat-completion': { calls: [{ id: 'r', meta_info: { id: 'x' } }] } })
    const unknown = trajectoryOf(chatCompletion, chat({ response_token_ids: [5], logprobs: { content } }))
    expect(unknown.segments[0]).not.toHaveProperty('topLogprobs')
    expect(unknown.provenance).toMatchObject({
      lacked: expect.arrayContaining(['ids of the alternatives: their texts are kept unread']),
    })
    const bare = trajectoryOf(chatCompletion, chat({ response_token_ids: [5], meta_info }))
    expect(bare.segments[0]?.logprobs).toEqual([-1])
  })

  test('has no text for a token that the server decoded to a part of a character or to nothing', () => {
    const content = [
      entry('\ufffd', -1),
      { token: '', logprob: -1, bytes: [] },
      { token: 'c', logprob: -1, bytes: null },
      { token: 'd', logprob: -1, bytes: [230, 151] },
      { token: 'e', logprob: -1, bytes: [300] },
      7,
    ]
    const { vocab, segments } = trajectoryOf(
      chatCompletion,
      chat({ token_ids: [1, 2, 3, 4, 5, 6], logprobs: { content } }),
    )
    expect(vocab).toEqual({ '3': 'c', '4': { hex: 'e697' }, '5': 'e' })
    expect(segments[0]?.logprobs).toEqual([-1, -1, -1, -1, -1, null])
  })

  test('of text only has its message, and what it lacks', () => {
    const trajectory = trajectoryOf(chatCompletion, chat({}))
    expect(trajectory.segments).toMatchObject([{ ids: [], message: { content: 'ab' } }])
    expect(missing(trajectory)).toEqual(['ids', 'mask', 'logprobs', 'special_tokens'])
    const asked = { request: { messages: [{ role: 'user', content: 'q' }], top_p: 1 }, response: chat({}) }
    expect(trajectoryOf(chatCompletion, asked)).toMatchObject({
      segments: [{ messages: [{ content: 'q' }] }, { ids: [] }],
      foreign: { 'chat-completion': { calls: [{ request: { top_p: 1 } }] } },
    })
  })

  test.each<[string, unknown, object]>([
    [
      'no choices that are objects',
      { choices: [{ message: {} }, 7] },
      { path: 'choices[1]', expected: 'an object', found: '7' },
    ],
    [
      'no choice',
      { object: 'chat.completion', choices: [] },
      { path: 'choices', expected: 'at least one choice', found: 'an array of 0' },
    ],
  ])('with %s is refused', (_, value, error) => {
    expect(refusalOf(chatCompletion, value)).toEqual(error)
  })

  test('is recognised with its request, and nothing else is', () => {
    const values = [
      chat({}),
      { completion: chat({}) },
      { records: [{ response: chat({}) }] },
      { records: [] },
      { records: [7] },
      { choices: [] },
      7,
    ]
    expect(values.map((value) => formatOf(value)?.name)).toEqual([
      'chat-completion',
      'chat-completion',
      'chat-completion',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

test('the records of a session become one trajectory where each prompt continues the tokens before it', () => {
  const call = (prompt: number[], ids: number[], messages: object[]) => ({
    request: { messages },
    response: chat({ token_ids: ids }, { prompt_token_ids: prompt }),
  })
  const first = [{ role: 'user', content: 'a' }]
  const second = [...first, { role: 'assistant', content: 'ab' }, { role: 'user', content: 'c' }]
  const session = (prompt: number[]) => ({
    session_id: 's',
    records: [call([1, 2], [3], first), call(prompt, [5], second)],
  })
  const joined = trajectoryOf(chatCompletion, session([1, 2, 3, 4]))
  expect(kinds(joined)).toEqual([
    ['prompt', [1, 2]],
    ['response', [3]],
    ['prompt', [4]],
    ['response', [5]],
  ])
  expect(joined.segments[2]).toMatchObject({ messages: [{ role: 'user', content: 'c' }] })
  expect(joined.segments[3]).toMatchObject({ request: { chat: { kept: 1 }, inputLength: 4 } })
  const split = trajectoriesOf(chatCompletion, session([1, 2, 9, 4]), {
    file: 'f',
    now: 'now',
    newId: (
      (n) => () =>
        `t${++n}`
    )(0),
  })
  expect(split.map(kinds)).toEqual([
    [
      ['prompt', [1, 2]],
      ['response', [3]],
    ],
    [
      ['prompt', [1, 2, 9, 4]],
      ['response', [5]],
    ],
  ])
  expect(split.map(({ forkedFrom }) => forkedFrom)).toEqual([
    undefined,
    { trajectory: 't1', token: 2, kind: 'rendered_again' },
  ])
  expect(split[1]?.segments[0]).toMatchObject({ messages: [{}, { role: 'assistant' }, { content: 'c' }] })
})

test('the records of a session may continue by ids although their messages differ, and need not all have ids', () => {
  const messages = (...texts: readonly string[]) => ({
    messages: texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
  })
  const first = { request: messages('a'), response: chat({ token_ids: [3] }, { prompt_token_ids: [1] }) }
  const second = {
    request: messages('b', 'x', 'c'),
    response: chat({ token_ids: [5] }, { prompt_token_ids: [1, 3, 4] }),
  }
  const joined = trajectoryOf(chatCompletion, { records: [first, second] })
  expect(joined.segments[2]).toMatchObject({ ids: [4], messages: [] })
  const text = { request: messages('a'), response: chat({}) }
  const further = { request: messages('a', 'ab', 'c'), response: chat({}) }
  expect(trajectoriesOf(chatCompletion, { records: [text, second] }).map(kinds)).toEqual([
    [
      ['prompt', []],
      ['response', []],
    ],
    [
      ['prompt', [1, 3, 4]],
      ['response', [5]],
    ],
  ])
  expect(kinds(trajectoryOf(chatCompletion, { records: [text, further] }))).toHaveLength(4)
})

test('a turn that was encoded again continues the trajectory with which it shares most tokens', () => {
  const record = (prompt: readonly number[], ids: readonly number[]) => ({
    response: chat({ token_ids: ids }, { prompt_token_ids: prompt }),
  })
  const records = [record([1, 2], [3]), record([1, 2, 9], [4]), record([1, 2, 9, 8], [5]), record([7], [5])]
  const split = trajectoriesOf(
    chatCompletion,
    { records },
    {
      file: 'f',
      now: 'now',
      newId: (
        (n) => () =>
          `t${++n}`
      )(0),
    },
  )
  expect(split.map(({ forkedFrom }) => forkedFrom && [forkedFrom.trajectory, forkedFrom.token])).toEqual([
    undefined,
    ['t1', 2],
    ['t2', 3],
    undefined,
  ])
})

test('an error that is no refusal is thrown, because it is a bug', () => {
  const read = catchRefusals(() => {
    throw new TypeError('a bug')
  })
  expect(() => read({}, { file: undefined, now: '', newId: () => '' })).toThrow('a bug')
})

describe('a streamed chat completion', () => {
  const chunk = (delta: object, choice: object = {}, more: object = {}) => ({
    id: 'r',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...more,
  })
  test('joins texts, calls, ids and logprobs of its chunks, and separates streams', () => {
    const call = (part: object) => ({ tool_calls: [{ index: 0, ...part }] })
    const chunks = [
      chunk({ role: 'assistant', content: '' }, {}, { prompt_token_ids: [1] }),
      chunk({ content: 'a' }, { token_ids: [5], logprobs: { content: [entry('a', -1)] } }),
      { ...chunk({ content: 'z' }), id: 'other' },
      { ...chunk({ content: 'y' }, { index: 1 }), id: 'pair' },
      { ...chunk({ content: 'x' }), id: 'pair' },
      chunk(call({ id: 'c', function: { name: 'f', arguments: '{"x"' } }), {
        token_ids: [6],
        logprobs: { content: [entry('b', -2)] },
      }),
      chunk(call({ function: { arguments: ': 1}' } }), { finish_reason: 'tool_calls' }),
      { ...chunk({}), choices: [], usage: { completion_tokens: 2 } },
    ]
    expect(formatOf(chunks[0])?.name).toBe('chat-completion-stream')
    const [first, other, ...pair] = trajectoriesOf(chatCompletionStream, chunks)
    expect(pair.map(({ segments }) => segments[0])).toMatchObject([
      { message: { content: 'x' } },
      { message: { content: 'y' } },
    ])
    expect(first?.segments).toMatchObject([
      { kind: 'prompt', ids: [1] },
      {
        ids: [5, 6],
        logprobs: [-1, -2],
        finish: { kind: 'stop' },
        usage: { completionTokens: 2 },
        message: { content: 'a', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"x": 1}' } }] },
      },
    ])
    expect(other?.segments).toMatchObject([{ ids: [], message: { content: 'z' } }])
  })

  test('keeps the refusal of the model', () => {
    const [read] = trajectoriesOf(chatCompletionStream, [chunk({ refusal: 'I can' }), chunk({ refusal: 'not.' })])
    expect(read?.segments.at(-1)).toMatchObject({ message: { refusal: 'I cannot.' } })
  })

  test('may have a chunk for each of many tokens', () => {
    const chunks = Array.from({ length: 200_000 }, () => chunk({ content: 'a' }, { token_ids: [5] }))
    const [read] = trajectoriesOf(chatCompletionStream, chunks)
    expect(read?.segments.at(-1)?.ids).toHaveLength(chunks.length)
  })

  test('of several choices is a group, also if each choice has an id of its own', () => {
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      { ...chunk({ content: 'b' }, { index: 1 }), id: 'second' },
      chunk({ content: 'a' }, { finish_reason: 'stop' }),
      { ...chunk({}, { index: 1, finish_reason: 'length' }), id: 'second' },
      { ...chunk({}, { index: 0, finish_reason: 'stop' }), id: 'second' },
      { ...chunk({ content: 'c' }, { index: 2, finish_reason: 'stop' }), id: 'third' },
      { ...chunk({ content: 'd' }, { index: 2, finish_reason: 'stop' }), id: 'of another stream' },
    ]
    const read = trajectoriesOf(chatCompletionStream, chunks)
    expect(read.map(({ group, segments: [response] }) => [group?.index, response?.kind, response])).toMatchObject([
      [0, 'response', { message: { content: 'a' }, finish: { kind: 'stop' } }],
      [1, 'response', { message: { content: 'b' }, finish: { kind: 'length' } }],
      [2, 'response', { message: { content: 'c' }, finish: { kind: 'stop' } }],
      [undefined, 'response', { message: { content: 'd' } }],
    ])
  })

  test('is refused if no chunk has a choice, with the position in the joined reply', () => {
    expect(refusalOf(chatCompletionStream, [{ object: 'chat.completion.chunk', choices: [] }])).toEqual({
      path: 'chunks.choices',
      expected: 'at least one choice',
      found: 'an array of 0',
    })
  })
})

describe('a text completion', () => {
  const of = (choice: object, reply: object = {}) => ({
    id: 'c',
    object: 'text_completion',
    usage: { prompt_tokens: 2 },
    ...reply,
    choices: [{ index: 0, text: 'ab', finish_reason: 'stop', ...choice }],
  })
  test('divides the logprobs of an echo between prompt and reply', () => {
    const logprobs = { tokens: ['p', 'q', 'a'], token_logprobs: [null, -4, -1], top_logprobs: null }
    const trajectory = trajectoryOf(completion, of({ prompt_token_ids: [1, 2], token_ids: [5], logprobs }))
    expect(trajectory.segments).toMatchObject([
      { kind: 'prompt', ids: [1, 2], logprobs: [null, -4] },
      { ids: [5], logprobs: [-1] },
    ])
    expect(trajectory.vocab).toEqual({ '1': 'p', '2': 'q', '5': 'a' })
    expect(trajectory.segments[1]).not.toHaveProperty('message')
  })

  test('reads vLLM’s prompt logprobs and their alternatives, and refuses a list for other tokens', () => {
    const prompt_logprobs = [
      null,
      {
        '2': { logprob: -9, rank: 40, decoded_token: 'b' },
        '7': { logprob: -1, rank: 1, decoded_token: 'x' },
        x: 1,
        '9': 3,
      },
    ]
    const value = of({ prompt_token_ids: [1, 2], token_ids: [5], prompt_logprobs })
    expect(trajectoryOf(completion, value)).toMatchObject({
      segments: [
        { logprobs: [null, -9], topLogprobs: { k: 1, ids: [-1, 7], logprobs: [null, -1] } },
        { ids: [5], message: { content: 'ab' } },
      ],
      vocab: { '2': 'b', '7': 'x' },
    })
    const endless = of({
      prompt_token_ids: [1],
      token_ids: [5],
      prompt_logprobs: [{ '1': { logprob: '-Infinity', rank: 1 } }],
    })
    expect(trajectoryOf(completion, endless).segments[0]).toMatchObject({ problems: [{ raw: '-Infinity' }] })
    expect(refusalOf(completion, of({ prompt_token_ids: [1], token_ids: [5], prompt_logprobs }))).toMatchObject({
      path: 'choices[0].prompt_logprobs',
      found: 'an array of 2',
    })
  })

  test('takes ids from the texts that return_tokens_as_token_ids writes, best alternatives first', () => {
    const logprobs = {
      tokens: ['token_id:5'],
      token_logprobs: [-1],
      top_logprobs: [{ 'token_id:8': -3, 'token_id:5': -1 }],
    }
    expect(responseOf(completion, of({ logprobs }))).toMatchObject({
      ids: [5],
      topLogprobs: { k: 2, ids: [5, 8], logprobs: [-1, -3] },
    })
  })

  test('of text only keeps its logprobs unread', () => {
    const logprobs = { tokens: ['a'], token_logprobs: [-1, -2] }
    const trajectory = trajectoryOf(completion, of({ logprobs }))
    expect(trajectory.segments).toMatchObject([{ ids: [], message: { content: 'ab' } }])
    expect(trajectory.foreign).toMatchObject({ completion: { calls: [{ logprobs }] } })
    expect(responseOf(completion, of({ logprobs: {} })).ids).toEqual([])
  })

  test('that is streamed is joined to the whole one', () => {
    const part = (text: string, id: number, finish_reason: string | null) => ({
      ...of({ text, token_ids: [id], finish_reason, logprobs: { tokens: [text], token_logprobs: [-id] } }),
      usage: null,
    })
    const chunks = [
      part('a', 5, null),
      part('b', 6, 'stop'),
      { id: 'c', object: 'text_completion', choices: [], usage: {} },
    ]
    expect(chunks.map((chunk) => formatOf(chunk)?.name)).toEqual(Array(3).fill('completion-stream'))
    expect(formatOf(of({}))?.name).toBe('completion')
    expect(responseOf(completionStream, chunks)).toMatchObject({
      ids: [5, 6],
      logprobs: [-5, -6],
      message: { content: 'ab' },
    })
  })
})

describe('a reply of SGLang’s /generate', () => {
  const meta = (more: object = {}) => ({
    id: 'g',
    finish_reason: { type: 'stop', matched: 2 },
    prompt_tokens: 2,
    completion_tokens: 1,
    cached_tokens: 1,
    weight_version: 'w',
    output_token_logprobs: [[-1, 5, 'a']],
    output_top_logprobs: [
      [
        [-1, 5, 'a'],
        [-2, 6, 'b'],
      ],
    ],
    input_top_logprobs: [null, [[-1, 7, 'r']]],
    input_token_logprobs: [
      [null, 1, 'p'],
      [-3, 2, 'q'],
    ],
    ...more,
  })
  const of = (more: object = {}, reply: object = {}) => ({
    text: 'a',
    output_ids: [5],
    meta_info: meta(more),
    ...reply,
  })

  test('has ids, logprobs, alternatives and counts of prompt and reply', () => {
    const trajectory = trajectoryOf(sglangGenerate, of())
    expect(trajectory.segments).toMatchObject([
      {
        kind: 'prompt',
        ids: [1, 2],
        logprobs: [null, -3],
        topLogprobs: { k: 1, ids: [-1, 7] },
        derivation: { kind: 'given' },
      },
      {
        ids: [5],
        logprobs: [-1],
        topLogprobs: { k: 2, ids: [5, 6] },
        finish: { kind: 'stop', matched: 2 },
        usage: { promptTokens: 2, completionTokens: 1, cachedTokens: 1 },
        weightVersions: [{ version: 'w', start: 0, end: 1 }],
        message: { content: 'a' },
      },
    ])
    expect(trajectory.vocab).toEqual({ '1': 'p', '2': 'q', '5': 'a', '6': 'b', '7': 'r' })
    expect(missing(trajectory)).toEqual(['logprob_values', 'temperature', 'special_tokens'])
  })

  test('with its request has the temperature and the given ids', () => {
    const request = { input_ids: [1, 2], sampling_params: { temperature: 0.5 } }
    const trajectory = trajectoryOf(sglangGenerate, {
      request,
      response: of({ input_token_logprobs: [[-3, 2, null]] }),
    })
    expect(trajectory.segments[0]).toMatchObject({ ids: [1, 2], derivation: { kind: 'given', what: 'ids' } })
    expect(trajectory.segments[0]).not.toHaveProperty('logprobs')
    expect(trajectory.columnMeanings?.logprobs).toMatchObject({ values: 'processed', temperature: 0.5 })
    expect(trajectory.provenance).toMatchObject({
      lacked: expect.arrayContaining([expect.stringContaining('the file has those of 1 tokens')]),
    })
  })

  test('without the ids of the whole prompt says so', () => {
    const trajectory = trajectoryOf(sglangGenerate, of({ input_token_logprobs: [] }, { other: 1 }))
    expect(kinds(trajectory)).toEqual([['response', [5]]])
    expect(trajectory.provenance).toMatchObject({ lacked: expect.arrayContaining(['ids of the prompt']) })
    expect(trajectory.foreign).toMatchObject({ 'sglang-generate': { calls: [{ other: 1 }] } })
  })

  test.each<[unknown, object | undefined]>([
    [{ type: 'length', length: 4 }, { kind: 'length' }],
    [
      { type: 'abort', message: 'm' },
      { kind: 'abort', message: 'm' },
    ],
    [{ type: 'abort' }, { kind: 'abort' }],
    [{ type: 'stop' }, { kind: 'stop' }],
    [{ type: 'other' }, { kind: 'unknown', raw: 'other' }],
    ['stop', undefined],
  ])('with the finish reason %j has the same', (finish_reason, finish) => {
    expect(responseOf(sglangGenerate, of({ finish_reason })).finish).toEqual(finish)
  })

  test('whose stream repeats everything or only adds, by column, is joined to the same reply', () => {
    const delta = [5, 6].map((id, index) => ({
      text: 'ab'[index],
      output_ids: [id],
      meta_info: {
        ...meta({ completion_tokens: index + 1, finish_reason: index === 1 ? { type: 'length' } : null }),
        output_token_logprobs: [[-id, id, null]],
        output_top_logprobs: undefined,
        ...(index === 1 && { input_token_logprobs: [] }),
      },
    }))
    const cumulative = [
      { ...delta[0] },
      {
        text: 'ab',
        output_ids: [5, 6],
        meta_info: {
          ...delta[1]?.meta_info,
          output_token_logprobs: [
            [-5, 5, null],
            [-6, 6, null],
          ],
        },
      },
    ]
    for (const chunks of [delta, cumulative]) {
      expect(chunks.map((chunk) => formatOf(chunk)?.name)[0]).toBe('sglang-generate-stream')
      expect(trajectoryOf(sglangGenerateStream, chunks).segments).toMatchObject([
        { ids: [1, 2] },
        { ids: [5, 6], logprobs: [-5, -6], finish: { kind: 'length' }, message: { content: 'ab' } },
      ])
    }
    // Chunks that only add may begin with the text of the one before.
    const laughing = delta.map((chunk) => ({ ...chunk, text: 'ha' }))
    expect(trajectoryOf(sglangGenerateStream, laughing).segments.at(-1)).toMatchObject({ message: { content: 'haha' } })
    const open = trajectoryOf(sglangGenerateStream, delta.slice(0, 1)).segments.at(-1)
    expect(open).toMatchObject({ finish: { kind: 'unknown', raw: 'the stream ended early' } })
    const bare = [{ text: 1, output_ids: [5], meta_info: { id: 'x' } }]
    expect(trajectoryOf(sglangGenerateStream, bare).segments).toMatchObject([{ ids: [5] }])
  })
})

test('a reply of vLLM’s generate endpoint is recognised by its ids without a message', () => {
  const value = { request_id: 'r', choices: [{ token_ids: [5] }] }
  expect(formatOf(value)?.name).toBe('vllm-generate')
  expect(kinds(trajectoryOf(vllmGenerate, value))).toEqual([['response', [5]]])
})

test('a reply of vLLM’s generate endpoint with its request has the ids and logprobs of its prompt, and the temperature', () => {
  const prompt_logprobs = [null, { '7': { logprob: -2, rank: 2 }, '8': { logprob: -1, rank: 1, decoded_token: 'x' } }]
  const response = { request_id: 'r', choices: [{ token_ids: [5] }], prompt_logprobs, kv_transfer_params: null }
  const value = { request: { token_ids: [1, 7], sampling_params: { temperature: 0.5 } }, response }
  expect(formatOf(value)?.name).toBe('vllm-generate')
  const trajectory = trajectoryOf(vllmGenerate, value)
  expect(trajectory.segments).toMatchObject([
    { ids: [1, 7], logprobs: [null, -2], topLogprobs: { k: 2, ids: [-1, -1, 8, 7] } },
    { ids: [5], request: { samplingParams: { sampling_params: { temperature: 0.5 } } } },
  ])
  expect(trajectory.vocab).toEqual({ '8': 'x' })
  expect(refusalOf(vllmGenerate, { ...value, request: { token_ids: [1] } })).toMatchObject({
    path: 'response.prompt_logprobs',
    expected: '1 entries (one for each token)',
  })
})

describe('a streamed reply of vLLM’s generate endpoint', () => {
  const [whole] = foreignRecords('vllm-generate.json') as readonly [
    { readonly request_id: string; readonly usage: object; readonly choices: readonly [Choice] },
  ]
  interface Choice {
    readonly token_ids: readonly number[]
    readonly logprobs: { readonly content: readonly object[] }
  }
  const [{ token_ids, logprobs }] = whole.choices
  /** The chunks as vLLM's GenerateStreamResponse has them, with `length` ids each. */
  const chunksOf = (length: number) => [
    ...Array.from({ length: Math.ceil(token_ids.length / length) }, (_, nth) => {
      const [start, end] = [nth * length, (nth + 1) * length]
      return {
        request_id: whole.request_id,
        choices: [
          {
            index: 0,
            logprobs: { content: logprobs.content.slice(start, end) },
            finish_reason: end >= token_ids.length ? 'stop' : null,
            token_ids: token_ids.slice(start, end),
          },
        ],
        usage: null,
      }
    }),
    { request_id: whole.request_id, choices: [], usage: whole.usage },
  ]

  test.each([1, 4, 18])('in chunks of %d ids has the ids, logprobs and counts of the whole reply', (length) => {
    const chunks = chunksOf(length)
    expect(formatOf(chunks[0])?.name).toBe('vllm-generate-stream')
    const { weightVersions: _, ...expected } = responseOf(vllmGenerate, whole)
    expect(responseOf(vllmGenerateStream, chunks)).toEqual(expected)
  })

  test('that ended early has its ids and no finish reason, also without logprobs', () => {
    const chunks = chunksOf(4).slice(0, 2)
    expect(responseOf(vllmGenerateStream, chunks)).toMatchObject({ ids: token_ids.slice(0, 8) })
    const bare = [{ request_id: 'r', choices: [{ index: 0, token_ids: [5], logprobs: null, finish_reason: null }] }]
    expect(responseOf(vllmGenerateStream, bare)).not.toHaveProperty('finish')
  })
})

test('a reply whose fields are all read leaves nothing in “foreign”', () => {
  const reply = { choices: [{ message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }] }
  expect(trajectoryOf(chatCompletion, reply).foreign).toBeUndefined()
  const generated = { text: 'a', output_ids: [5], meta_info: { finish_reason: { type: 'stop' } } }
  expect(trajectoryOf(sglangGenerate, generated).foreign).toBeUndefined()
})

describe('a reply of llama.cpp’s /completion', () => {
  const entryOf = (id: number) => ({ id, token: 'x', bytes: [97], logprob: -id, top_logprobs: [] })
  const of = (more: object = {}) => ({
    index: 0,
    content: 'a',
    tokens: [5],
    stop: true,
    tokens_predicted: 1,
    tokens_evaluated: 3,
    generation_settings: { temperature: 0.5 },
    stop_type: 'word',
    stopping_word: 'end',
    completion_probabilities: [entryOf(5)],
    ...more,
  })
  test('has ids, raw logprobs, the temperature and the finish reason', () => {
    const trajectory = trajectoryOf(llamaCppCompletion, of())
    expect(trajectory.segments).toMatchObject([
      { ids: [5], logprobs: [-5], finish: { kind: 'stop', matched: 'end' }, usage: { promptTokens: 3 } },
    ])
    expect(trajectory.columnMeanings?.logprobs).toMatchObject({ engine: 'llama.cpp', values: 'raw', temperature: 0.5 })
    expect(responseOf(llamaCppCompletion, of({ stop_type: 'none', tokens: [] }))).toMatchObject({ ids: [5] })
  })

  test('with probabilities after the filters keeps them unread', () => {
    const settings = { temperature: 1, post_sampling_probs: true }
    const trajectory = trajectoryOf(llamaCppCompletion, of({ generation_settings: settings }))
    expect(trajectory.segments[0]).not.toHaveProperty('logprobs')
    expect(trajectory.foreign).toMatchObject({
      'llama-cpp-completion': { calls: [{ completion_probabilities: [{}] }] },
    })
  })

  test('whose stream is joined, one for each end and index', () => {
    const part = (id: number, index: number, stop = false) => ({
      ...of({ index, stop, tokens: stop ? [] : [id], completion_probabilities: stop ? [] : [entryOf(id)] }),
      ...(stop ? { content: '' } : { generation_settings: undefined }),
    })
    const chunks = [part(5, 0), part(7, 1), part(6, 0), part(0, 0, true), part(0, 1, true), part(8, 0)]
    expect(formatOf(chunks[0])?.name).toBe('llama-cpp-completion-stream')
    expect(trajectoriesOf(llamaCppCompletionStream, chunks).map(({ segments }) => segments[0]?.ids)).toEqual([
      [5, 6],
      [7],
      [8],
    ])
  })
})
