import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { parserNamed, parsers } from '#lib/parsers/registry.ts'
import { AT_THE_END, BY_ARGUMENT, CALLS, TWO_CALLS } from '#lib/parsers/test-calls.ts'
import { annotations, numberedCallIds } from '#lib/rollout/record/record.ts'
import type { ReplyDelta } from '#lib/session/call.ts'
import { partsOfDeltas } from '#lib/session/protocols/test-replies.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer, byteTokenizerWith, byteVocab } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { empty } from '#testing/scripted-rollout.ts'
import { createPartStream, partsOfReply, type ReplyReading } from './reply-parts.ts'

const ALL: ReplyReading = { calls: 'all', stops: [] }
const tools = [{ name: 'f', inputSchema: { type: 'object' } }]
const tokenizer = empty.model.tokenizer ?? expect.fail('no tokenizer')

/** Streams a text that is cut into pieces of ids, and returns the deltas before its end, all deltas, and the parts of the whole. */
function streamed(
  parser: (typeof parsers)[number],
  text: string,
  sizes: readonly number[],
  reading = ALL,
  encoder = byteTokenizer,
) {
  const trajectory: Trajectory = {
    ...empty,
    model: {
      ...empty.model,
      tokenizer: { ...tokenizer, specialIds: encoder.addedTokens.map(({ id }) => id) },
      tools,
      parser: parser.name,
    },
    vocab: byteVocab(encoder),
    segments: [{ kind: 'prompt', ids: [1], messages: [] }],
  }
  const ids = encoder.encode(text)
  const newCallIds = numberedCallIds(new Set())
  const stream = createPartStream(0, { parser, tokenizer: encoder, reading, newCallIds })
  const early: ReplyDelta[] = []
  for (let at = 0, turn = 0; at < ids.length; turn++) {
    at += sizes[turn % sizes.length] ?? 1
    const open: ResponseSegment = { kind: 'response', ids: ids.slice(0, at), thinks: [], toolCalls: [] }
    early.push(...stream.read({ ...trajectory, live: { open, runningCalls: {} } } as LiveTrajectory))
  }
  const last = ids.at(-1)
  const isStop = last === byteId('<|endoftext|>')
  const finish = { kind: 'stop' as const, ...(isStop && { matched: last }) }
  const plain: ResponseSegment = { kind: 'response', ids, thinks: [], toolCalls: [], finish }
  const closed = { ...plain, ...annotations(plain, trajectory, parser, encoder) }
  const parts = partsOfReply(closed, trajectory, reading)
  const ended = stream.end(parts)
  return { early, all: [...early, ...ended.deltas], parts, sent: ended.parts }
}

/** Replies of model families whose think blocks begin with more than one token, after the prompt has opened the message. */
const FAMILIES = [
  {
    parser: 'muse',
    marks: ['<|start|>', '<|message|>', '<|eom|>', '<|eot|>'],
    text: ' to=self<|message|>why<|eom|><|start|>assistant to=user<|message|>Hello',
  },
  {
    parser: 'gpt-oss',
    marks: ['<|channel|>', '<|message|>', '<|end|>', '<|start|>', '<|return|>', '<|call|>'],
    text: '<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>Hello',
  },
  { parser: 'gemma4', marks: ['<|channel>', '<channel|>'], text: '<|channel>thought\nwhy<channel|>Hello' },
  {
    parser: 'kimi_k3',
    marks: ['<|open|>', '<|close|>', '<|sep|>'],
    text: '<|open|>think<|sep|>why<|close|>think<|sep|><|open|>response<|sep|>Hello',
  },
  {
    parser: 'inkling',
    marks: ['<|content_thinking|>', '<|end_message|>', '<|message_model|>', '<|content_text|>'],
    text: '<|content_thinking|>why<|end_message|><|message_model|><|content_text|>Hello<|end_message|>',
  },
  { parser: 'solar_open', marks: ['<|think|>', '<|end|>'], text: '<|think|>why<|end|>Hello' },
  {
    parser: 'hyperclovax',
    marks: ['<|im_start|>', '<|im_end|>', '<|stop|>'],
    text: '/think\nwhy<|im_end|>\n<|im_start|>assistant\nHello',
  },
] as const

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

test('A reply ends before the first stop text that its last token completed, as on a server', () => {
  const vocab = { '1': 'x##y', '2': '####', '3': '#', '4': 'z' }
  const textOf = (ids: readonly number[], matched?: string) => {
    const finish = { kind: 'stop', ...(matched !== undefined && { matched }) } as const
    const segment: ResponseSegment = { kind: 'response', ids, thinks: [], toolCalls: [], finish }
    return partsOfReply(segment, { ...empty, vocab }, { calls: 'all', stops: ['###', '##'] })
  }
  const text = (written: string) => [{ kind: 'text', text: written }]
  expect(textOf([4, 2], '##')).toEqual(text('z'))
  expect(textOf([4, 2])).toEqual(text('z'))
  expect(textOf([4, 3, 2], '###')).toEqual(text('z'))
  // A server does not look for stop texts before min_new_tokens.
  expect(textOf([1, 2], '##')).toEqual(text('x##y'))
  expect(textOf([1, 4, 4], '##')).toEqual(text('x'))
})

