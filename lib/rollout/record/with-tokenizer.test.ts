import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import {
  FORMAT,
  type Outcome,
  type ResponseSegment,
  type Segment,
  type Trajectory,
} from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { foreignId, type TextSource, tokenizerMismatch, withTokenizer } from './with-tokenizer.ts'

const END = byteId('<|im_end|>')
const texts: TextSource = { tokenizer: byteTokenizer, endOfTurnId: END, parser: hermes }
const ids = (text: string) => byteTokenizer.encode(text)
const prompt = (text: string): Segment => ({ kind: 'prompt', ids: ids(text), messages: [] })
const response = (text: string): Segment => ({ kind: 'response', ids: ids(text), thinks: [], toolCalls: [] })
const unknown = { kind: 'ended', reason: 'unknown' } as const

const imported = (segments: readonly Segment[], outcome: Outcome = unknown): Trajectory => ({
  format: FORMAT,
  id: 'i',
  createdAt: '',
  model: { tools: [] },
  vocab: {},
  segments,
  outcome,
  provenance: { kind: 'import', format: 'strands-sglang', lacked: [] },
})

const calls = ({ segments }: Trajectory) =>
  segments.flatMap((segment) =>
    segment.kind === 'response' ? segment.toolCalls.map(({ id, name }) => `${id} ${name}`) : [],
  )

describe('withTokenizer gives ids their texts', () => {
  test('and leaves only what it does not know among the missing contents', () => {
    const trajectory = imported([prompt('hi')])
    const source = { kind: 'import', format: 'strands-sglang', lacked: [] } as const
    const completed = withTokenizer(
      { ...trajectory, provenance: { ...source, missing: ['texts', 'logprobs', 'special_tokens'] } },
      texts,
    )
    expect(completed.provenance).toEqual({ ...source, missing: ['logprobs'] })
    expect(withTokenizer(trajectory, texts).provenance).toEqual(source)
  })

  test('with the vocabulary, think blocks and tool calls that a run records for the same ids', () => {
    const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    const { trajectory: run } = simulateRollout(chatml, [
      {
        messages: [{ role: 'user', content: 'hi' }],
        reply: [...ids(`<think>hm</think>${call}`), END],
        finish: { kind: 'stop', matched: END },
      },
      {
        messages: [{ role: 'tool', content: '4' }],
        reply: [...ids('日'), END],
        finish: { kind: 'stop', matched: END },
      },
    ])
    const bare = run.segments.map((segment): Segment => {
      const { kind, ids: own } = segment
      return kind === 'prompt' ? { kind, ids: own, messages: [] } : { kind, ids: own, thinks: [], toolCalls: [] }
    })
    const retokenized = withTokenizer(imported(bare), texts)
    expect(retokenized.vocab).toEqual(run.vocab)
    expect(new Set(retokenized.model.tokenizer?.specialIds)).toEqual(new Set(run.model.tokenizer?.specialIds))
    for (const [index, segment] of retokenized.segments.entries()) {
      if (segment.kind === 'prompt') continue
      const { thinks, toolCalls } = run.segments[index] as ResponseSegment
      expect([segment.thinks, segment.toolCalls]).toEqual([thinks, toolCalls])
    }
    expect(retokenized.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(decode(encode(retokenized))).toEqual({ ok: true, trajectory: retokenized })
  })

  test('with alternatives, and a think block that the prompt has opened', () => {
    const [asked, answer] = [prompt('hi<think>'), response('a</think>b')]
    const retokenized = withTokenizer(
      imported([
        asked,
        {
          ...answer,
          topLogprobs: {
            k: 1,
            ids: answer.ids.map((_, i) => (i === 0 ? 122 : -1)),
            logprobs: answer.ids.map(() => null),
          },
        },
      ]),
      texts,
    )
    expect(retokenized.vocab['122']).toBe('z')
    expect(retokenized.vocab['-1']).toBeUndefined()
    expect((retokenized.segments[1] as ResponseSegment).thinks).toEqual([{ start: 0, end: 2, closed: true }])
  })

  test('and a later tokenizer replaces the first, and numbers calls anew', () => {
    const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    const once = withTokenizer(imported([prompt('a'), response(call), prompt('b'), response(call)]), texts)
    expect(calls(once)).toEqual(['call_0000 f', 'call_0001 f'])
    expect(withTokenizer(once, texts)).toEqual(once)
  })

  test('and calls have the ids that the messages of the file give them, if the file gives each call its own', () => {
    const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    const withIds = (...given: readonly string[]) => ({
      ...response(call.repeat(2)),
      message: { tool_calls: given.map((id) => ({ id, function: { name: 'f', arguments: '{}' } })) },
    })
    const found = (...replies: readonly Segment[]) => calls(withTokenizer(imported(replies), texts))
    expect(found(withIds('a', 'b'), withIds('c', 'd'))).toEqual(['a f', 'b f', 'c f', 'd f'])
    expect(found(withIds('a'))).toEqual(['call_0000 f', 'call_0001 f'])
    expect(found(withIds('a', 'b'), withIds('c', 'a'))).toEqual(['a f', 'b f', 'call_0002 f', 'call_0003 f'])
    expect(found(withIds('call_0001', 'b'))).toEqual(['call_0001 f', 'b f'])
    expect(found(response(call), withIds('call_0000', 'b'))).toEqual(['call_0000 f', 'call_0001 f', 'call_0002 f'])
    const nameless = { ...response(call), message: { tool_calls: [{ function: { name: 'f' } }] } }
    expect(found(nameless)).toEqual(['call_0000 f'])
  })

  test('and never changes ids', () => {
    const id = fc.integer({ min: 0, max: byteTokenizer.vocabularySize - 1 })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.array(id))), (parts) => {
        const segments = parts.map(
          ([isOutput, own]): Segment =>
            isOutput
              ? { kind: 'response', ids: own, thinks: [], toolCalls: [] }
              : { kind: 'prompt', ids: own, messages: [] },
        )
        const retokenized = withTokenizer(imported(segments), texts)
        expect(retokenized.segments.map(({ kind, ids: own }) => ({ kind, ids: own }))).toEqual(
          segments.map(({ kind, ids: own }) => ({ kind, ids: own })),
        )
        expect(decode(encode(retokenized)).ok).toBe(true)
      }),
    )
  })
})

