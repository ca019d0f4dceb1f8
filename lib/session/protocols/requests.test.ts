/** Tests that every field of a request is read, ignored for a reason or refused by its name. */
import { describe, expect, test } from 'vitest'
import { PROTOCOL_NAMES, type ProtocolName } from '../call.ts'
import { CHAT_UNREAD } from './chat-request.ts'
import type { UnreadFields } from './fields.ts'
import { MESSAGES_UNREAD } from './messages-request.ts'
import { protocols } from './protocol.ts'
import { CallRefusal, errorBody, failureOf } from './refusal.ts'
import { RESPONSES_UNREAD } from './responses-request.ts'

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const PARAMETERS = { type: 'object', properties: { a: { type: 'number' } } }

/** The smallest body of each protocol. */
const BODIES: Readonly<Record<ProtocolName, Readonly<Record<string, unknown>>>> = {
  chat: { model: 'tiny', messages: [{ role: 'user', content: 'hi' }] },
  messages: { model: 'tiny', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'tiny', input: 'hi' },
}

const readBody = (name: ProtocolName, body: unknown) => protocols[name].read(body, JSON.stringify(body))
const read = (name: ProtocolName, changes: object = {}) => readBody(name, { ...BODIES[name], ...changes })

/** Returns the refusal of a body as its client gets it. */
function refusalOf(name: ProtocolName, body: unknown): CallRefusal {
  try {
    readBody(name, body)
  } catch (error) {
    if (error instanceof CallRefusal) return error
    throw error
  }
  throw new Error('the request was not refused')
}

const UNREAD: Readonly<Record<ProtocolName, UnreadFields>> = {
  chat: CHAT_UNREAD,
  messages: MESSAGES_UNREAD,
  responses: RESPONSES_UNREAD,
}
const ALL_UNREAD = PROTOCOL_NAMES.flatMap((name) =>
  Object.keys(UNREAD[name].refused).map((field) => [name, field] as const),
)
const ALL_IGNORED = PROTOCOL_NAMES.flatMap((name) =>
  Object.keys(UNREAD[name].ignored).map((field) => [name, field] as const),
)