describe('A stream of parts', () => {
  test.each(parsers)('of the parser $name adds up to the parts of the whole reply', (parser) => {
    const call = CALLS[parser.name]?.('[1, "é"]') ?? expect.fail(`${parser.name} has no call`)
    const piece = fc.constantFrom(
      'Hello',
      ' wörld',
      '\n',
      '<',
      '{"a"',
      call,
      `${call}\n`,
      '<think>',
      'why',
      '</think>',
      '🙂',
      '[',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), sizes, (pieces, cuts) => {
        const { all, parts, sent } = streamed(parser, pieces.join(''), cuts, { ...ALL, hasSpans: true })
        expect(partsOfDeltas(all)).toEqual(sent)
        // A line before JSON is a call without a delimiter in this format; the client keeps the beginning of a broken one.
        const mayBreak = parser.name === 'functionary_v32' && pieces.includes('{"a"')
        if (!mayBreak) expect(sent).toEqual(parts)
      }),
      { numRuns: runs(60) },
    )
  })

  test.each(FAMILIES)('of $parser has the thinking of $text, however it is cut', ({ parser, marks, text }) => {
    const addedTokens = marks.map((content, index) => ({ id: 256 + index, content, special: true }))
    const family = byteTokenizerWith('family', addedTokens, 0)
    fc.assert(
      fc.property(sizes, (cuts) => {
        const { all, parts, sent } = streamed(parserNamed(parser) ?? hermes, text, cuts, ALL, family)
        expect(parts.map(({ kind }) => kind)).toEqual(['reasoning', 'text'])
        expect(partsOfDeltas(all)).toEqual(sent)
        expect(sent).toEqual(parts)
      }),
      { numRuns: runs(30) },
    )
  })

  test.each(parsers)('of the parser $name has whatever was begun, also if a call is cut or broken', (parser) => {
    const call = CALLS[parser.name]?.('"text"') ?? expect.fail(`${parser.name} has no call`)
    const [open, whole, between, broken, close] = TWO_CALLS[parser.name] ?? expect.fail('no calls')
    const piece = fc.constantFrom(
      'Hi ',
      call,
      open + whole + between,
      broken,
      whole + close,
      '\n',
      '<think>',
      '</think>',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), sizes, fc.nat(99), (pieces, cuts, kept) => {
        const text = pieces.join('')
        const { all, sent, parts, early } = streamed(parser, text.slice(0, Math.ceil((text.length * kept) / 99)), cuts)
        expect(partsOfDeltas(all)).toEqual(sent)
        // What was not begun is read as in a whole reply.
        if (!early.some(({ kind }) => kind === 'call')) expect(sent).toEqual(parts)
      }),
      { numRuns: runs(30) },
    )
  })

  test.each(parsers.filter(({ name }) => !AT_THE_END.includes(name)))(
    'of the parser $name begins a call when its name is known',
    (parser) => {
      const call =
        CALLS[parser.name]?.('["so it is, and so it will remain for as long as it takes", 12]') ??
        expect.fail(`${parser.name} has no call`)
      const { early, parts } = streamed(parser, call, [1])
      expect(partsOfDeltas(early)).toEqual(
        parts.map((part) => expect.objectContaining({ ...part, arguments: expect.any(String) })),
      )
      const pieces = early.filter(({ kind }) => kind === 'arguments')
      expect(pieces.length).toBeGreaterThanOrEqual(BY_ARGUMENT.includes(parser.name) ? 1 : 8)
    },
  )

  test.each(parsers)('of the parser $name has the numbers of a call as the model wrote them', (parser) => {
    const numbers = '[12345678901234567890, 1.0, -0.5]'
    const call = CALLS[parser.name]?.(numbers) ?? expect.fail(`${parser.name} has no call`)
    const { all, parts } = streamed(parser, call, [3])
    const [made] = parts
    // A value between tags is a text unless the schema of its tool says otherwise.
    const isText = BY_ARGUMENT.includes(parser.name) && made?.kind === 'call' && made.arguments.includes('"[')
    const written = isText ? JSON.stringify(numbers) : numbers.replaceAll(' ', '')
    expect(parts).toEqual([expect.objectContaining({ kind: 'call', arguments: `{"a":${written}}` })])
    expect(partsOfDeltas(all)).toEqual(parts)
  })

  test('has the names of arguments in the order in which the model wrote them', () => {
    const { all, parts } = streamed(hermes, '<tool_call>{"name": "f", "arguments": {"b": 1, "2": 2}}</tool_call>', [2])
    expect(parts).toEqual([{ kind: 'call', id: 'call_0000', name: 'f', arguments: '{"b":1,"2":2}' }])
    expect(partsOfDeltas(all)).toEqual(parts)
  })

  test.each(['{"x": {"b": 1, "1": [{"c": 2, "0": 3}]}}', '{}, "parameters": {"a": 1}'])(
    'has the arguments %s of the whole reply',
    (json) => {
      const call = `<tool_call>{"name": "f", "arguments": ${json}}</tool_call>`
      const { early, sent, parts } = streamed(hermes, call, [1])
      expect(early.some(({ kind }) => kind === 'call')).toBe(true)
      expect(sent).toEqual(parts)
    },
  )

  test('begins a call without a delimiter, and no text that may become one', () => {
    const llama3 = parsers.find(({ name }) => name === 'llama3') ?? expect.fail('no parser llama3')
    const { early } = streamed(llama3, '{"name": "f", "parameters": {"a": "so it is"}}', [1])
    expect(partsOfDeltas(early)).toEqual([{ kind: 'call', id: 'call_0000', name: 'f', arguments: '{"a":"so it is"}' }])
    expect(streamed(llama3, '{"answer": 42}', [1]).all).toEqual([{ kind: 'text', choice: 0, text: '{"answer": 42}' }])
  })

  test('names the tokens of texts', () => {
    const { parts } = streamed(hermes, '<think>so</think> Hello é!', [1], { ...ALL, hasSpans: true })
    // The delimiters are tokens, other bytes too.
    expect(parts).toEqual([
      { kind: 'reasoning', text: 'so' },
      { kind: 'text', text: 'Hello é!', tokens: { start: 5, end: 14 } },
    ])
  })

  test('leaves the tokens of calls out of those of texts, and those of an empty think block out of the text before it', () => {
    const call = CALLS.hermes?.('1') ?? expect.fail('no call')
    const { all, parts } = streamed(hermes, `so<think></think> it\n${call} is`, [1], { ...ALL, hasSpans: true })
    const texts = all.flatMap((delta) => (delta.kind === 'text' ? [[delta.text, delta.tokens]] : []))
    const tokens = byteTokenizer.encode(`so<think></think> it\n${call} is`).length
    expect(texts).toEqual([
      ['s', { start: 0, end: 1 }],
      ['o', { start: 1, end: 2 }],
      [' i', { start: 2, end: 6 }],
      ['t', { start: 6, end: 7 }],
      ['\n is', { start: tokens - 3, end: tokens }],
    ])
    expect(partsOfDeltas(all)).toEqual(parts)
  })

  test('has one text around calls that the client does not get', () => {
    const tool = CALLS.hermes?.('1') ?? expect.fail('no call')
    const { parts, sent } = streamed(hermes, `a${tool}b${tool}c`, [1], { ...ALL, calls: 'first' })
    expect(parts.map((part) => (part.kind === 'call' ? part.kind : part.text))).toEqual(['a', 'call', 'bc'])
    expect(sent).toEqual(parts)
  })

  test('brings reasoning and text before the end of the reply', () => {
    const call = CALLS.hermes?.('1') ?? ''
    const { early } = streamed(hermes, `<think>so it is</think>Hello you${call} `, [1])
    expect(partsOfDeltas(early)).toEqual([
      { kind: 'reasoning', text: 'so it is' },
      { kind: 'text', text: 'Hello you' },
      { kind: 'call', id: 'call_0000', name: 'f', arguments: '{"a":1}' },
    ])
    expect(early.length).toBeGreaterThan(8)
  })

  test('brings a call that ends a think block when the reply has ended, because a delimiter may still make it thinking', () => {
    const reply = `<think>so it is\n${CALLS.hermes?.('1') ?? expect.fail('no call')}`
    const { early, sent, parts } = streamed(hermes, reply, [1])
    expect(partsOfDeltas(early)).toEqual([{ kind: 'reasoning', text: 'so it is' }])
    expect(parts.map(({ kind }) => kind)).toEqual(['reasoning', 'call'])
    expect(sent).toEqual(parts)
    const closed = streamed(hermes, `${reply}</think>Hello`, [1])
    expect(closed.parts.map(({ kind }) => kind)).toEqual(['reasoning', 'text'])
    expect(closed.sent).toEqual(closed.parts)
  })

  test('holds a token back with which the model may end its reply', () => {
    const { all, parts } = streamed(hermes, 'Hello <|im_start|>you<|endoftext|>', [1])
    expect(parts).toEqual([{ kind: 'text', text: 'Hello <|im_start|>you' }])
    expect(partsOfDeltas(all)).toEqual(parts)
  })

  test('holds a stop text back, and a call of a reply without tools is text', () => {
    const call = CALLS.hermes?.('1') ?? ''
    expect(partsOfDeltas(streamed(hermes, 'Hello END', [1], { calls: 'all', stops: ['END'] }).all)).toEqual([
      { kind: 'text', text: 'Hello' },
    ])
    expect(partsOfDeltas(streamed(hermes, `a ${call}`, [1], { calls: 'none', stops: [] }).all)).toEqual([
      { kind: 'text', text: `a ${call}` },
    ])
    expect(partsOfDeltas(streamed(hermes, call + call, [1], { calls: 'first', stops: [] }).all)).toHaveLength(1)
  })
})
