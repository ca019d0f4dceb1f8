import { describe, expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { type ChatTemplate, chatTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml, headersOnly } from '#testing/small-templates.ts'
import { addTokens, closePrompt, closeResponse, endsInsideThink, vocabularyWriter } from '../record/record.ts'
import { endOfTurnId, firstPrompt, nextPrompt, templateMessage, templateTools } from './prompt.ts'

const bytes = byteTokenizer.encode
const text = (ids: readonly number[]) =>
  new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => Array.from(byteTokenizer.bytes(id)))))
const promptEncoder = (template: string) => ({ tokenizer: byteTokenizer, template: chatTemplate(template, {}) })
const user = (content: string): Message => ({ role: 'user', content })
const stop = { kind: 'stop', matched: byteId('<|im_end|>') } as const

describe('the first prompt', () => {
  test('holds the tools as the template prints them', () => {
    const tools = [
      { name: 'f', description: 'does f', inputSchema: { type: 'object' } },
      { name: 'g', inputSchema: {} },
    ]
    expect(text(firstPrompt([user('q')], { tools, options: {} }, promptEncoder(chatml)).ids)).toContain(
      JSON.stringify(templateTools(tools)).replaceAll(',', ', ').replaceAll(':', ': '),
    )
  })

  test('is reported when the template leaves the tools out', () => {
    const tools = [{ name: 'f', inputSchema: {} }]
    const problems = (template: string, given = tools) =>
      firstPrompt([user('q')], { tools: given, options: {} }, promptEncoder(template)).problems
    expect(problems(headersOnly)).toEqual([
      { kind: 'template', message: expect.stringContaining('does not print the tools') },
    ])
    expect(problems(headersOnly, [])).toEqual([])
    expect(problems(chatml)).toEqual([])
    // A question about a tool contains its name, and a template that is rendered elsewhere may contain any name.
    const named = [user('what is "read_it"?')]
    const readIt = [{ name: 'read_it', inputSchema: {} }]
    const asked = { tools: readIt, options: {} }
    const mute = promptEncoder(headersOnly)
    expect(firstPrompt(named, asked, mute).problems).toHaveLength(1)
    expect(
      firstPrompt([user('q')], asked, promptEncoder(`{%- if false -%}"read_it"{%- endif -%}${headersOnly}`)).problems,
    ).toHaveLength(1)
    expect(
      firstPrompt([user('q')], asked, { ...mute, template: { ...mute.template, text: '' } }).problems,
    ).toHaveLength(1)
    expect(problems("{%- if not tools -%}{{- raise_exception('tools only') -}}{%- endif -%}")).toEqual([])
  })

  test('has the digits of given arguments', () => {
    const json = '{"a": 12345678901234567890, "b": [1.0, -0.0, 1E+2]}'
    const toolCalls = [{ name: 'f', input: JSON.parse(json) as unknown, json }]
    const messages: readonly Message[] = [user('q'), { role: 'assistant', content: '', toolCalls }]
    const printing =
      '{%- for m in messages -%}{%- for c in m.tool_calls or [] -%}{{- c.function.arguments | tojson -}}{%- endfor -%}{%- endfor -%}'
    expect(text(firstPrompt(messages, { tools: [], options: {} }, promptEncoder(printing)).ids)).toBe(
      '{"a": 12345678901234567890, "b": [1.0, -0.0, 100.0]}',
    )
  })

  test('fails with the template’s own words', () => {
    expect(() =>
      firstPrompt([user('q')], { tools: [], options: {} }, promptEncoder("{{ raise_exception('no system') }}")),
    ).toThrow('no system')
    expect(() => chatTemplate('{% if %}', {})).toThrow(TemplateError)
  })
})

test('messages are converted to the form that templates expect', () => {
  expect(templateMessage({ role: 'developer', content: 'd' }, [])).toEqual({ role: 'developer', content: 'd' })
  expect(templateMessage({ role: 'tool' }, [])).toEqual({ role: 'tool', content: '' })
  const [tool, user] = [
    { role: 'tool', name: 'add', content: '4' } as const,
    { role: 'user', name: 'Ann', content: 'q' } as const,
  ]
  expect([tool, user].map((message) => templateMessage(message, []))).toEqual([tool, user])
  expect(templateMessage({ role: 'tool', callId: 'c', content: 'r' }, [])).toEqual({
    role: 'tool',
    tool_call_id: 'c',
    content: 'r',
  })
  expect(templateMessage({ role: 'assistant', content: 'a' }, [])).toEqual({ role: 'assistant', content: 'a' })
  const parts = [{ type: 'text', text: 'a' }, { type: 'text' }, { type: 'text', text: 'b' }]
  expect(templateMessage({ role: 'user', content: parts }, [])).toEqual({ role: 'user', content: 'ab' })
  const withImage = [...parts, { type: 'image' }]
  expect(templateMessage({ role: 'user', content: withImage }, [])).toEqual({ role: 'user', content: withImage })
  expect(
    templateMessage(
      {
        role: 'assistant',
        content: '',
        reasoning: 'r',
        toolCalls: [
          { id: 'c', name: 'f', input: { x: 1 } },
          { name: 'g', input: {} },
        ],
      },
      [],
    ),
  ).toEqual({
    role: 'assistant',
    content: '',
    reasoning_content: 'r',
    tool_calls: [
      { id: 'c', type: 'function', function: { name: 'f', arguments: { x: 1 } } },
      { type: 'function', function: { name: 'g', arguments: {} } },
    ],
  })
})

