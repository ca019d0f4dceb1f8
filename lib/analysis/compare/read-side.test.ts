import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { annotations } from '#lib/rollout/record/record.ts'
import { driftOf } from '#lib/trajectory/drift/align.ts'
import { compareTrajectories } from '#lib/trajectory/drift/compare.ts'
import { decodeValue, encode } from '#lib/trajectory/format/codec.ts'
import { FORMAT, type PromptSegment, type ResponseSegment, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteId, byteTokenizer, byteVocab } from '#testing/byte-tokenizer.ts'
import { turnsRead } from './read-side.ts'
import { replaySide } from './replay-side.ts'
import { buildSide } from './retokenized.ts'

const END = byteId('<|im_end|>')
const bytes = byteTokenizer.encode

/** Returns a chat run. `read` is what the server read before the reply; undefined: the recorded tokens. */
function chatRun(
  turns: readonly { readonly prompt: string; readonly reply: string; readonly read?: string }[],
): Trajectory {
  const segments: (PromptSegment | ResponseSegment)[] = []
  for (const { prompt, reply, read } of turns) {
    segments.push({ kind: 'prompt', ids: bytes(prompt), messages: [], derivation: { kind: 'reported' } })
    const before = segments.flatMap((segment) => segment.ids)
    const request = {
      server: 's',
      endpoint: 'chat' as const,
      samplingParams: {},
      inputLength: 0,
      inputHash: '',
      streamed: false,
      ...(read !== undefined && { read: common(before, bytes(read)) }),
    }
    const bare: ResponseSegment = { kind: 'response', ids: bytes(reply), thinks: [], toolCalls: [], request }
    segments.push({ ...bare, ...annotations(bare, trajectory(segments), hermes, byteTokenizer) })
  }
  return trajectory(segments)
}

function common(own: readonly number[], read: readonly number[]) {
  const differs = own.findIndex((id, index) => id !== read[index])
  const kept = differs < 0 ? own.length : differs
  return { kept, ids: read.slice(kept) }
}

const trajectory = (segments: Trajectory['segments']): Trajectory => ({
  format: FORMAT,
  id: 't',
  createdAt: '2026-01-01T00:00:00.000Z',
  model: { tokenizer: { name: 'bytes', specialIds: [], endOfTurnId: END }, tools: [], parser: 'hermes' },
  vocab: byteVocab(),
  segments,
  outcome: { kind: 'ended', reason: 'end_turn' },
  provenance: { kind: 'rollout', application: 'test', endpoint: 'chat' },
})

function read(run: Trajectory): Trajectory {
  const side = buildSide({ as: { kind: 'read' }, trajectory: run, tokenizer: undefined, template: undefined })
  if (!side.ok) throw new Error(side.why)
  return side.value.trajectory as Trajectory
}
const drawn = ({ segments, vocab }: Trajectory): string[] =>
  segments.map((segment) =>
    segment.kind === 'prompt' ? `(${textOf(segment.ids, vocab)})` : `[${textOf(segment.ids, vocab)}]`,
  )

const spaced = '<think>hm</think><tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call><|im_end|>'
const exact = '<tool_call>{"name":"f","arguments":{"a":1}}</tool_call><|im_end|>'
const run = chatRun([
  { prompt: 'q:', reply: spaced },
  { prompt: '+r:', reply: exact, read: `q:${exact}+r:` },
  { prompt: '+s:', reply: 'done<|im_end|>', read: `q:${exact}+r:${exact}+s:` },
])