describe('A request', () => {
  test.each(ALL_UNREAD)('of %s with %s is refused by the name of the field and says what to do', (name, field) => {
    const refusal = refusalOf(name, { ...BODIES[name], [field]: 'some' })
    expect(refusal.field).toBe(field)
    expect(refusal.message).toMatch(new RegExp(`^${field} is not supported by sessions: .{12,}\\.$`))
    for (const nothing of [null, false, []]) expect(read(name, { [field]: nothing }).messages).toHaveLength(1)
  })

  test.each(ALL_IGNORED)('of %s with %s is read, because the field changes nothing', (name, field) => {
    const { body, ...call } = read(name, { [field]: 'some' })
    const { body: _, ...same } = read(name)
    expect(call).toEqual(same)
    expect(body).toHaveProperty(field, 'some')
  })

  test.each(PROTOCOL_NAMES)('of %s with an unknown field is refused by its name', (name) => {
    expect(refusalOf(name, { ...BODIES[name], no_such_field: 1 }).message).toContain('no key "no_such_field"')
  })

  test.each(PROTOCOL_NAMES)('of %s that is no object is refused', (name) => {
    expect(refusalOf(name, [1]).message).toBe('The body must be a JSON object, but it is an array of 1.')
    expect(failureOf(refusalOf(name, 'x'))).toEqual({
      status: 400,
      message: 'The body must be a JSON object, but it is "x".',
    })
  })

  test.each([
    ['chat', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role', 'a known role'],
    ['chat', { messages: [] }, 'messages', 'at least 1'],
    ['chat', { messages: [{ role: 'user', content: 'x', weight: 1 }] }, 'messages[0]', 'no key "weight"'],
    [
      'chat',
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
      'messages[0].content[0].type',
      'a known type',
    ],
    [
      'chat',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.b/c.png' } }] }] },
      'messages[0].content[0].image_url.url',
      'sessions fetch no images',
    ],
    ['chat', { tools: [{ type: 'custom', custom: {} }] }, 'tools[0].type', '"function"'],
    ['chat', { tool_choice: 'required' }, 'tool_choice', 'the request has no tools'],
    ['chat', { tool_choice: { type: 'function', function: { name: 'f' } } }, 'tool_choice', 'no such tool'],
    ['chat', { top_logprobs: 2 }, 'top_logprobs', 'needs logprobs: true'],
    ['chat', { logprobs: true, top_logprobs: 21 }, 'top_logprobs', 'at most 20'],
    ['chat', { temperature: 200 }, 'temperature', 'a number from 0 to 100'],
    ['chat', { n: 0 }, 'n', 'at least 1'],
    ['chat', { max_tokens: 5, max_completion_tokens: 6 }, 'max_tokens', 'remove one of them'],
    ['chat', { stop: Array.from({ length: 33 }, String) }, 'stop', 'more than 32 texts'],
    ['chat', { chat_template_kwargs: { tools: [] } }, 'chat_template_kwargs.tools', 'argument of apply_chat_template'],
    ['chat', { stream_options: { continuous_usage_stats: true } }, 'stream_options', 'no key'],
    ['messages', { max_tokens: 0 }, 'max_tokens', 'a whole number from 1'],
    [
      'messages',
      { messages: [{ role: 'user', content: [{ type: 'document', source: {} }] }] },
      'messages[0].content[0].type',
      'a known type',
    ],
    [
      'messages',
      { messages: [{ role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }] }] },
      'messages[0].content[0].type',
      'a known type',
    ],
    ['messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type', '"custom"'],
    [
      'messages',
      { tools: [{ name: 'f', input_schema: {}, defer_loading: true }] },
      'tools[0].defer_loading',
      'In Claude Code, set ENABLE_TOOL_SEARCH to false',
    ],
    [
      'responses',
      { tools: [{ type: 'web_search' }] },
      'tools[0].type',
      '"function": sessions have no tools of their own',
    ],
    [
      'responses',
      { tools: [{ type: 'namespace', name: 'agents', tools: [] }] },
      'tools[0].type',
      'In Codex, set web_search to "disabled" and features.multi_agent to false',
    ],
    [
      'responses',
      { input: [{ type: 'item_reference', id: 'x' }] },
      'input[0].id',
      'the whole history must be in input',
    ],
    ['responses', { truncation: 'auto' }, 'truncation', 'shortens no history'],
    ['responses', { include: ['file_search_call.results'] }, 'include[0]', 'message.output_text.logprobs'],
    ['responses', { top_logprobs: 21 }, 'top_logprobs', 'at most 20'],
    ['responses', { text: { verbosity: 'low' } }, 'text.verbosity', 'no such variable'],
  ] as const)('of %s with %j is refused at %s', (name, changes, field, words) => {
    const refusal = refusalOf(name, { ...BODIES[name], ...changes })
    expect([refusal.field, refusal.message]).toEqual([field, expect.stringContaining(words)])
    expect(JSON.stringify(errorBody(name, failureOf(refusal)))).toContain('invalid_request_error')
  })

  test('with two tools of one name is refused', () => {
    const tool = { type: 'function', function: { name: 'f' } }
    expect(refusalOf('chat', { ...BODIES.chat, tools: [tool, tool] }).field).toBe('tools[1]')
  })

  test('that must be answered with a call has no output format, which is that of a text', () => {
    const both = { tools: [{ type: 'function', function: { name: 'f' } }], response_format: { type: 'json_object' } }
    const structured = (tool_choice: string) => read('chat', { ...both, tool_choice }).structured
    expect([structured('required'), structured('auto')]).toEqual([undefined, { kind: 'object' }])
  })
})