describe('the token that ends a turn', () => {
  test('is read from the template', () => {
    expect(endOfTurnId(promptEncoder(chatml), {})).toBe(byteId('<|im_end|>'))
    expect(endOfTurnId(promptEncoder(headersOnly), {})).toBeUndefined()
    expect(endOfTurnId(promptEncoder('{{ raise_exception("no") }}'), {})).toBeUndefined()
  })

  test('a crash of Rollscope is not reported as a template’s refusal', () => {
    const broken: ChatTemplate = {
      text: '',
      render: () => {
        throw new RangeError('ours')
      },
    }
    expect(() => endOfTurnId({ tokenizer: byteTokenizer, template: broken }, {})).toThrow('ours')
  })
})

describe('a continuation of a trajectory', () => {
  const { trajectory } = simulateRollout(chatml, [
    { messages: [user('a')], reply: [...bytes('b'), byteId('<|im_end|>')], finish: stop },
  ])

  test('is refused if the template prints replies twice', () => {
    const twice =
      "{%- for m in messages -%}{{- m.content -}}{%- if m.role == 'assistant' -%}{{- m.content -}}{%- endif -%}{%- endfor -%}"
    expect(() => nextPrompt(trajectory, [user('c')], promptEncoder(twice))).toThrow('prints an assistant message twice')
  })

  test('reports no verdict on the template after a crash in the check', () => {
    let isBroken = false
    const template = chatTemplate(chatml, {})
    const failing: ChatTemplate = {
      text: chatml,
      render: (input) => {
        if (isBroken) throw new RangeError('ours')
        return template.render(input)
      },
    }
    const { derivation } = nextPrompt(trajectory, [user('c')], { tokenizer: byteTokenizer, template: failing })
    isBroken = true
    expect(() => JSON.stringify(derivation)).toThrow('ours')
  })

  test('renders the whole conversation once, when its check is read, unless its template is rendered elsewhere', () => {
    const lengths: number[] = []
    const template = chatTemplate(chatml, {})
    const counting: ChatTemplate = {
      text: chatml,
      render: (input) => {
        lengths.push(input.messages.length)
        return template.render(input)
      },
    }
    const elsewhere = { tokenizer: byteTokenizer, template: counting, settle: async <T>(compute: () => T) => compute() }
    const longer = { ...trajectory, segments: [...trajectory.segments, ...trajectory.segments] }
    const whole = () => lengths.filter((length) => length === 5).length
    const { derivation } = nextPrompt(longer, [user('c')], { tokenizer: byteTokenizer, template: counting })
    expect(whole()).toBe(0)
    expect([JSON.stringify(derivation), JSON.stringify(derivation)]).toEqual(
      Array(2).fill('{"kind":"continuation","closesTurn":false,"check":{"kind":"held"}}'),
    )
    expect(whole()).toBe(1)
    nextPrompt(longer, [user('c')], elsewhere)
    expect(whole()).toBe(2)
  })

  test('gives its template the unchanged messages of the turn before as the same objects, so that their JSON is made once', () => {
    const wholes: (readonly object[])[] = []
    const template = chatTemplate(chatml, {})
    const watched: ChatTemplate = {
      text: chatml,
      render: (input) => {
        wholes.push(input.messages)
        return template.render(input)
      },
    }
    const elsewhere = { tokenizer: byteTokenizer, template: watched, settle: async <T>(compute: () => T) => compute() }
    const { trajectory: called } = simulateRollout(
      chatml,
      [
        {
          messages: [user('a')],
          reply: bytes('<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'),
          finish: { kind: 'length' },
        },
        {
          messages: [
            { role: 'tool', callId: 'x' },
            { role: 'tool', callId: 'unknown' },
          ],
          reply: bytes('b'),
          finish: stop,
        },
      ],
      { tools: [{ name: 'f', inputSchema: {} }] },
    )
    const withResult = (result: string): Trajectory => ({
      ...called,
      segments: called.segments.map((segment) =>
        segment.kind === 'response'
          ? {
              ...segment,
              toolCalls: segment.toolCalls.map((call) => ({
                ...call,
                id: 'x',
                result: { status: 'success', text: result },
              })),
            }
          : segment,
      ) as Trajectory['segments'],
    })
    const conversationOf = (trajectory: Trajectory): readonly object[] => {
      nextPrompt(trajectory, [user('c')], elsewhere)
      return wholes.findLast(({ length }) => length === 6)?.slice(0, 5) ?? []
    }
    const [four, five] = [withResult('4'), withResult('5')]
    const before = conversationOf(four)
    expect(before).toMatchObject([
      { content: 'a' },
      { tool_calls: [{}] },
      { content: '4', tool_call_id: 'x' },
      { content: '' },
      { content: 'b' },
    ])
    const again = conversationOf(four)
    expect(again.map((message, index) => message === before[index])).toEqual([true, true, true, true, true])
    // Another trajectory may begin with the same segments and have another result.
    expect(conversationOf(five)[2]).toMatchObject({ content: '5', tool_call_id: 'x' })
    expect(conversationOf(four)[2]).toMatchObject({ content: '4' })
  })

  test('has no verdict if the trajectory begins with a text or ids of the user', () => {
    const [prompt, ...others] = trajectory.segments
    const given = {
      ...prompt,
      derivation: { kind: 'given', messages: [] },
    } as unknown as Trajectory['segments'][number]
    const next = nextPrompt({ ...trajectory, segments: [given, ...others] }, [user('c')], promptEncoder(chatml))
    expect(next.derivation).toEqual({ kind: 'continuation', closesTurn: false, check: { kind: 'unknown' } })
  })

  test('shows a part of a long difference', () => {
    const long = `${chatml}{%- if messages | length > 3 -%}{{- messages[0].content -}}{%- endif -%}`
    const played = simulateRollout(long, [
      { messages: [user('x'.repeat(500))], reply: bytes('b'), finish: stop },
      { messages: [user('c')], reply: bytes('d'), finish: stop },
      { messages: [user('e')], reply: bytes('f'), finish: stop },
    ])
    expect(played.trajectory.segments[4]).toMatchObject({
      derivation: { check: { kind: 'broken', expected: expect.stringContaining('… (300 characters more)') } },
    })
  })

  test('adds no tokens if the template prints nothing new', () => {
    const mute = "{%- for m in messages -%}{%- if m.role == 'assistant' -%}{{- m.content -}}{%- endif -%}{%- endfor -%}"
    expect(nextPrompt(trajectory, [user('c')], promptEncoder(mute))).toMatchObject({
      ids: [],
      derivation: { closesTurn: false },
    })
  })

  test('closes a trajectory that ends with a prompt like an open turn', () => {
    const dangling: Trajectory = { ...trajectory, segments: trajectory.segments.slice(0, 1) }
    const { model } = trajectory
    const { template: _, ...without } = model
    const next = nextPrompt(dangling, [user('c')], promptEncoder(chatml))
    expect(text(next.ids)).toBe('<|im_end|>\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n')
    expect(next.derivation).toMatchObject({ check: { kind: 'held' } })
    expect(nextPrompt({ ...dangling, model: without }, [user('c')], promptEncoder(chatml)).ids.length).toBeGreaterThan(
      0,
    )
  })
})

