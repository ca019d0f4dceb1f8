/** Tests the text side of any ids in any segments: each new token has the segment, mask and spans of its characters. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { vocabularyWriter } from '#lib/rollout/record/record.ts'
import { retokenize } from '#lib/rollout/record/retokenize.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import { FORMAT, type Segment, type ToolCall, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf, textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids as allIds, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import type { SideTokenizer } from '../compare/shown-side.ts'
import { textSide } from './text-side.ts'

const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'tiny')

function trajectoryOf(segments: readonly Segment[], tokenizer: Tokenizer): Trajectory {
  const { vocab, specialIds } = vocabularyWriter({ vocab: {} }, tokenizer)(segments.flatMap(({ ids }) => ids))
  return {
    format: FORMAT,
    id: 'drawn',
    createdAt: '2026-01-01T00:00:00.000Z',
    model: { tokenizer: { name: tokenizer.name, fingerprint: tokenizer.fingerprint, specialIds }, tools: [] },
    vocab,
    segments,
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: { kind: 'recorded' },
  }
}

const response = (ids: readonly number[], more: object = {}): Segment => ({
  kind: 'response',
  ids,
  thinks: [],
  toolCalls: [],
  ...more,
})
const prompt = (ids: readonly number[]): Segment => ({ kind: 'prompt', ids, messages: [] })

const bytes = { tokenizer: byteTokenizer } as SideTokenizer
const made = (trajectory: Trajectory, tokenizer: SideTokenizer = bytes) =>
  textSide({ trajectory, as: { kind: 'text' } }, tokenizer)
const letters = (text: string): number[] => Array.from(new TextEncoder().encode(text))

describe('the text side of any ids in any segments', () => {
  const id = fc.nat({ max: tiny.tokenizer.vocabularySize - 1 })
  const segment = fc.array(fc.tuple(id, fc.constantFrom(0 as const, 1 as const)), { maxLength: 12 }).chain((tokens) => {
    const ids = tokens.map(([one]) => one)
    const mask = { mask: tokens.map(([, bit]) => bit) }
    const place = fc.tuple(fc.nat({ max: ids.length }), fc.nat({ max: ids.length })).map(([a, b]) => ({
      start: Math.min(a, b),
      end: Math.max(a, b),
    }))
    return fc.oneof(
      fc.constantFrom(prompt(ids), { ...prompt(ids), ...mask }),
      place.map((span) => response(ids, { ...mask, thinks: [{ ...span, closed: true }] })),
    )
  })
  const drawn = fc.array(segment, { maxLength: 6 })

  test('is a trajectory with the ids of the whole text', () => {
    fc.assert(
      fc.property(drawn, (segments) => {
        const trajectory = trajectoryOf(segments, tiny.tokenizer)
        const { trajectory: again, caveats } = made(trajectory, tiny)
        expect(allIds(again)).toEqual(retokenize(allIds(trajectory), tiny.tokenizer))
        expect(again.segments.map(({ kind }) => kind)).toEqual(segments.map(({ kind }) => kind))
        expect(decode(encode(again as Trajectory))).toEqual({ ok: true, trajectory: again })
        expect(caveats.filter((caveat) => !caveat.includes('Unicode') && !caveat.includes('does not have'))).toEqual([])
      }),
      { numRuns: runs(150) },
    )
  })

  /** Returns the segment and the mask of each byte. */
  const facts = (trajectory: Trajectory) =>
    trajectory.segments.flatMap((one, index) =>
      Array.from(one.ids).flatMap((token, at) =>
        Array.from(bytesOf(trajectory.vocab[token] ?? ''), () => [
          index,
          one.mask?.[at] ?? (one.kind === 'response' ? 1 : 0),
        ]),
      ),
    )

  test('gives each token the segment and the mask of its first character if the text stays the same', () => {
    let compared = 0
    fc.assert(
      fc.property(drawn, (segments) => {
        const trajectory = trajectoryOf(segments, tiny.tokenizer)
        const again = made(trajectory, tiny).trajectory as Trajectory
        const text = (of: Trajectory) =>
          of.segments.flatMap(({ ids }) => ids.flatMap((one) => [...bytesOf(of.vocab[one] ?? '')]))
        if (text(trajectory).join() !== text(again).join()) return
        compared++
        const [before, after] = [facts(trajectory), facts(again)]
        let at = 0
        for (const [index, one] of again.segments.entries())
          for (const [token, id] of one.ids.entries()) {
            const bit = one.mask?.[token] ?? (one.kind === 'response' ? 1 : 0)
            const spelled = bytesOf(again.vocab[id] ?? '')
            // A token that begins inside a character belongs to the token that begins the character.
            if (((spelled[0] as number) & 0xc0) !== 0x80) expect([index, bit]).toEqual(before[at])
            at += spelled.length
          }
        expect(after).toHaveLength(before.length)
      }),
      { numRuns: runs(150) },
    )
    expect(compared).toBeGreaterThan(25)
  })

  test('keeps ids that are the tokenizer’s own encoding', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 4 }), (texts) => {
        const end = tiny.tokenizer.addedTokens.find(({ content }) => content === '<|im_end|>')?.id ?? -1
        const segments = texts.map((text) => response([...tiny.tokenizer.encode(text.normalize('NFC')), end]))
        const trajectory = trajectoryOf(segments, tiny.tokenizer)
        const { trajectory: again, perSegment } = made(trajectory, tiny)
        expect(again.segments).toEqual(segments)
        expect(perSegment?.every(({ drifted }) => drifted === 0)).toBe(true)
      }),
    )
  })
})

