import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { decode } from '../format/codec.ts'
import type { Message, PromptSegment, Span, Trajectory } from '../format/trajectory.ts'
import { pack } from '../tokens/packed.ts'
import { textOf } from '../tokens/pieces.ts'
import { idsBetween, segmentsOf } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { conversationRows, messageAt } from './conversation-rows.ts'
import { type MessagePart, partText, type SegmentMessage, segmentMessages } from './message-parts.ts'

const BEGIN = 1
const END = 2

/** Builds a prompt as a template would render it, with its text cut into tokens at the given positions. */
function written(messages: readonly Message[], render: (message: Message) => string, cuts: readonly number[]) {
  const vocab: Record<string, string> = { [BEGIN]: '<|begin|>', [END]: '<|end|>' }
  const ids: number[] = []
  const add = (text: string) => {
    const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
    for (const [index, start] of [0, ...places].entries()) {
      const piece = text.slice(start, places[index])
      if (piece === '') continue
      const id = 10 + ids.length
      vocab[id] = piece
      ids.push(id)
    }
  }
  for (const message of messages) {
    ids.push(BEGIN)
    add(render(message))
    ids.push(END)
    add('\n')
  }
  ids.push(BEGIN)
  add('assistant\n')
  const segment: PromptSegment = { kind: 'prompt', ids, messages }
  return {
    ...sample,
    vocab,
    model: { ...sample.model, tokenizer: { name: 't', specialIds: [BEGIN, END], endOfTurnId: END } },
    segments: [segment],
  } satisfies Trajectory
}

const plain = (message: Message) => `${message.role}\n${String(message.content)}`

const inText = (trajectory: TrajectoryView, segmentIndex: number, tokens: Span): string =>
  textOf(idsBetween(segmentsOf(trajectory)[segmentIndex]?.ids ?? [], tokens), trajectory.vocab)

/** Checks the invariants of any trajectory. */
function check(trajectory: TrajectoryView): void {
  for (const [index, segment] of segmentsOf(trajectory).entries()) {
    let next = 0
    let nextPart = 0
    for (const { tokens, parts } of segmentMessages(trajectory, index)) {
      if (tokens) {
        expect(tokens.start).toBeGreaterThanOrEqual(next)
        expect(tokens.end).toBeLessThanOrEqual(segment.ids.length)
        next = tokens.end
      }
      for (const part of parts) {
        if (!part.tokens) continue
        expect(part.tokens.start).toBeGreaterThanOrEqual(Math.max(nextPart, tokens?.start ?? 0))
        expect(part.tokens.end).toBeGreaterThan(part.tokens.start)
        expect(part.tokens.end).toBeLessThanOrEqual(tokens?.end ?? 0)
        nextPart = part.tokens.end
        if (part.kind === 'text' || part.kind === 'thinking')
          expect(forms(partText(part, segment, trajectory))).toContainEqual(
            expect.toSatisfy((form: string) => inText(trajectory, index, part.tokens as Span).includes(form)),
          )
      }
    }
  }
}

const forms = (text: string): readonly string[] => [text, text.trim(), JSON.stringify(text).slice(1, -1)]