describe('A chat completion request', () => {
  test('is read with its history, tools and parameters', () => {
    const call = read('chat', {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Add ' },
            { type: 'text', text: 'it.', cache_control: { type: 'ephemeral' } },
            { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'Sum.',
          refusal: null,
          annotations: [],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a": 1}' }, index: 0 }],
        },
        { role: 'tool', tool_call_id: 'c1', name: 'add', content: [{ type: 'text', text: '1' }] },
        { role: 'assistant', content: 'One.', reasoning: 'Done.' },
        { role: 'user', content: 'Again' },
      ],
      tools: [
        { type: 'function', function: { name: 'add', description: 'Adds', parameters: PARAMETERS, strict: true } },
      ],
      tool_choice: { type: 'function', function: { name: 'add' } },
      parallel_tool_calls: false,
      max_tokens: 5,
      min_tokens: 2,
      top_k: 4,
      seed: 7,
      stop: ['END', ''],
      n: 2,
      logprobs: true,
      top_logprobs: 3,
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: 'none',
      chat_template_kwargs: { thinking: true },
      metadata: { session_id: 's1' },
      user: 'u1',
    })
    expect(call).toMatchObject({
      protocol: 'chat',
      model: 'tiny',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Add ' },
            { type: 'text', text: 'it.' },
            { type: 'image', image: PNG },
          ],
        },
        {
          role: 'assistant',
          content: '',
          reasoning: 'Sum.',
          toolCalls: [{ id: 'c1', name: 'add', input: { a: 1 } }],
        },
        { role: 'tool', callId: 'c1', content: '1' },
        { role: 'assistant', content: 'One.', reasoning: 'Done.' },
        { role: 'user', content: 'Again' },
      ],
      tools: [{ name: 'add', description: 'Adds', inputSchema: PARAMETERS }],
      toolChoice: { name: 'add' },
      parallelToolCalls: false,
      n: 2,
      logprobs: 3,
      stream: true,
      includeUsage: true,
      templateArguments: { reasoning_effort: 'none', enable_thinking: false, thinking: true },
      metadata: { sessionId: 's1', user: 'u1' },
    })
    expect(call.sampling).toEqual({ max_new_tokens: 5, min_new_tokens: 2, top_k: 4, sampling_seed: 7, stop: ['END'] })
  })

  test('has the defaults of its protocol for what it omits', () => {
    expect(read('chat')).toEqual({
      protocol: 'chat',
      model: 'tiny',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [],
      toolChoice: 'auto',
      parallelToolCalls: true,
      sampling: {},
      structured: undefined,
      n: 1,
      logprobs: undefined,
      stream: false,
      includeUsage: false,
      templateArguments: {},
      metadata: {},
      body: BODIES.chat,
    })
  })

  test('takes null for every field that may be omitted', () => {
    const fields = [
      'tools',
      'tool_choice',
      'response_format',
      'stop',
      'n',
      'top_k',
      'logprobs',
      'stream_options',
      'user',
    ]
    const { body: _, ...call } = read('chat', Object.fromEntries(fields.map((field) => [field, null])))
    const { body: __, ...same } = read('chat')
    expect(call).toEqual(same)
  })

  test('of responses has logprobs if the client includes them, or wants alternatives', () => {
    const include = ['message.output_text.logprobs', 'reasoning.encrypted_content']
    expect(read('responses', { include })).toMatchObject({ logprobs: 0 })
    expect(read('responses', { include, top_logprobs: 3 })).toMatchObject({ logprobs: 3 })
    expect(read('responses', { top_logprobs: 2 })).toMatchObject({ logprobs: 2 })
    expect(read('responses', { include: [], top_logprobs: 0 }).logprobs).toBeUndefined()
  })

  test('for logprobs without alternatives has none, and takes min_new_tokens of SGLang', () => {
    expect(read('chat', { logprobs: true, min_new_tokens: 3 })).toMatchObject({
      logprobs: 0,
      sampling: { min_new_tokens: 3 },
    })
  })

  test('reads each response format', () => {
    const structured = (response_format: object) => read('chat', { response_format }).structured
    expect(structured({ type: 'text' })).toBeUndefined()
    expect(structured({ type: 'json_object' })).toEqual({ kind: 'object' })
    const schema = { type: 'object' }
    expect(structured({ type: 'json_schema', json_schema: { name: 'n', schema, strict: true } })).toEqual({
      kind: 'schema',
      name: 'n',
      schema,
    })
    expect(structured({ type: 'json_schema', json_schema: { schema } })).toEqual({ kind: 'schema', schema })
  })

  test('keeps the names of participants that chat templates may print, and ignores those of replies and results', () => {
    const { messages } = read('chat', {
      messages: [
        { role: 'system', content: 's', name: 'rules' },
        { role: 'user', content: [{ type: 'text', text: 'hi' }], name: 'ann' },
        { role: 'assistant', content: 'Hello', name: 'research_agent' },
        { role: 'tool', content: '2', tool_call_id: 'c1', name: 'add' },
      ],
    })
    expect(messages).toEqual([
      { role: 'system', name: 'rules', content: 's' },
      { role: 'user', name: 'ann', content: 'hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'tool', callId: 'c1', content: '2' },
    ])
  })

  test('keeps arguments that are not JSON as the text that the client sent', () => {
    const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a": ' } }]
    expect(read('chat', { messages: [{ role: 'assistant', content: '', tool_calls }] }).messages).toEqual([
      { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'add', input: '{"a": ' }] },
    ])
  })

  test('with 2,000 messages and repeated ids of calls is read', () => {
    const turn = [
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '1' },
    ]
    const messages = Array.from({ length: 1000 }, () => turn).flat()
    expect(read('chat', { messages }).messages).toHaveLength(2000)
  })
})