test('half a character at the end of a response is a character of the response on the text side', () => {
  const end = byteId('<|im_end|>')
  const { trajectory } = made(trajectoryOf([response([97, 0xf0, 0x9f]), prompt([end, 10])], byteTokenizer))
  expect(trajectory.segments.map(({ ids }) => Array.from(ids))).toEqual([
    [97, 0xef, 0xbf, 0xbd],
    [end, 10],
  ])
})

test('a character of two UTF-16 units that two segments spell belongs to the first, also if each is encoded alone', () => {
  const smile = letters('😀')
  const segments = [response([97, ...smile.slice(0, 2)]), response([...smile.slice(2), 98])]
  const { trajectory, perSegment } = made(trajectoryOf(segments, byteTokenizer))
  expect(trajectory.segments.map(({ ids }) => Array.from(ids))).toEqual([[97, ...smile], [98]])
  expect(perSegment?.map(({ alone }) => alone)).toEqual([5, 1])
})

test('a token that two segments spell together belongs to the first, and the second has no tokens', () => {
  const call = letters('<tool_call>')
  const segments = [response(call.slice(0, 4)), response(call.slice(4)), prompt(letters('x'))]
  const { trajectory, perSegment } = made(trajectoryOf(segments, byteTokenizer))
  expect(trajectory.segments.map(({ ids }) => Array.from(ids))).toEqual([[byteId('<tool_call>')], [], letters('x')])
  expect(lossMask(trajectory)).toEqual([1, 0])
  expect(perSegment?.map(({ drifted }) => drifted)).toEqual([0, 0, 0])
})

test('a segment that is tokenized differently by itself is reported', () => {
  const ids = [97, ...letters('<think>')]
  const { perSegment } = made(trajectoryOf([prompt([98]), response(ids)], byteTokenizer))
  expect(perSegment).toEqual([
    { kind: 'prompt', tokens: 1, alone: 1, drifted: 0 },
    { kind: 'response', tokens: 8, alone: 2, drifted: 7 },
  ])
})

test('on the text side, spans of calls and their texts move with the characters', () => {
  const spelled = 'x <tool_call>{"a": 1}</tool_call>'
  const text = { start: 2, end: 33 }
  const call: ToolCall = {
    kind: 'parsed',
    id: 'call_0000',
    name: 'f',
    input: { a: 1 },
    raw: '{"a": 1}',
    span: { start: 2, end: 33 },
    text,
    arguments: [{ name: 'a', span: { start: 19, end: 20 }, text: { start: 19, end: 20 } }],
  }
  const broken: ToolCall = { kind: 'malformed', id: 'call_0001', why: 'w', at: 21, raw: '', span: call.span, text }
  const { trajectory } = made(
    trajectoryOf([prompt([97, 97]), response(letters(spelled), { toolCalls: [call, broken] })], byteTokenizer),
  )
  expect(trajectory.segments[1]).toMatchObject({
    toolCalls: [
      { span: { start: 2, end: 12 }, text, arguments: [{ span: { start: 9, end: 10 }, text: { start: 19, end: 20 } }] },
      { span: { start: 2, end: 12 }, text, at: 21 },
    ],
  })
})