const texts = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.stringMatching(/^[ab \n"]{1,30}$/),
  fc.constantFrom('user', 'a', ' a ', '日本\n語 🙂', 'system\nuser'),
)
const messages = fc.array(fc.record({ role: fc.constantFrom('system' as const, 'user' as const), content: texts }), {
  minLength: 1,
  maxLength: 5,
})

describe('the messages of a prompt', () => {
  test('are found in any template’s text, however it is cut into tokens', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.nat(), { maxLength: 20 }), fc.constantFrom(0, 1, 2), (list, cuts, form) => {
        const render = (message: Message) => `${message.role}\n${forms(String(message.content))[form]}`
        const trajectory = written(list, render, cuts)
        check(trajectory)
        check(pack(trajectory).trajectory)
      }),
    )
  })

  test('end before the next one that is found, even if one between is not found', () => {
    const list: Message[] = [
      { role: 'system', content: 'system\nuser' },
      { role: 'system', content: 'user' },
      { role: 'system', content: ' ' },
      { role: 'user', content: 'a' },
    ]
    check(written(list, ({ role, content }) => `${role}\n${JSON.stringify(content).slice(1, -1)}`, [1638294970]))
  })

  test('with text that also occurs in the markup are found after the markup', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('user', 'u', 'e', 'system'), { minLength: 1, maxLength: 4 }), (contents) => {
        // With one token for each character the result is exact.
        const cuts = Array.from({ length: 30 }, (_, index) => index)
        const list = contents.map((content): Message => ({ role: 'user', content }))
        const trajectory = written(list, plain, cuts)
        const found = segmentMessages(trajectory, 0)
        for (const { tokens, parts } of found) {
          const [part] = parts
          expect(part?.tokens?.start).toBe((tokens as Span).start + 1 + 'user\n'.length)
        }
      }),
    )
  })

  test('cover all tokens of the segment: each includes its markup', () => {
    const list: Message[] = [
      { role: 'system', content: 'be' },
      { role: 'user', content: 'hi' },
    ]
    const trajectory = written(list, plain, [3, 7, 8])
    const spans = segmentMessages(trajectory, 0).map(({ tokens }) => inText(trajectory, 0, tokens as Span))
    expect(spans).toEqual(['<|begin|>system\nbe<|end|>\n', '<|begin|>user\nhi<|end|>\n<|begin|>assistant\n'])
  })

  test('that do not occur unchanged are reported as missing, and the others are found', () => {
    const list: Message[] = [
      { role: 'system', content: 'hidden' },
      { role: 'user', content: 'one' },
      { role: 'user', content: '' },
      { role: 'user', content: 'two' },
      { role: 'developer', content: 'hidden' },
    ]
    const render = ({ role, content }: Message) => (content === 'hidden' ? '' : `${role}\n${content}`)
    const trajectory = written(list, render, [])
    check(trajectory)
    const spans = segmentMessages(trajectory, 0).map(({ tokens }) => tokens && inText(trajectory, 0, tokens))
    expect(spans).toEqual([undefined, 'user\none<|end|>\n', undefined, 'user\ntwo<|end|>\n', undefined])
  })

  test('that share a token have no separate spans', () => {
    const vocab = { '5': 'one two' }
    const list: Message[] = [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ]
    const trajectory = { ...sample, vocab, segments: [{ kind: 'prompt', ids: [5], messages: list } as const] }
    expect(segmentMessages(trajectory, 0).map(({ tokens }) => tokens)).toEqual([{ start: 0, end: 0 + 1 }, undefined])
  })

  test('without markup end with their text', () => {
    const vocab = { '5': 'Q: ', '6': 'one', '7': ' A: ', '8': 'two', '9': '.' }
    const list: Message[] = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
    ]
    const { tokenizer: _, ...model } = sample.model
    const segments = [{ kind: 'prompt', ids: [5, 6, 7, 8, 9], messages: list } as const]
    expect(segmentMessages({ ...sample, model, vocab, segments }, 0).map(({ tokens }) => tokens)).toEqual([
      { start: 0, end: 2 },
      { start: 2, end: 5 },
    ])
  })

  test('of an assistant have thinking, text and calls; unknown content is kept', () => {
    const list: Message[] = [
      { role: 'user', content: [{ type: 'image_url' }, { type: 'text', text: 'look' }, { type: 'text' }] },
      {
        role: 'assistant',
        reasoning: 'hm',
        content: 'I add.',
        toolCalls: [
          { name: 'add', input: { a: [1, 'x'], b: null } },
          { name: 'sub', input: undefined },
          { name: 'mul', input: { c: 1 } },
        ],
      },
      { role: 'tool', content: [{ type: 'text', text: '3' }] },
      { role: 'tool', callId: 'gone' },
      { role: 'tool', callId: 'call_0001' },
      { role: 'tool' },
    ]
    const render = (message: Message) =>
      message.role === 'assistant'
        ? 'assistant\n<think>hm</think>I add.{"name":"add","args":{"a": [1, "x"], "b": null}}'
        : message.role === 'user'
          ? 'user\nlook'
          : 'tool\n3'
    const trajectory = written(list, render, [2, 10, 17, 19, 27, 33])
    check(trajectory)
    const segment = trajectory.segments[0] as PromptSegment
    const found = segmentMessages(trajectory, 0).map(({ role, parts }) => [
      role,
      parts.map((part) => [part.kind, partText(part, segment, trajectory), part.tokens !== undefined]),
    ])
    expect(found).toEqual([
      [
        'user',
        [
          ['other', '', false],
          ['text', 'look', true],
          ['other', '', false],
        ],
      ],
      [
        'assistant',
        [
          ['thinking', 'hm', true],
          ['text', 'I add.', true],
          ['given-call', '{"name":"add","arguments":{"a":[1,"x"],"b":null}}', true],
          ['given-call', '{"name":"sub"}', false],
          ['given-call', '{"name":"mul","arguments":{"c":1}}', false],
        ],
      ],
      ['tool', [['text', '3', true]]],
      ['tool', [['text', '', false]]],
      ['tool', [['text', '', false]]],
      ['tool', [['text', '', false]]],
    ])
  })

  test('that are long or occur often are found at the first occurrence', () => {
    const vocab = { '5': 'ab'.repeat(200), '6': 'ba', '7': 'x.' }
    const list: Message[] = [
      { role: 'user', content: 'ab'.repeat(150) },
      { role: 'user', content: 'x' },
    ]
    const ids = [5, 6, ...Array.from({ length: 99 }, () => 7)]
    const trajectory = { ...sample, vocab, segments: [{ kind: 'prompt', ids, messages: list } as const] }
    expect(segmentMessages(trajectory, 0).map(({ parts }) => parts[0]?.tokens)).toEqual([
      { start: 0, end: 1 },
      { start: 2, end: 3 },
    ])
  })

  test('are undefined for a prompt of ids or text', () => {
    const segment: PromptSegment = { kind: 'prompt', ids: [1, 3, 8, 2], messages: [] }
    const trajectory = { ...sample, segments: [segment] }
    const [message] = segmentMessages(trajectory, 0) as [SegmentMessage]
    expect([message.role, message.tokens]).toEqual(['given', { start: 0, end: 4 }])
    expect(partText(message.parts[0] as MessagePart, segment, trajectory)).toBe('hi')
  })
})