describe('A request of Anthropic messages', () => {
  test('is read with its blocks in their order', () => {
    const call = read('messages', {
      system: [
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Sum.', signature: 's' },
            { type: 'text', text: 'Let me add.' },
            { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
            { type: 'tool_use', id: 't2', name: 'add', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: '1', is_error: false },
            { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: '2' }] },
            { type: 'text', text: 'Go ' },
            { type: 'text', text: 'on.' },
            { type: 'tool_result', tool_use_id: 't1' },
          ],
        },
        { role: 'system', content: 'Now be long.' },
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }],
        },
      ],
      tools: [
        { name: 'add', description: 'Adds', input_schema: PARAMETERS },
        { name: 'now', input_schema: {} },
      ],
      tool_choice: { type: 'tool', name: 'add', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      temperature: 0,
      top_k: 3,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      metadata: { user_id: 'u1' },
    })
    expect(call).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.\nBe kind.' },
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'Let me add.',
          reasoning: 'Sum.',
          toolCalls: [
            { id: 't1', name: 'add', input: { a: 1 } },
            { id: 't2', name: 'add', input: {} },
          ],
        },
        { role: 'tool', callId: 't1', content: '1' },
        { role: 'tool', callId: 't2', content: '2' },
        { role: 'user', content: 'Go on.' },
        { role: 'tool', callId: 't1', content: '' },
        { role: 'system', content: 'Now be long.' },
        { role: 'user', content: [{ type: 'image', image: PNG }] },
      ],
      tools: [
        { name: 'add', description: 'Adds', inputSchema: PARAMETERS },
        { name: 'now', inputSchema: {} },
      ],
      toolChoice: { name: 'add' },
      parallelToolCalls: false,
      templateArguments: { enable_thinking: true },
      metadata: { user: 'u1' },
    })
    expect(call.sampling).toEqual({ max_new_tokens: 9, temperature: 0, top_k: 3, stop: ['END'] })
  })

  test('has the digits of arguments, which are objects of its body', () => {
    const inputs = ['{"a":1152921504606846976,"b":[1.0,-0.0]}', '{"a":1}', '"{\\"a\\":1.0}"', '3.0', '{"a":1.0}']
    const calls = inputs.map((input, index) => `{"type":"tool_use","id":"t${index}","name":"f","input":${input}}`)
    const turns = `[{"role":"user","content":"1.0"},{"role":"assistant","content":[{"type":"text","text":"."},${calls}]}]`
    const text = `{"model":"tiny","max_tokens":9,"temperature":1.0,"messages":${turns}}`
    const body = JSON.parse(text) as object
    const { messages, body: kept, sampling } = protocols.messages.read(body, text)
    expect(messages).toEqual([
      { role: 'user', content: '1.0' },
      {
        role: 'assistant',
        content: '.',
        toolCalls: [
          { id: 't0', name: 'f', input: { a: 2 ** 60, b: [1, -0] }, json: inputs[0] },
          { id: 't1', name: 'f', input: { a: 1 } },
          { id: 't2', name: 'f', input: { a: 1 }, json: '{"a":1.0}' },
          { id: 't3', name: 'f', input: 3 },
          { id: 't4', name: 'f', input: { a: 1 }, json: inputs[4] },
        ],
      },
    ])
    expect([kept, sampling]).toEqual([body, { max_new_tokens: 9, temperature: 1 }])
  })

  test('reads each choice of tools, and the output configuration', () => {
    const tools = [{ name: 'add', input_schema: {} }]
    const choice = (type: string) => read('messages', { tools, tool_choice: { type } }).toolChoice
    expect([choice('any'), choice('none'), choice('auto')]).toEqual(['required', 'none', 'auto'])
    const configured = read('messages', {
      thinking: { type: 'disabled' },
      stop_sequences: [],
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    })
    expect(configured).toMatchObject({
      structured: { kind: 'schema', schema: { type: 'object' } },
      templateArguments: { enable_thinking: false, reasoning_effort: 'low' },
      sampling: { max_new_tokens: 9 },
    })
    expect(read('messages', { system: '' }).messages).toHaveLength(1)
  })
})