describe('sideRead', () => {
  test('has the segments of the run, its replies as they were rendered, and the last one as sampled', () => {
    const side = read(run)
    expect(drawn(side)).toEqual(['(q:)', `[${exact}]`, '(+r:)', `[${exact}]`, '(+s:)', '[done<|im_end|>]'])
    expect(side.provenance).toEqual({ kind: 'retokenized', mode: 'read', parent: 't' })
    const responses = side.segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))
    expect(responses.map(({ thinks }) => thinks)).toEqual([[], [], []])
    expect(responses.flatMap(({ toolCalls }) => toolCalls.map(({ id, raw }) => [id, raw]))).toEqual([
      ['call_0000', exact.replace('<|im_end|>', '')],
      ['call_0001', '{"name":"f","arguments":{"a":1}}'],
    ])
    expect(responses.at(-1)?.request).not.toHaveProperty('read')
    expect(decodeValue(JSON.parse(encode(side)))).toEqual({ ok: true, trajectory: side })
  })

  test('costs the tokens of each reported prompt that the call before does not share', () => {
    const steps = replaySide({ as: { kind: 'read' }, trajectory: run, tokenizer: undefined, template: undefined })
    let step = steps.next()
    while (!step.done) step = steps.next()
    const length = (text: string) => bytes(text).length
    const [first, second] = [`q:${spaced}`, `q:${exact}+r:${exact}`]
    const kept = [common(bytes(first), bytes(`q:${exact}+r:`)).kept, length(second)]
    expect(step.value).toMatchObject({
      by: 'read',
      calls: [
        { tokens: length('q:') },
        { cached: { kept: kept[0], of: length(first), step: 'realign' } },
        { cached: { kept: kept[1], of: length(second), step: 'append' } },
      ],
      rows: { count: 1 },
    })
  })

  test('has the values of a call that moved within its reply at the new position', () => {
    const moved = read(
      chatRun([
        { prompt: 'q:', reply: `<think>hm</think>${exact}` },
        { prompt: '+r:', reply: 'done<|im_end|>', read: `q:${exact}+r:` },
      ]),
    )
    const reply = moved.segments[1] as ResponseSegment
    const text = textOf(reply.ids, moved.vocab)
    const [call] = reply.toolCalls
    expect(text.slice(call?.text.start, call?.text.end)).toBe(exact.replace('<|im_end|>', ''))
    const values = call?.kind === 'parsed' ? call.arguments : []
    expect(values.map((value) => text.slice(value.text.start, value.text.end))).toEqual(['1'])
    expect(values.map(({ span }) => textOf(reply.ids.slice(span.start, span.end), moved.vocab))).toEqual(['1'])
  })

  test('shows its drift next to the run', () => {
    const { alignedRuns } = compareTrajectories(run, read(run))
    const own = ids(run)
    const drifted = driftOf(alignedRuns).map(({ left }) => textOf(own.slice(left.start, left.end), run.vocab))
    expect(drifted.join('')).toBe('<think>hm</think>    ')
  })

  test('equals the run up to its last reply if nothing drifted', () => {
    const same = chatRun([
      { prompt: 'q:', reply: exact },
      { prompt: '+r:', reply: 'done<|im_end|>' },
    ])
    expect(ids(read(same))).toEqual(ids(same))
    const [prompt] = same.segments as [PromptSegment]
    expect(ids(read({ ...same, segments: [...same.segments, prompt] }))).toEqual(ids(same))
    expect(read({ ...same, outcome: { kind: 'running' } }).outcome).toEqual({ kind: 'ended', reason: 'unknown' })
  })

  test('is unknown for a token-in/token-out run', () => {
    const tito = { ...run, segments: run.segments.slice(0, 1) }
    const side = buildSide({ as: { kind: 'read' }, trajectory: tito, tokenizer: undefined, template: undefined })
    expect(side).toMatchObject({ ok: false, hint: expect.stringContaining('baseline') })
  })

  test('ends with the last prompt and the last reply, whatever they are', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '<think>', '</think>', exact, spaced, '<tool_call>'),
      maxLength: 6,
    })
    const turn = fc.record({ prompt: text, reply: text, read: text }, { requiredKeys: ['prompt', 'reply'] })
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 3 }), (turns) => {
        const any = chatRun(turns as Parameters<typeof chatRun>[0])
        const side = read(any)
        const { read: last, reply } = turns.at(-1) as { read?: string; reply: string }
        const before = any.segments.slice(0, -1).flatMap((segment) => segment.ids)
        expect(ids(side)).toEqual([...(last === undefined ? before : bytes(last)), ...bytes(reply)])
        expect(side.segments.map(({ kind }) => kind)).toEqual(any.segments.map(({ kind }) => kind))
        expect(decodeValue(JSON.parse(encode(side))).ok).toBe(true)
      }),
    )
  })
})

test('turnsRead reports for each turn how many of the tokens before it the server read', () => {
  const [first, second] = [bytes('q:').length, bytes(`q:${spaced}+r:`).length]
  expect(turnsRead(run)).toEqual([
    { segmentIndex: 1, before: first, kept: first, prompt: first },
    { segmentIndex: 3, before: second, kept: first, prompt: bytes(`q:${exact}+r:`).length },
    {
      segmentIndex: 5,
      before: bytes(`q:${spaced}+r:${exact}+s:`).length,
      kept: first,
      prompt: bytes(`q:${exact}+r:${exact}+s:`).length,
    },
  ])
  expect(turnsRead({ ...run, segments: run.segments.slice(0, 1) })).toEqual([])
})