describe('withTokenizer sets an unknown end of a run', () => {
  const ending = (segments: readonly Segment[], source = texts, outcome: Outcome = unknown) =>
    withTokenizer(imported(segments, outcome), source).outcome

  test('to the end of its turn if the last response closes it', () => {
    expect(ending([prompt('a'), response('b<|im_end|>')])).toEqual({ kind: 'ended', reason: 'end_turn' })
  })

  test.each<[string, Outcome]>([
    ['cut off', ending([prompt('a'), response('b')])],
    ['with a call', ending([prompt('a'), response('<tool_call>{"name": "f", "arguments": {}}</tool_call><|im_end|>')])],
    ['a prompt last', ending([prompt('a<|im_end|>')])],
    ['nothing', ending([])],
    [
      'the last id of the chosen tokenizer',
      ending([prompt('a'), response('b<|im_end|>')], { ...texts, endOfTurnId: undefined }),
    ],
  ])('but leaves it unknown: %s', (_what, outcome) => {
    expect(outcome).toEqual(unknown)
  })

  test('but not a known end', () => {
    const outcome: Outcome = { kind: 'ended', reason: 'truncated' }
    expect(ending([prompt('a'), response('b<|im_end|>')], texts, outcome)).toEqual(outcome)
    expect(ending([prompt('a'), response('b<|im_end|>')], texts, { kind: 'running' })).toEqual({ kind: 'running' })
  })
})

test('foreignId finds an id that the tokenizer does not have, with its position', () => {
  const size = byteTokenizer.vocabularySize
  expect(foreignId(imported([prompt('abc'), { ...response(''), ids: [1, size, size + 1] }]), byteTokenizer)).toEqual({
    id: size,
    tokenIndex: 4,
  })
  expect(foreignId(imported([prompt('abc')]), byteTokenizer)).toBeUndefined()
})

describe('tokenizerMismatch refuses the tokenizer of another model', () => {
  const { tokenizer } = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')
  const [calculator = 0] = tokenizer.encode('calculator')
  const [name = 0] = tokenizer.encode('name')
  const [think = 0] = tokenizer.encode('<think>')
  const withTexts = (vocab: Trajectory['vocab'], model = imported([]).model) =>
    tokenizerMismatch({ ...imported([]), vocab, model }, tokenizer)

  test('if it does not have an id', () => {
    const size = byteTokenizer.vocabularySize
    expect(tokenizerMismatch(imported([{ ...response(''), ids: [1, size] }]), byteTokenizer)).toBe(
      `token 1 has the id ${size}, and bytes has only ${size} ids`,
    )
  })

  test('if most ids have another text in the file, or none in its vocabulary', () => {
    expect(withTexts({ [name]: 'go' })).toBe(`the text of the id ${name} is "go" in the file, and "name" in built-in`)
    expect(withTexts({ 99999: 'go' })).toBe('the text of the id 99999 is "go" in the file, and "" in built-in')
  })

  test.each<[string, Trajectory['vocab']]>([
    ['equal texts', { [calculator]: 'calculator', [name]: 'name' }],
    ['a few other texts', { [calculator]: 'calculator', [name]: 'go' }],
    ['other spaces, also in the spelling of vocabularies', { [calculator]: 'Ġcalculator', [name]: ' name' }],
    ['parts of characters', { [calculator]: { hex: 'e697' }, [name]: 'bytes:\\xe6' }],
    ['the texts of single letters and added tokens', { [name]: 'x', [think]: '<|think|>' }],
  ])('but not for %s', (_, vocab) => {
    expect(withTexts(vocab)).toBeUndefined()
  })

  test('but not if the texts are those of an earlier tokenizer', () => {
    expect(withTexts({ [name]: 'go' }, { tools: [], tokenizer: { name: 'a', specialIds: [] } })).toBeUndefined()
  })
})

test('withTokenizer reads the calls of 16,000 responses in one pass', () => {
  const call = response('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
  const { segments } = withTokenizer(imported(Array.from({ length: 16_000 }, () => [prompt('q'), call]).flat()), texts)
  expect(segments).toHaveLength(32_000)
  expect(segments.at(-1)).toMatchObject({ toolCalls: [{ id: 'call_15999' }] })
})