describe('A request of OpenAI responses', () => {
  test('is read with the items of a reply as one message', () => {
    const call = read('responses', {
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'hi' },
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'Sum.' }],
          encrypted_content: 'x',
        },
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Let me add.', annotations: [], logprobs: [] }],
        },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'add', arguments: '{"a": 1}', status: 'completed' },
        { type: 'function_call_output', call_id: 'c1', output: '1' },
        { type: 'reasoning', id: 'rs_2', summary: [{ type: 'summary_text', text: 'Done.' }], content: null },
        { role: 'assistant', content: 'One.' },
        { role: 'user', content: [{ type: 'input_image', image_url: PNG, detail: 'auto' }] },
        { type: 'reasoning', id: 'rs_3' },
      ],
      tools: [{ type: 'function', name: 'add', description: 'Adds', parameters: PARAMETERS, strict: true }],
      tool_choice: { type: 'function', name: 'add' },
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'auto' },
      max_output_tokens: 5,
      top_p: 0.5,
      include: ['reasoning.encrypted_content'],
      truncation: 'disabled',
      metadata: { 'x-session-id': 's1' },
      user: 'u1',
    })
    expect(call).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'assistant',
          content: 'Let me add.',
          reasoning: 'Sum.',
          toolCalls: [{ id: 'c1', name: 'add', input: { a: 1 } }],
        },
        { role: 'tool', callId: 'c1', content: '1' },
        { role: 'assistant', content: 'One.', reasoning: 'Done.' },
        { role: 'user', content: [{ type: 'image', image: PNG }] },
        { role: 'assistant', content: '' },
      ],
      tools: [{ name: 'add', description: 'Adds', inputSchema: PARAMETERS }],
      toolChoice: { name: 'add' },
      parallelToolCalls: false,
      templateArguments: { reasoning_effort: 'high' },
      metadata: { sessionId: 's1', user: 'u1' },
    })
    expect(call.sampling).toEqual({ max_new_tokens: 5, top_p: 0.5 })
  })

  test('reads each text format', () => {
    const structured = (format: object) => read('responses', { text: { format } }).structured
    const schema = { type: 'object' }
    expect(structured({ type: 'text' })).toBeUndefined()
    expect(structured({ type: 'json_object' })).toEqual({ kind: 'object' })
    expect(structured({ type: 'json_schema', schema })).toEqual({ kind: 'schema', schema })
    expect(structured({ type: 'json_schema', name: 'n', schema })).toEqual({ kind: 'schema', name: 'n', schema })
    expect(read('responses', { tools: [{ type: 'function', name: 'f' }] }).tools).toEqual([
      { name: 'f', inputSchema: {} },
    ])
  })
})
