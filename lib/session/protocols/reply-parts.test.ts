import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { parsers } from '#lib/parsers/registry.ts'
import { replyTexts, type WrittenReply } from '#lib/rollout/prompt/written-reply.ts'
import type { ReplyPart } from '../call.ts'
import { joinedTokens, joinReplyParts, replyFragments } from './reply-parts.ts'
import { cutDeltas, partsOfDeltas, replies, withTextSpans } from './test-replies.ts'
import { repliesOf, toWrittenReply } from './test-written.ts'

const replyParts = (written: WrittenReply) => joinReplyParts(replyFragments(written).map(({ part }) => part))

const textsOf = (parts: readonly ReplyPart[], kind: 'text' | 'reasoning'): readonly string[] =>
  parts.flatMap((part) => (part.kind === kind ? [part.text] : []))

test.each(parsers)('The parts of any reply of $name are the message that the record has of it', (parser) => {
  fc.assert(
    fc.property(repliesOf(parser), fc.boolean(), (text, opened) => {
      const written = toWrittenReply(parser, text, opened)
      const parsed = written.calls.filter(({ kind }) => kind === 'parsed')
      // Markup around texts is cut here even if every call is malformed and stays in the text.
      const isPlain = parsed.length > 0 || written.markup.every(({ kind }) => kind === 'between')
      fc.pre(isPlain || written.markup.every(({ kind }) => kind !== 'between'))
      const parts = replyParts(written)
      const { content, reasoning } = replyTexts(written, parsed)
      expect(textsOf(parts, 'text').join('')).toBe(content)
      // An empty think block is no part.
      const lines = (thoughts: string): string => thoughts.replaceAll(/\n+/g, '\n').trim()
      expect(lines(textsOf(parts, 'reasoning').join('\n'))).toBe(lines(reasoning ?? ''))
      expect(parts.some(({ kind }, index) => kind !== 'call' && kind === parts[index - 1]?.kind)).toBe(false)
      expect(parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))).toEqual(parsed.map(({ id }) => id))
    }),
  )
})

describe('The parts of a reply', () => {
  const call = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'

  test('are in the order in which the model wrote them, with white space before the later text', () => {
    const text = `<think>\nSum.\n</think>\n\nLet me.\n${call}\n${call} Then. <tool_call>{</tool_call>\n`
    expect(replyParts(toWrittenReply(hermes, text))).toEqual([
      { kind: 'reasoning', text: 'Sum.' },
      { kind: 'text', text: 'Let me.' },
      { kind: 'call', id: 'call_0', name: 'add', arguments: '{"a":1}' },
      { kind: 'call', id: 'call_1', name: 'add', arguments: '{"a":1}' },
      { kind: 'text', text: '\n\n Then. <tool_call>{</tool_call>' },
    ])
  })

  test('have one reasoning for think blocks without a text between them, a line for each', () => {
    expect(replyParts(toWrittenReply(hermes, '<think>one</think>\n<think> two </think>'))).toEqual([
      { kind: 'reasoning', text: 'one\ntwo' },
    ])
  })
})

test('The deltas of any reply, cut anywhere, add up to it', () => {
  const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 4 }))
  fc.assert(
    fc.property(replies(2).map(withTextSpans), cuts, (reply, cut) => {
      const deltas = cutDeltas(reply, () => cut.next().value as number)
      const choices = reply.choices.map((_, index) => {
        const own = deltas.filter((delta) => delta.kind !== 'usage' && delta.choice === index)
        return {
          parts: partsOfDeltas(own),
          tokens: joinedTokens(own.flatMap((delta) => (delta.kind === 'tokens' ? [delta.tokens] : []))),
          finish: own.flatMap((delta) => (delta.kind === 'finish' ? [delta.finish] : [])),
        }
      })
      expect(choices).toEqual(
        reply.choices.map(({ parts, tokens, finish }) => ({
          parts,
          // Without tokens there is no column either.
          tokens: tokens.ids.length > 0 ? tokens : { ids: [] },
          finish: [finish],
        })),
      )
      expect(deltas.flatMap((delta) => (delta.kind === 'usage' ? [delta.usage] : []))).toEqual([reply.usage])
    }),
  )
})

test('Texts in fragments name the tokens of all fragments, if each fragment names its own', () => {
  const partsOf = (...tokens: readonly ({ start: number; end: number } | undefined)[]) =>
    joinReplyParts(tokens.map((span) => ({ kind: 'text', text: 'x', ...(span && { tokens: span }) })))
  const [first, second] = [
    { start: 0, end: 1 },
    { start: 1, end: 3 },
  ]
  expect(partsOf(first, second)).toEqual([{ kind: 'text', text: 'xx', tokens: { start: 0, end: 3 } }])
  expect(partsOf(first, undefined)).toEqual([{ kind: 'text', text: 'xx' }])
  expect(partsOf(undefined, second)).toEqual([{ kind: 'text', text: 'xx' }])
})

test('A text has a fragment before and after an empty think block or a call, without white space from before that', () => {
  const call = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
  const text = ` Hi<think></think>you \n${call} there`
  const placed = replyFragments(toWrittenReply(hermes, text)).map(({ part, range }) => [
    part.kind === 'text' ? part.text : part.kind,
    text.slice(range.start, range.end),
  ])
  expect(placed).toEqual([
    ['Hi', 'Hi'],
    ['you', 'you'],
    ['call', call],
    [' \n there', ' there'],
  ])
})

test('Tokens with and without logprobs are joined with unknown ones', () => {
  const first = { ids: [1, 2], logprobs: [-1, -2], topLogprobs: { k: 1, ids: [1, 3], logprobs: [-1, -3] } }
  const second = { ids: [4], topLogprobs: { k: 2, ids: [4, 5], logprobs: [-1, -5] } }
  expect(joinedTokens([first, { ids: [9] }, second])).toEqual({
    ids: [1, 2, 9, 4],
    logprobs: [-1, -2, null, null],
    topLogprobs: {
      k: 2,
      ids: [1, -1, 3, -1, -1, -1, 4, 5],
      logprobs: [-1, null, -3, null, null, null, -1, -5],
    },
  })
})