describe('the recorder', () => {
  const { trajectory } = simulateRollout(chatml, [{ messages: [user('a')], reply: [65], finish: stop }])
  const open = {
    ...trajectory,
    live: { open: { kind: 'response', ids: [66], thinks: [], toolCalls: [] } as const, runningCalls: {} },
  }
  const close = (serverText?: string, ids = [66], tokenizer: Tokenizer = byteTokenizer) =>
    closeResponse(
      {
        ...open,
        live: { ...open.live, open: { ...open.live.open, ids } },
        vocab: Object.fromEntries(
          [...Array(266).keys()].map((id) => [
            id,
            id < 128 ? String.fromCharCode(id) : { hex: id < 256 ? id.toString(16) : '' },
          ]),
        ),
      },
      { problems: [], ...(serverText !== undefined && { text: serverText }) },
      hermes,
      tokenizer,
    )

  test('compares the server’s text, with and without the stop token and an unfinished end', () => {
    expect(close('B')).not.toHaveProperty('segment.problems')
    expect(close('', [66])).not.toHaveProperty('segment.problems')
    expect(close('B', [66, 0xe6])).not.toHaveProperty('segment.problems')
    expect(close('B', [66, 0xe6, byteId('<|im_end|>')])).not.toHaveProperty('segment.problems')
    expect(close('B\uFFFD', [66, 0xe6])).not.toHaveProperty('segment.problems')
    expect(close('C')).toMatchObject({ segment: { problems: [{ kind: 'text', raw: 'C' }] } })
    // A longer text that begins like the tokens is another text too.
    expect(close('BC')).toMatchObject({ segment: { problems: [{ kind: 'text', raw: 'BC' }] } })
  })

  test('records calls with readable and unreadable names', () => {
    const spelled = bytes('<tool_call>{"name": "f", <tool_call>?').flatMap((id) =>
      id < 256 ? [id] : Array.from(byteTokenizer.bytes(id)),
    )
    const event = close(undefined, spelled)
    expect(event).toMatchObject({ segment: { toolCalls: [{ kind: 'malformed', name: 'f' }, { kind: 'malformed' }] } })
    expect(event).not.toHaveProperty('segment.toolCalls[1].name')
  })

  test('annotates a response without a prompt', () => {
    const first = { ...open, segments: [], vocab: { '66': 'B' } }
    expect(closeResponse(first, { problems: [] }, hermes, byteTokenizer)).toMatchObject({ segment: { thinks: [] } })
  })

  test('gives calls of a continued file ids that it does not use yet', () => {
    const reply = [...bytes('<tool_call>{"name": "f", "arguments": {}}</tool_call>'), byteId('<|im_end|>')]
    const turn = { messages: [user('q')], reply, finish: stop }
    const { trajectory: made } = simulateRollout(chatml, [turn])
    const [prompt, response] = made.segments
    if (prompt?.kind !== 'prompt' || response?.kind !== 'response') throw new Error('two segments')
    const imported: Trajectory = {
      ...made,
      segments: [prompt, { ...response, toolCalls: response.toolCalls.map((call) => ({ ...call, id: 'call_0001' })) }],
    }
    const live: LiveTrajectory = { ...imported, live: { open: { ...response, toolCalls: [] }, runningCalls: {} } }
    expect(closeResponse(live, { problems: [] }, hermes, byteTokenizer)).toMatchObject({
      segment: { toolCalls: [{ id: 'call_0002' }] },
    })
  })

  test('refuses to close a response that is not open', () => {
    expect(() => closeResponse(trajectory, { problems: [] }, hermes, byteTokenizer)).toThrow('no response is open')
  })

  test('keeps problems of a prompt, and the texts of alternatives', () => {
    const event = closePrompt(
      { topLogprobs: { k: 1, ids: [200], logprobs: [-1] } },
      [{ kind: 'number', message: 'odd' }],
      vocabularyWriter(trajectory, byteTokenizer),
    )
    expect(event).toMatchObject({
      segment: { problems: [{ kind: 'number' }], topLogprobs: { k: 1 } },
      vocab: { '200': { hex: 'c8' } },
    })
  })

  test('adds the texts of alternatives of tokens, and none for -1', () => {
    expect(
      addTokens(
        { ids: [200], topLogprobs: { k: 2, ids: [201, -1], logprobs: [-1, null] } },
        vocabularyWriter(trajectory, byteTokenizer),
      ),
    ).toMatchObject({ vocab: { '200': { hex: 'c8' }, '201': { hex: 'c9' } }, specialIds: [] })
  })

  test('finds thinking by text if the tokenizer has no think tokens', () => {
    const plain: Tokenizer = {
      ...byteTokenizer,
      addedTokens: byteTokenizer.addedTokens.filter(({ content }) => !content.includes('think')),
    }
    expect(
      close(
        undefined,
        bytes('<think>a</think>b').flatMap((id) => (id < 256 ? [id] : Array.from(byteTokenizer.bytes(id)))),
        plain,
      ),
    ).toMatchObject({ segment: { thinks: [{ start: 0, end: 16, closed: true }] } })
    const spelled = (text: string) =>
      endsInsideThink(
        bytes(text).flatMap((id) => (id < 256 ? [id] : Array.from(byteTokenizer.bytes(id)))),
        plain,
      )
    const ends = ['Solve it.\n<think>', 'So: <think>\n', 'Write <think>a</think>', 'Think in <think>, then answer', '']
    expect(ends.map(spelled)).toEqual([true, true, false, false, false])
  })
})

test('the byte tokenizer knows its tokens and no others', () => {
  expect(byteTokenizer.bytes(9999)).toHaveLength(0)
  expect(() => byteId('<|nope|>')).toThrow('no token <|nope|>')
})
