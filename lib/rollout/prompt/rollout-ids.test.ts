import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gptOss } from '#lib/parsers/json/gpt-oss.ts'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { kimiK2 } from '#lib/parsers/json/kimi-k2.ts'
import { hunyuan } from '#lib/parsers/keyed/hunyuan.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { parsers } from '#lib/parsers/registry.ts'
import { TWO_CALLS } from '#lib/parsers/test-calls.ts'
import { chatTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { applyEvent, type LiveTrajectory } from '#lib/trajectory/events/events.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Finish, Message, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation, responseText } from '#lib/trajectory/messages/conversation.ts'
import { textOf, vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { ids, logprobs, lossMask, segmentStarts, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { byteId, byteTokenizer, byteTokenizerWith } from '#testing/byte-tokenizer.ts'
import { type SimulatedTurn, simulatedLogprob, simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml, counting, headersOnly, looksBack } from '#testing/small-templates.ts'
import { annotations, endsInsideThink } from '../record/record.ts'
import { nextPrompt, templateMessage } from './prompt.ts'

const END = byteId('<|im_end|>')
const stop: Finish = { kind: 'stop', matched: END }
const bytes = (text: string) => byteTokenizer.encode(text)
const user = (content: string): Message => ({ role: 'user', content })
const said = (text: string): Pick<SimulatedTurn, 'reply' | 'finish'> => ({ reply: [...bytes(text), END], finish: stop })
const call = (name: string) => `<tool_call>{"name": "${name}", "arguments": {}}</tool_call>`

/** Returns the tokens as the model saw them: context in round brackets, trained tokens in square ones. */
const draw = (trajectory: Trajectory) =>
  trajectory.segments
    .map((segment) => {
      const text = textOf(segment.ids, trajectory.vocab)
      return segment.kind === 'prompt' ? `(${text})` : `[${text}]`
    })
    .join('')

const drawn = (template: string, turns: readonly SimulatedTurn[]) => draw(simulateRollout(template, turns).trajectory)

describe('the next prompt', () => {
  test('is the whole template first, and then only the new part', () => {
    expect(
      drawn(chatml, [
        { messages: [user('hi')], ...said('yo') },
        { messages: [user('so?')], ...said('ok') },
      ]),
    ).toBe(
      '(<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n)[yo<|im_end|>]' +
        '(\n<|im_start|>user\nso?<|im_end|>\n<|im_start|>assistant\n)[ok<|im_end|>]',
    )
  })

  test('neither repeats nor drops thinking with a template that looks back', () => {
    const turns = [
      { messages: [user('hi')], ...said(`<think>hm</think>${call('f')}`) },
      { messages: [{ role: 'tool', content: '4' } as const, { role: 'tool', content: '5' } as const], ...said('9') },
    ]
    expect(drawn(looksBack, turns)).toBe(
      `(<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n)[<think>hm</think>${call('f')}<|im_end|>]` +
        '(\n<|im_start|>user\n[4]\n[5]<|im_end|>\n<|im_start|>assistant\n)[9<|im_end|>]',
    )
  })

  test('closes a turn that the model left open', () => {
    const { trajectory } = simulateRollout(chatml, [
      { messages: [user('hi')], reply: bytes('on and on'), finish: { kind: 'length' } },
      { messages: [user('so?')], ...said('ok') },
    ])
    expect(draw(trajectory)).toContain('[on and on](<|im_end|>\n<|im_start|>user\nso?')
    expect(trajectory.segments[2]).toMatchObject({ derivation: { kind: 'continuation', closesTurn: true } })
  })

  test('does not close a turn that the model ended, although a tool result has the same end', () => {
    const { trajectory } = simulateRollout(chatml, [
      { messages: [user('hi')], ...said(call('f')) },
      { messages: [{ role: 'tool', callId: 'call_0000', content: '4' }], ...said('ok') },
    ])
    expect(trajectory.segments[2]).toMatchObject({ derivation: { kind: 'continuation', closesTurn: false } })
  })

  test('keeps another stop token in its position and closes the turn after it', () => {
    const odd = byteId('<|endoftext|>')
    expect(
      drawn(chatml, [
        { messages: [user('hi')], reply: [...bytes('yo'), odd], finish: { kind: 'stop', matched: odd } },
        { messages: [user('so?')], ...said('ok') },
      ]),
    ).toContain('[yo<|endoftext|>](<|im_end|>\n<|im_start|>user')
  })

  test('does not repeat a header that was sampled as the stop token', () => {
    const header = byteId('<|observation|>')
    expect(
      drawn(headersOnly, [
        { messages: [user('hi')], reply: [...bytes('yo'), header], finish: { kind: 'stop', matched: header } },
        { messages: [{ role: 'tool', content: '4' }], ...said('ok') },
      ]),
    ).toContain('[yo<|observation|>](\n4<|assistant|>\n<think>)')
  })

  test('closes an empty reply like any other', () => {
    expect(
      drawn(chatml, [
        { messages: [user('hi')], reply: [], finish: stop },
        { messages: [user('so?')], ...said('ok') },
      ]),
    ).toContain('assistant\n)[](<|im_end|>\n<|im_start|>user')
  })

  test('is right for a message that contains the placeholder', () => {
    expect(
      drawn(chatml, [
        { messages: [user('hi')], ...said('PLACEHOLDER-REPLY') },
        { messages: [user('PLACEHOLDER-REPLY-X')], ...said('ok') },
      ]),
    ).toContain('(\n<|im_start|>user\nPLACEHOLDER-REPLY-X<|im_end|>')
  })
})

describe('the check of every continuation', () => {
  const turns: SimulatedTurn[] = [
    { messages: [user('a')], ...said('b') },
    { messages: [user('c')], ...said('d') },
  ]

  test.each([
    ['chatml', chatml],
    ['looksBack', looksBack],
    ['headersOnly', headersOnly],
  ])('passes for %s', (_name, template) => {
    expect(simulateRollout(template, turns).trajectory.segments[2]).toMatchObject({
      derivation: { check: { kind: 'held' } },
    })
  })

  test('reports what the template would have written if it fails', () => {
    const three = [...turns, { messages: [user('e')], ...said('f') }]
    expect(simulateRollout(counting, three).trajectory.segments[4]).toMatchObject({
      derivation: {
        check: {
          kind: 'broken',
          expected: '5user\ne<|im_end|>\n<|im_start|>assistant\n',
          found: '3user\ne<|im_end|>\n<|im_start|>assistant\n',
        },
      },
    })
  })

  test('reports how the template closes a turn if that differs', () => {
    const three = [
      turns[0] as SimulatedTurn,
      { messages: [user('c')], ...said('so far') },
      { messages: [user('e')], ...said('f') },
    ]
    const closing = counting.replace("~ m.content ~ '<|im_end|>", "~ m.content ~ loop.length ~ '<|im_end|>")
    expect(simulateRollout(closing, three).trajectory.segments[4]).toMatchObject({
      derivation: {
        check: { expected: expect.stringMatching(/^5<\|im_end/), found: expect.stringMatching(/^3<\|im_end/) },
      },
    })
  })

  test('fails for a text between the reply and the same end of the turn', () => {
    const three = [...turns, { messages: [user('e')], ...said('f') }]
    const marking = chatml.replace(
      '+ m.content +',
      "+ m.content + ('!' if m.role == 'assistant' and messages | length > 3 else '') +",
    )
    expect(marking).not.toBe(chatml)
    expect(simulateRollout(marking, three).trajectory.segments[4]).toMatchObject({
      derivation: { check: { kind: 'broken' } },
    })
  })

  test('reports as much of the conversation after an empty reply', () => {
    const three = [...turns, { messages: [user('e')], ...said('f') }]
    const empty = three.map((turn, index) => (index === 1 ? { ...turn, ...said('') } : turn))
    expect(simulateRollout(counting, empty).trajectory.segments[4]).toMatchObject({
      derivation: { check: { kind: 'broken', expected: expect.stringContaining('5user'), found: expect.any(String) } },
    })
  })

  test('passes for a template that drops a part of the reply and writes the new part after the rest', () => {
    const dropping = chatml.replaceAll('m.content', "m.content.split('</think>')[-1]")
    expect(dropping).not.toBe(chatml)
    const two = [
      { messages: [user('a')], ...said('so far </think>') },
      { messages: [user('c')], ...said('d') },
    ]
    expect(simulateRollout(dropping, two).trajectory.segments[2]).toMatchObject({
      derivation: { check: { kind: 'held' } },
    })
  })

  test('reports a template that fails on the whole conversation', () => {
    const picky = `{%- if messages | length > 3 -%}{{- raise_exception('too many') -}}{%- endif -%}${chatml}`
    const three = [...turns, { messages: [user('e')], ...said('f') }]
    expect(simulateRollout(picky, three).trajectory.segments[4]).toMatchObject({
      derivation: { check: { kind: 'broken', why: expect.stringContaining('too many') } },
    })
  })

  test('reports a template that hides replies and cannot be continued', () => {
    const hiding = "{%- for m in messages -%}{%- if m.role == 'user' -%}{{- m.content -}}{%- endif -%}{%- endfor -%}"
    const { trajectory } = simulateRollout(hiding, turns.slice(0, 1))
    expect(() =>
      nextPrompt(trajectory, [user('c')], { tokenizer: byteTokenizer, template: chatTemplate(hiding, {}) }),
    ).toThrow(TemplateError)
  })
})

describe('a closed response', () => {
  const response = (text: string, template = chatml, options = {}) => {
    const { trajectory } = simulateRollout(template, [{ messages: [user('q')], ...said(text) }], { options })
    const segment = trajectory.segments[1]
    if (segment?.kind !== 'response') throw new Error('no response')
    const taken = ({ start, end }: { start: number; end: number }) =>
      textOf(segment.ids.slice(start, end), trajectory.vocab)
    return { segment, taken }
  }

  test('has token spans of its calls and think blocks', () => {
    const { segment, taken } = response(`<think>é</think>so ${call('f')}`)
    expect(segment.thinks.map(taken)).toEqual(['<think>é</think>'])
    expect(segment.toolCalls.map(({ span, id }) => [id, taken(span)])).toEqual([['call_0000', call('f')]])
  })

  test('has token spans of arguments', () => {
    const { segment, taken } = response('<tool_call>{"name": "f", "arguments": {"x": "日本", "y": [1, 2]}}</tool_call>')
    const [parsed] = segment.toolCalls
    expect(parsed?.kind === 'parsed' && parsed.arguments.map(({ name, span }) => [name, taken(span)])).toEqual([
      ['x', '"日本"'],
      ['y', '[1, 2]'],
    ])
  })

  test('has no call that was drafted while thinking', () => {
    expect(response(`<think>${call('f')}</think>${call('g')}`).segment.toolCalls).toMatchObject([{ name: 'g' }])
  })

  test('has the call at which thinking ends that nothing closes', () => {
    const { segment, taken } = response(`<think>so ${call('f')}`)
    expect(segment).toMatchObject({ toolCalls: [{ name: 'f' }], thinks: [{ closed: false }] })
    expect(segment.thinks.map(taken)).toEqual(['<think>so '])
    expect(response(call('f'), headersOnly).segment).toMatchObject({ toolCalls: [{ name: 'f' }] })
    expect(response('<think>so é').segment.thinks).toEqual([{ start: 0, end: 6, closed: false }])
  })

  test('has in the call a token with the end of thinking and the beginning of the call', () => {
    const merged = byteTokenizerWith('merged', [{ id: 256, content: ' <', special: false }], 0)
    const ids = merged.encode(`<think>so ${call('f')}`)
    const vocab = Object.fromEntries(ids.map((id) => [id, vocabEntry(merged.bytes(id))]))
    const before = { ...simulateRollout(chatml, [{ messages: [user('q')], ...said('a') }]).trajectory, vocab }
    const segment: ResponseSegment = { kind: 'response', ids, thinks: [], toolCalls: [] }
    const { thinks, toolCalls } = annotations(segment, { ...before, segments: [] }, hermes, merged)
    expect(thinks).toEqual([{ start: 0, end: 9, closed: false }])
    expect(toolCalls).toMatchObject([{ kind: 'parsed', span: { start: 9 } }])
  })

  test('may continue a think block that the prompt has opened', () => {
    const { segment, taken } = response(`${call('f')}</think>${call('g')}`, headersOnly)
    expect(segment.thinks.map(taken)).toEqual([`${call('f')}</think>`])
    expect(segment.toolCalls).toMatchObject([{ name: 'g' }])
  })

  test('continues no think block that is empty in the prompt', () => {
    expect(response(call('g'), chatml, { enable_thinking: false }).segment).toMatchObject({
      thinks: [],
      toolCalls: [{ name: 'g' }],
    })
  })

  test('has a think delimiter inside a call as text of its argument', () => {
    const said = '<tool_call>{"name": "f", "arguments": {"t": "a <think> b </think>"}}</tool_call>'
    expect(response(said).segment).toMatchObject({ thinks: [], toolCalls: [{ input: { t: 'a <think> b </think>' } }] })
  })

  test('is not opened as thinking by <think> in a question', () => {
    expect(
      endsInsideThink(bytes('<|im_start|>user\nwhat is <think>?<|im_end|>\n<|im_start|>assistant\n'), byteTokenizer),
    ).toBe(false)
    expect(endsInsideThink(bytes('<|im_start|>assistant\n<think>\n'), byteTokenizer)).toBe(true)
  })

  const MARKS = ['<|start|>', '<|channel|>', '<|message|>', '<|end|>', '<|return|>', '<|call|>']
  const harmony = {
    ...byteTokenizer,
    addedTokens: MARKS.map((content, index) => ({ id: 500 + index, content, special: true })),
    encode: (text: string) =>
      text.split(/(<\|\w+\|>)/).flatMap((part) => (MARKS.includes(part) ? [500 + MARKS.indexOf(part)] : bytes(part))),
    bytes: (id: number) => (id < 500 ? byteTokenizer.bytes(id) : new TextEncoder().encode(MARKS[id - 500])),
  }

  test('may continue a thinking message of gpt-oss', () => {
    const inside = (text: string) => endsInsideThink(harmony.encode(text), harmony)
    expect(inside('<|start|>user<|message|>q<|end|><|start|>assistant<|channel|>analysis<|message|>')).toBe(true)
    expect(inside('<|start|>assistant<|channel|>analysis<|message|>Hm')).toBe(true)
    expect(inside('<|start|>assistant<|channel|>final<|message|>')).toBe(false)
    expect(inside('<|start|>assistant<|channel|>analysis<|message|>x<|end|><|start|>assistant')).toBe(false)
    expect(inside('<|channel|>analysis')).toBe(false)
    expect(inside('')).toBe(false)
  })

  test('HyperCLOVA X: in a message whose header says so, even if the header has text after its token', () => {
    const marks = ['<|im_start|>', '<|im_end|>', '<|stop|>'].map((content, index) => ({
      id: 256 + index,
      content,
      special: true,
    }))
    const hyperclova = byteTokenizerWith('hyperclova', marks, 0)
    const inside = (text: string) => endsInsideThink(hyperclova.encode(text), hyperclova)
    expect(inside('<|im_start|>assistant/think\n')).toBe(true)
    expect(inside('<|im_start|>assistant/think\n<|im_end|>\n<|im_start|>assistant\n')).toBe(false)
    expect(inside('<|im_start|>assistant')).toBe(false)
  })

  test('has thinking of gpt-oss by its tokens: spelled out it is text', () => {
    const analysis = '<|channel|>analysis<|message|>Hm.<|end|>'
    const call = '<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>'
    const thinksOf = (ids: readonly number[]) => {
      const vocab = Object.fromEntries(ids.map((id) => [id, vocabEntry(harmony.bytes(id))]))
      const segment: ResponseSegment = { kind: 'response', ids, thinks: [], toolCalls: [] }
      const before = {
        ...simulateRollout(chatml, [{ messages: [user('q')], ...said('a') }]).trajectory,
        segments: [],
        vocab,
      }
      return annotations(segment, before, gptOss, harmony)
    }
    expect(thinksOf(harmony.encode(analysis + call))).toMatchObject({
      thinks: [{ start: 0, closed: true }],
      toolCalls: [{ kind: 'parsed', name: 'f' }],
    })
    expect(thinksOf([...bytes('<|channel|>'), ...harmony.encode(`analysis<|message|>${call}`)]).thinks).toEqual([])
  })

  describe('a stop token', () => {
    const add = { name: 'add', inputSchema: { properties: { a: { type: 'integer' }, b: { type: 'string' } } } }
    /** The byte tokenizer with the delimiters of a parser as added tokens. */
    const withTokens = (contents: readonly string[]): Tokenizer => {
      const own = contents.filter((content) => !byteTokenizer.addedTokens.some((token) => token.content === content))
      return {
        ...byteTokenizer,
        vocabularySize: 600 + own.length,
        addedTokens: [
          ...byteTokenizer.addedTokens,
          ...own.map((content, index) => ({ id: 600 + index, content, special: true })),
        ],
        bytes: (id) => (id < 600 ? byteTokenizer.bytes(id) : new TextEncoder().encode(own[id - 600])),
      }
    }
    const idOf = (tokenizer: Tokenizer, content: string) =>
      tokenizer.addedTokens.find((token) => token.content === content)?.id as number
    const stopped = (text: string, last: number, tokenizer: Tokenizer, parser: ToolParser) => {
      const { trajectory } = simulateRollout(
        { tokenizer, template: chatTemplate(chatml, {}) },
        [{ messages: [user('q')], reply: [...bytes(text), last], finish: { kind: 'stop', matched: last } }],
        { tools: [add], parser },
      )
      const segment = trajectory.segments[1] as ResponseSegment
      return { trajectory, segment }
    }

    const sections = parsers.filter(({ delimiters }) => delimiters.section)
    const tagged = parsers.filter(({ delimiters: { close, end, section } }) => !section && (close !== '' || end))
    const bracketed = parsers.filter(({ delimiters: { close, end } }) => close === '' && end === undefined)

    test.each(tagged)('that closes a call of $name belongs to the call', (parser) => {
      const [, call] = TWO_CALLS[parser.name] as (typeof TWO_CALLS)[string]
      const closing = parser.delimiters.end ?? parser.delimiters.close
      const tokenizer = withTokens([closing])
      const last = idOf(tokenizer, closing)
      const { trajectory, segment } = stopped(call.slice(0, -closing.length), last, tokenizer, parser)
      expect(segment.toolCalls).toMatchObject([
        { kind: 'parsed', name: 'add', input: { a: 7, b: '日本 7' }, span: { start: 0, end: segment.ids.length } },
      ])
      expect(responseText(segment, trajectory)).toBe(call)
      expect(decode(encode(trajectory))).toEqual({ ok: true, trajectory })
    })

    test.each(sections)('that closes the section of $name closes it', (parser) => {
      const [opening, call, , , after] = TWO_CALLS[parser.name] as (typeof TWO_CALLS)[string]
      const closing = parser.delimiters.section?.close as string
      const text = opening + call + after.slice(0, -closing.length)
      const tokenizer = withTokens([closing])
      const { trajectory, segment } = stopped(text, idOf(tokenizer, closing), tokenizer, parser)
      expect(segment.toolCalls).toMatchObject([{ kind: 'parsed', name: 'add', input: { a: 7, b: '日本 7' } }])
      expect(responseText(segment, trajectory)).toBe(text)
    })

    test('that closes the section of hunyuan closes it in its other spelling too', () => {
      const [opening, call] = (TWO_CALLS.hunyuan as (typeof TWO_CALLS)[string]).map((text) =>
        text.replaceAll(':opensource', ''),
      )
      const tokenizer = withTokens(['</tool_calls>'])
      const { segment } = stopped(`${opening}${call}`, idOf(tokenizer, '</tool_calls>'), tokenizer, hunyuan)
      expect(segment.toolCalls).toMatchObject([{ kind: 'parsed', name: 'add', span: { end: segment.ids.length - 1 } }])
    })

    test.each(bracketed)('that is the last bracket or tag of $name belongs to the text', (parser) => {
      const [opening, call, , , closing] = TWO_CALLS[parser.name] as (typeof TWO_CALLS)[string]
      const text = opening + call + closing
      const last = bytes(text).at(-1) as number
      const { segment } = stopped(text.slice(0, -byteTokenizer.bytes(last).length), last, byteTokenizer, parser)
      expect(segment.toolCalls).toMatchObject([{ kind: 'parsed', name: 'add', input: { a: 7, b: '日本 7' } }])
    })

    test('that closes a think block closes it, and its span ends with the response', () => {
      const { segment } = stopped('<think>hm', byteId('</think>'), byteTokenizer, hermes)
      expect(segment.thinks).toEqual([{ start: 0, end: segment.ids.length, closed: true }])
    })

    test('that closes nothing is not part of the text, whether it is an added token or the end of the turn', () => {
      for (const token of ['<|im_end|>', '<|endoftext|>', '<|observation|>']) {
        const { trajectory, segment } = stopped('<tool_call>{"name": "f"', byteId(token), byteTokenizer, hermes)
        expect(responseText(segment, trajectory)).toBe('<tool_call>{"name": "f"')
        expect(segment.toolCalls).toMatchObject([{ kind: 'malformed', raw: '{"name": "f"' }])
      }
    })

    test('of text that no call ends with is left out of the text', () => {
      const { trajectory, segment } = stopped('one', byteTokenizer.encode('\n')[0] as number, byteTokenizer, hermes)
      expect(responseText(segment, trajectory)).toBe('one')
    })
  })

  test.each(parsers)('$name: a parsed call has spans of its arguments, a malformed one its reason', (parser) => {
    const add = { name: 'add', inputSchema: { properties: { a: { type: 'integer' }, b: { type: 'string' } } } }
    const parts = TWO_CALLS[parser.name] as readonly [string, string, string, string, string]
    const [opening, before, joint, between, after] = parts
    const reply = said(`é ${opening}${before}${joint}${between}${after}`)
    const { trajectory } = simulateRollout(chatml, [{ messages: [user('q')], ...reply }], { tools: [add], parser })
    expect(trajectory.model.parser).toBe(parser.name)
    const segment = trajectory.segments[1] as ResponseSegment
    const taken = ({ start, end }: { start: number; end: number }) =>
      textOf(segment.ids.slice(start, end), trajectory.vocab)
    const [good, bad] = segment.toolCalls
    expect(good?.kind === 'parsed' && good.arguments.map(({ name, span }) => [name, taken(span)])).toEqual([
      ['a', '7'],
      ['b', before.includes('"日本 7"') ? '"日本 7"' : '日本 7'],
    ])
    expect(good).toMatchObject({ id: 'call_0000', name: 'add', input: { a: 7, b: '日本 7' } })
    expect(bad).toMatchObject({ kind: 'malformed', id: 'call_0001', name: 'add', why: expect.any(String) })
    expect(segment.toolCalls.map(({ span }) => taken(span).length)).toEqual([before.length, between.length])
    expect(segment.toolCalls).toHaveLength(2)
  })

  test('numbers its call ids through the trajectory', () => {
    const { trajectory } = simulateRollout(chatml, [
      { messages: [user('q')], ...said(call('a') + call('b')) },
      { messages: [user('r')], ...said(call('c')) },
    ])
    const found = trajectory.segments.flatMap((s) => (s.kind === 'response' ? s.toolCalls.map(({ id }) => id) : []))
    expect(found).toEqual(['call_0000', 'call_0001', 'call_0002'])
  })
})

describe('call ids that the model wrote', () => {
  const kimi = `{%- for m in messages -%}
{{- '<|im_start|>' + m.role + '\\n' + ('## Return of ' + m.tool_call_id + '\\n' if m.role == 'tool' else '') + m.content + '<|im_end|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`
  const one = (index: number) =>
    `<|tool_call_begin|>functions.f:${index}<|tool_call_argument_begin|>{}<|tool_call_end|>`
  const calling = (count: number) =>
    said(
      `<|tool_calls_section_begin|>${Array.from({ length: count }, (_, i) => one(i)).join('')}<|tool_calls_section_end|>`,
    )
  const results = (count: number, from = 0): Message[] =>
    Array.from({ length: count }, (_, i) => ({
      role: 'tool',
      callId: `call_${String(from + i).padStart(4, '0')}`,
      content: `r${i}`,
    }))

  test('are printed with the results, :10 after :9, while Rollscope’s own stay unique', () => {
    const { trajectory } = simulateRollout(
      kimi,
      [
        { messages: [user('q')], ...calling(12) },
        { messages: results(12), ...calling(1) },
        { messages: results(1, 12), ...said('done') },
      ],
      { parser: kimiK2 },
    )
    const prompts = trajectory.segments.flatMap((s) => (s.kind === 'prompt' ? [textOf(s.ids, trajectory.vocab)] : []))
    expect(
      Array.from(prompts[1]?.matchAll(/Return of (\S+)\n(\w+)/g) ?? [], ([, id, text]) => `${id} ${text}`),
    ).toEqual(Array.from({ length: 12 }, (_, i) => `functions.f:${i} r${i}`))
    expect(prompts[2]).toContain('## Return of functions.f:0\nr0')
    expect(trajectory.segments[2]).toMatchObject({ derivation: { check: { kind: 'held' } } })
    const calls = toolCallsOf(trajectory)
    expect(new Set(calls.map(({ id }) => id)).size).toBe(13)
    expect(calls.map(({ writtenId }) => writtenId)).toEqual([
      ...Array.from({ length: 12 }, (_, i) => `functions.f:${i}`),
      'functions.f:0',
    ])
    expect(decode(encode(trajectory))).toEqual({ ok: true, trajectory })
  })
})

const word = fc.oneof(
  fc.constantFrom('a', 'é', '日本', '🙂', ' ', '\n', '<think>', '</think>', '{"', 'x y'),
  fc.string({ maxLength: 4 }),
)
const text = fc.array(word, { maxLength: 6 }).map((parts) => parts.join(''))
const plainText = text.map((value) => value.replace(/<\|\w+\|>/g, ''))
const replies = fc.oneof(
  plainText,
  plainText.map((body) => `<tool_call>{"name": "f", "arguments": {"x": ${JSON.stringify(body)}}}</tool_call>`),
  plainText.map((body) => `<tool_call>${body}</tool_call>`),
  fc.tuple(plainText, fc.integer({ min: 0, max: 4 })).map(([body, n]) => body + call('g').repeat(n)),
)
const ending = fc.constantFrom<[number[], Finish]>(
  [[END], stop],
  [[], { kind: 'length' }],
  [[], { kind: 'cancelled' }],
  [[byteId('<|endoftext|>')], { kind: 'stop' }],
)
const reply = fc.oneof(
  fc.tuple(replies, ending).map(([body, [end, finish]]) => ({ reply: [...bytes(body), ...end], finish })),
  // The ids are arbitrary: split characters, delimiters in odd positions, or nothing.
  fc
    .tuple(fc.array(fc.nat(byteTokenizer.vocabularySize - 1), { maxLength: 20 }), ending)
    .map(([body, [end, finish]]) => ({ reply: [...body, ...end], finish })),
)
const news = fc.oneof(
  fc
    .array(plainText, { minLength: 1, maxLength: 3 })
    .map((results) => results.map((content): Message => ({ role: 'tool', content }))),
  plainText.map((content) => [user(content)]),
)
const turns = fc
  .tuple(plainText, reply, fc.array(fc.tuple(news, reply), { maxLength: 4 }))
  .map(([question, first, rest]): SimulatedTurn[] => [
    { messages: [user(question)], ...first },
    ...rest.map(([messages, next]) => ({ messages, ...next })),
  ])
const templates = fc.constantFrom(chatml, looksBack, headersOnly, counting)

describe('for any mix of turns, calls, malformed calls, empty and cut replies', () => {
  test('ids are those that the model saw, every request extends the one before, and masks and logprobs are aligned', () => {
    fc.assert(
      fc.property(templates, turns, (template, script) => {
        const { trajectory, requests } = simulateRollout(template, script)
        const all = ids(trajectory)
        requests.forEach((request, turn) => {
          const reply = script[turn]?.reply ?? []
          expect(all.slice(0, request.length)).toEqual(request)
          expect(all.slice(request.length, request.length + reply.length)).toEqual(reply)
          const next = requests[turn + 1]
          if (next) expect(next.slice(0, request.length + reply.length)).toEqual([...request, ...reply])
          else expect(all).toEqual([...request, ...reply])
        })
        const mask = trajectory.segments.flatMap((segment) =>
          segment.ids.map(() => (segment.kind === 'response' ? 1 : 0)),
        )
        expect(lossMask(trajectory)).toEqual(mask)
        expect(logprobs(trajectory)).toEqual(all.map(simulatedLogprob))
        expect(segmentStarts(trajectory).at(-1)).toBe(all.length)
      }),
    )
  })

  test('a file opens with the same content, and its replayed events give it', () => {
    fc.assert(
      fc.property(templates, turns, (template, script) => {
        const { trajectory, events } = simulateRollout(template, script)
        const file = encode(trajectory)
        const opened = decode(file)
        expect(opened).toEqual({ ok: true, trajectory })
        expect(opened.ok && encode(opened.trajectory)).toBe(file)
        expect(events.reduce<LiveTrajectory | undefined>(applyEvent, undefined)).toEqual(trajectory)
        const fold = createFold()
        for (const event of events) fold.add(event)
        expect(fold.trajectory).toEqual(trajectory)
      }),
    )
  })

  test('ids are those of the whole render if the template looks only at the message and replies are as it writes them', () => {
    const clean = fc.array(
      fc.tuple(
        plainText,
        plainText.map((t) => t.normalize()),
      ),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(clean, (pairs) => {
        const { trajectory } = simulateRollout(
          chatml,
          pairs.map(([question, answer]) => ({ messages: [user(question)], ...said(answer) })),
        )
        const whole = chatTemplate(chatml, {}).render({
          messages: conversation(trajectory).map((message) => templateMessage(message, [])),
          tools: undefined,
          addGenerationPrompt: false,
          options: {},
        })
        expect([...ids(trajectory), ...bytes('\n')]).toEqual(bytes(whole))
      }),
    )
  })
})