test('on the text side, offsets are those of the new text if the tokenizer changes the text', () => {
  const accents = [...tiny.tokenizer.encode('e'), ...tiny.tokenizer.encode('\u0301')]
  const rest = tiny.tokenizer.encode('xy')
  const ids = [...accents, ...rest]
  const range = { start: 2, end: 4 }
  const call: ToolCall = {
    kind: 'parsed',
    id: 'c',
    name: 'f',
    input: {},
    raw: 'xy',
    span: { start: accents.length, end: ids.length },
    text: range,
    arguments: [],
  }
  const { trajectory: again } = made(trajectoryOf([response(ids, { toolCalls: [call] })], tiny.tokenizer), tiny)
  const [segment] = again.segments
  expect(textOf(segment?.ids ?? [], again.vocab)).toBe('\u00e9xy')
  expect(segment).toMatchObject({ toolCalls: [{ text: { start: 1, end: 3 } }] })
})

describe('the text side with another tokenizer', () => {
  test('encodes the text of the recorded tokenizer and finds the end of turn by its text', () => {
    const end = byteId('<|im_end|>')
    const trajectory = trajectoryOf(
      [prompt(letters('a b')), response([...letters('c'), end], { finish: { kind: 'stop', matched: end } })],
      byteTokenizer,
    )
    const named = {
      ...trajectory,
      model: { ...trajectory.model, tokenizer: { ...trajectory.model.tokenizer, endOfTurnId: end } },
    } as Trajectory
    const {
      trajectory: again,
      caveats,
      perSegment,
    } = textSide({ trajectory: named, as: { kind: 'text', tokenizer: 'tiny' } }, tiny)
    const theirs = tiny.tokenizer.addedTokens.find(({ content }) => content === '<|im_end|>')?.id
    expect(allIds(again)).toEqual(tiny.tokenizer.encode('a bc<|im_end|>'))
    expect(again.model.tokenizer).toMatchObject({ name: 'tiny', endOfTurnId: theirs })
    expect(again.segments[1]).not.toHaveProperty('finish')
    expect(caveats).toEqual([])
    expect(perSegment).toBeUndefined()
  })

  test('has a caveat if that is used in place of the recorded one', () => {
    const { caveats } = made(trajectoryOf([prompt(letters('a'))], byteTokenizer), tiny)
    expect(caveats).toEqual([expect.stringContaining('The tokenizer tiny on this machine is not the recorded one')])
  })
})

test('characters of a recent Unicode version are a caveat that names them', () => {
  const { caveats } = made(
    trajectoryOf([prompt(letters('a\u{1fac8}\u{1faea}\u{1faef}\u{1f6d8}\u{1fa8a}\u{1fa8e}'))], byteTokenizer),
  )
  expect(caveats).toEqual([expect.stringContaining('(U+1FAC8, U+1FAEA, U+1FAEF, U+1F6D8, U+1FA8A and 1 more)')])
})

test('ids without a text, and tokens without a certain position, are caveats', () => {
  expect(made(trajectoryOf([prompt([97, 999])], byteTokenizer)).caveats).toEqual([
    expect.stringMatching(/^1 token with an id that the tokenizer does not have \(the first is 999\)/),
  ])
  const turned = { ...byteTokenizer, encode: (text: string) => letters([...text].reverse().join('')) }
  const { caveats } = made(trajectoryOf([prompt(letters('abcdefghij'))], byteTokenizer), {
    tokenizer: turned,
  } as SideTokenizer)
  expect(caveats).toEqual([expect.stringMatching(/^The position of \d+ tokens in the text is uncertain/)])
})

test('bytes that the file lacks come from the tokenizer', () => {
  const trajectory = trajectoryOf([prompt(letters('ab'))], byteTokenizer)
  const { tokenizer: _, ...model } = trajectory.model
  const { trajectory: again } = made({ ...trajectory, model, vocab: {} })
  expect([allIds(again), again.vocab]).toEqual([letters('ab'), { 97: 'a', 98: 'b' }])
})

test('the longest trajectory id leaves room for the mode', () => {
  const trajectory = { ...trajectoryOf([prompt([97])], byteTokenizer), id: 'x'.repeat(200) }
  const again = made(trajectory).trajectory as Trajectory
  expect(decode(encode(again))).toEqual({ ok: true, trajectory: again })
})
