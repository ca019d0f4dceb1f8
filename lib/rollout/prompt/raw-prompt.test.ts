import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { anyText } from '#testing/strings.ts'
import { type EncodedRawPrompt, encodeRawPrompt, textFrame } from './raw-prompt.ts'

const { encode } = byteTokenizer
const BEGIN = byteId('<|endoftext|>')
const END = byteId('<|im_end|>')
const NONE = { before: [], after: [] }
const BEFORE = { before: [BEGIN], after: [] }

const textOf = (text: string, frame = NONE as { before: number[]; after: number[] }) =>
  encodeRawPrompt({ kind: 'text', text }, byteTokenizer, frame)
const idsOf = (ids: readonly number[], text?: string, frame = NONE as { before: number[]; after: number[] }) =>
  encodeRawPrompt({ kind: 'ids', ids, ...(text !== undefined && { text }) }, byteTokenizer, frame)
const problems = (made: EncodedRawPrompt): readonly Problem[] => {
  if (made.kind !== 'prompt') throw new Error(made.kind)
  return made.prompt.problems
}

describe('a text as prompt', () => {
  test('is encoded unchanged, special tokens too', () => {
    expect(textOf('<|im_start|>hé')).toEqual({
      kind: 'prompt',
      prompt: { ids: encode('<|im_start|>hé'), derivation: { kind: 'given', what: 'text' }, problems: [] },
    })
  })

  test('gets the tokens that the tokenizer adds to every text, with a note', () => {
    const made = textOf('hi', { before: [BEGIN], after: [END] })
    expect(made).toMatchObject({ prompt: { ids: [BEGIN, ...encode('hi'), END] } })
    expect(problems(made).map(({ index, message }) => [index, message.split(',')[0]])).toEqual([
      [0, 'The tokenizer put <|endoftext|> before the text'],
      [3, 'The tokenizer put <|im_end|> after the text'],
    ])
    expect(problems(made)[0]?.message).not.toContain('twice')
    expect(problems(textOf('<|endoftext|>hi', BEFORE))[0]?.message).toContain('it occurs twice')
  })

  test('is reported if it has no tokens; a tokenizer that adds some makes a prompt of it', () => {
    expect(textOf('')).toEqual({ kind: 'empty' })
    expect(textOf('', BEFORE)).toMatchObject({ kind: 'prompt', prompt: { ids: [BEGIN] } })
  })
})

describe('ids as prompt', () => {
  test('are sent unchanged', () => {
    expect(idsOf([1, 2, END])).toEqual({
      kind: 'prompt',
      prompt: { ids: [1, 2, END], derivation: { kind: 'given', what: 'ids' }, problems: [] },
    })
  })

  test('are reported with their position if the tokenizer does not have them', () => {
    expect(idsOf([1, byteTokenizer.vocabularySize - 1, byteTokenizer.vocabularySize])).toEqual({
      kind: 'unknown-id',
      id: byteTokenizer.vocabularySize,
      index: 2,
    })
  })

  test('win over a text; a text that differs is kept in a note at its first other token', () => {
    expect(problems(idsOf(encode('abc'), 'abc'))).toEqual([])
    expect(problems(idsOf([BEGIN, ...encode('abc')], 'abc', BEFORE))).toEqual([])
    expect(problems(idsOf(encode('abc'), 'abc', BEFORE))).toEqual([])
    expect(problems(idsOf(encode('abc'), 'abd'))).toEqual([
      {
        kind: 'given',
        message: 'The given text differs from the decoded ids from character 2. The ids were sent.',
        index: 2,
        raw: 'abd',
      },
    ])
    expect(problems(idsOf(encode('abc'), 'abcd'))[0]?.index).toBe(2)
    expect(problems(idsOf(encode('abc'), ''))[0]?.index).toBe(0)
  })

  test('have notes that name one of their tokens', () => {
    const ids = fc.array(fc.nat(byteTokenizer.vocabularySize - 1), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(ids, anyText({ maxLength: 12 }), (given, text) => {
        for (const { index = -1 } of problems(idsOf(given, text))) {
          expect(index).toBeGreaterThanOrEqual(0)
          expect(index).toBeLessThan(given.length)
        }
        expect(problems(idsOf(encode(text || 'a'), text || 'a'))).toEqual([])
      }),
    )
  })
})

test('textFrame returns the tokens around a text in its encoding', () => {
  const ids = fc.array(fc.nat(3), { maxLength: 3 })
  fc.assert(
    fc.property(ids, fc.nat(3), ids, (before, own, after) => {
      const frame = textFrame([...before, own, ...after], [own])
      expect([...frame.before, own, ...frame.after]).toEqual([...before, own, ...after])
      expect(frame.before).not.toContain(own)
    }),
  )
  expect(textFrame([1, 2], [3])).toEqual({ before: [], after: [] })
})