describe('segmentMessages of a response', () => {
  const kinds = (trajectory: TrajectoryView, index: number) =>
    segmentMessages(trajectory, index)[0]?.parts.map(({ kind, tokens }) => [kind, tokens?.start, tokens?.end])

  test('returns its think blocks and calls and the prose between them', () => {
    expect(kinds(sample, 1)).toEqual([
      ['thinking', 0, 3],
      ['call', 3, 4],
      // It is inside of the call before, which owns the tokens.
      ['call', undefined, undefined],
    ])
    expect(kinds(sample, 3)).toEqual([['text', 0, 2]])
  })

  test('returns them in the order of their tokens, each token once, also if a think block follows a call', () => {
    const parts = (call: Span, think: Span) => {
      const response = {
        kind: 'response',
        ids: [3, 3, 3, 3, 3, 3],
        thinks: [{ ...think, closed: true }],
        toolCalls: [{ kind: 'malformed', span: call }],
      }
      return kinds({ ...sample, vocab: { 3: 'x' }, segments: [response as never] }, 0)
    }
    expect(parts({ start: 0, end: 2 }, { start: 3, end: 5 })).toEqual([
      ['call', 0, 2],
      ['text', 2, 3],
      ['thinking', 3, 5],
      ['text', 5, 6],
    ])
    expect(parts({ start: 0, end: 3 }, { start: 2, end: 4 })).toEqual([
      ['call', 0, 3],
      ['thinking', 3, 4],
      ['text', 4, 6],
    ])
    expect(parts({ start: 0, end: 4 }, { start: 0, end: 2 })).toEqual([
      ['call', 0, 4],
      ['thinking', undefined, undefined],
      ['text', 4, 6],
    ])
  })

  test('returns the text of a part without delimiters', () => {
    const segment = sample.segments[1] as Trajectory['segments'][number]
    const parts = segmentMessages(sample, 1)[0]?.parts ?? []
    expect(parts.map((part) => partText(part, segment, sample))).toEqual(['日', 'a1', '1'])
    expect(partText({ kind: 'text', tokens: undefined, text: undefined }, segment, sample)).toBe('')
  })

  test('ignores prose that is blank or markup', () => {
    const response = {
      kind: 'response',
      ids: [8, 9, 8, 2, 8],
      thinks: [{ start: 1, end: 2, closed: false }],
      toolCalls: [],
    }
    expect(kinds({ ...sample, segments: [response as never] }, 0)).toEqual([['thinking', 1, 2]])
  })

  test('does not treat invalid UTF-8 bytes as blank', () => {
    const response = { kind: 'response', ids: [5, 6], thinks: [], toolCalls: [] }
    expect(kinds({ ...sample, segments: [response as never] }, 0)).toEqual([['text', 0, 2]])
  })
})

describe('conversationRows', () => {
  test('numbers messages through all segments, including the open one', () => {
    const open = { kind: 'response', ids: [3], thinks: [], toolCalls: [] } as const
    const given = { kind: 'prompt', ids: [3], messages: [] } as const
    const live = { ...sample, segments: [...sample.segments, given], live: { open, runningCalls: {} } }
    expect(conversationRows(live).map(({ segmentIndex, messageIndex }) => `${segmentIndex}.${messageIndex}`)).toEqual([
      '0.0',
      '0.1',
      '1.0',
      '2.0',
      '2.1',
      '3.0',
      '4.0',
      '5.0',
    ])
    expect(messageAt(live, 5, 0)?.row).toBe(7)
    expect(messageAt(sample, 1, 3)).toMatchObject({ row: 2, partIndex: 1, message: { role: 'assistant' } })
    expect(messageAt(sample, 1, 4)).toMatchObject({ row: 2, partIndex: undefined })
    expect(messageAt(sample, 2, 0)).toBeDefined()
    expect([messageAt(sample, 9, 0), segmentMessages(sample, 9)]).toEqual([undefined, []])
  })

  test.each(readdirSync('public/examples'))('finds the whole conversation of %s', (file) => {
    const opened = decode(readFileSync(`public/examples/${file}`, 'utf8'))
    if (!opened.ok) throw new Error(file)
    const { trajectory } = opened
    check(trajectory)
    for (const { segmentIndex, messageIndex } of conversationRows(trajectory)) {
      const message = segmentMessages(trajectory, segmentIndex)[messageIndex]
      expect(message?.parts.length).toBeGreaterThan(0)
      for (const { tokens } of message?.parts ?? []) expect(tokens).toBeDefined()
    }
  })
})
