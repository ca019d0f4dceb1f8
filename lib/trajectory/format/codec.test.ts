import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { violationText } from '#lib/util/schema-violation.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { anyText } from '#testing/strings.ts'
import type { LiveTrajectory } from '../events/events.ts'
import { decode, decodeValue, encode } from './codec.ts'
import { fileName, severalFileName } from './file.ts'
import type { ResponseSegment, Segment } from './trajectory.ts'

const error = (value: unknown): string => {
  const decoded = decodeValue(value)
  return decoded.ok ? 'accepted' : violationText(decoded.error)
}
/** Replaces a part of one segment of the sample. */
const withSegment = (index: number, change: object): object => ({
  ...sample,
  segments: sample.segments.map((segment, i) => (i === index ? { ...segment, ...change } : segment)),
})
/** Returns the sample with a different prompt for its first response. */
const withRead = (read: object): object => {
  const [, response] = sample.segments as [Segment, ResponseSegment]
  return withSegment(1, { request: { ...response.request, endpoint: 'chat', read } })
}

describe('a trajectory file', () => {
  test('decodes to the encoded trajectory and encodes to the decoded text', () => {
    const file = encode(sample)
    expect(decode(file)).toEqual({ ok: true, trajectory: sample })
    const opened = decode(file)
    expect(opened.ok && encode(opened.trajectory)).toBe(file)
  })

  test('keeps fields that this version does not know', () => {
    const richer = { ...sample, extra: { deep: [1, { x: null }] }, segments: [{ ...sample.segments[0], router: 'r1' }] }
    const decoded = decodeValue(richer)
    expect(decoded.ok && JSON.parse(encode(decoded.trajectory))).toEqual(richer)
  })

  test.each(['AAA', 'AA=A', 'A===', '§§§§', 'AAAA\n'])('refuses routed experts whose data %j is not base64', (data) => {
    const segments = sample.segments.map((segment) =>
      segment.kind === 'response' ? { ...segment, routedExperts: { start: 0, perToken: 1, bytes: 1, data } } : segment,
    )
    expect(decode(JSON.stringify({ ...sample, segments }))).toMatchObject({ ok: false })
  })

  test('keeps the notes on its tokens, and one without notes opens as before', () => {
    const noted = { ...sample, notes: [{ id: '1', start: 11, end: 12, text: 'last', author: 'me' }] }
    const decoded = decodeValue(noted)
    expect(decoded.ok && JSON.parse(encode(decoded.trajectory))).toEqual(noted)
    expect(encode(sample)).not.toContain('"notes"')
    expect(decode(encode(sample))).toEqual({ ok: true, trajectory: sample })
  })

  test('keeps the routed experts and images of imported trajectories', () => {
    const imported = { ...sample, routedExperts: ['AAAAAA==', 'AQAAAA=='], imageData: ['data:image/png;base64,AA=='] }
    const decoded = decodeValue(imported)
    expect(decoded.ok && JSON.parse(encode(decoded.trajectory))).toEqual(imported)
  })

  test('keeps names that JavaScript gives a meaning', () => {
    const text = encode(sample).replace(/("input": ?)\{"a":1\}/, '$1{"__proto__":{"a":1},"constructor":2}')
    expect(text).toContain('__proto__')
    const decoded = decode(text)
    expect(decoded.ok && encode(decoded.trajectory)).toBe(text)
    expect(({} as { a?: number }).a).toBeUndefined()
  })

  test('without a tokenizer may contain ids without texts', () => {
    const { tokenizer: _, ...model } = sample.model
    const bare = { ...withSegment(3, { ids: [3, 77] }), model }
    const decoded = decodeValue(bare)
    expect(decoded).toEqual({ ok: true, trajectory: bare })
    expect(decoded.ok && decode(encode(decoded.trajectory))).toEqual(decoded)
  })

  test('records what a server read that tokenized the messages again', () => {
    const read = withRead({ kept: 3, ids: [1, 2] })
    const decoded = decodeValue(read)
    expect(decoded).toEqual({ ok: true, trajectory: read })
    const { tokenizer: _, ...model } = sample.model
    expect(decodeValue({ ...withRead({ kept: 0, ids: [99] }), model }).ok).toBe(true)
  })

  test('may begin with a byte order mark', () => {
    expect(decode(`\uFEFF${encode(sample)}`).ok).toBe(true)
  })

  test('is not written from a value that is not a trajectory', () => {
    expect(() => encode({ ...sample, id: 7 as never })).toThrow(/"expected": "string"/)
  })

  test('does not contain the state of a running rollout', () => {
    const live: LiveTrajectory = { ...sample, live: { runningCalls: { call_0000: 'now' } } }
    expect(encode(live)).toBe(encode(sample))
  })

  test('with any numbers and texts is decoded unchanged', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
      fc.constant(null),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(1, 2, 3), number)), anyText(), (tokens, title) => {
        const segment: Segment = {
          kind: 'prompt',
          ids: tokens.map(([id]) => id),
          logprobs: tokens.map(([, logprob]) => logprob),
          messages: [],
        }
        const made = { ...sample, title: title.toWellFormed(), segments: [segment] }
        expect(decode(encode(made))).toEqual({ ok: true, trajectory: made })
      }),
    )
  })
})

describe('decode reports what is wrong and where for', () => {
  test.each<[string, unknown, string]>([
    [
      'a different kind of value',
      [],
      'format: expected "rollscope.trajectory/1", found a file that is not a trajectory object',
    ],
    ['no format', {}, 'format: expected "rollscope.trajectory/1", found no "format" field'],
    ['another format', { format: 'x' }, 'format: expected "rollscope.trajectory/1", found "x"'],
    [
      'a newer version',
      { format: 'rollscope.trajectory/2' },
      'format: expected "rollscope.trajectory/1" or older, found version 2, written by a newer Rollscope: update it to open this file',
    ],
    [
      'a note on tokens that it does not have',
      { ...sample, notes: [{ id: '1', start: 11, end: 13, text: 'x' }] },
      'notes[0]: expected 0 ≤ start < end ≤ 12, found start 11, end 13',
    ],
    [
      'a note without a text',
      { ...sample, notes: [{ id: '1', start: 0, end: 1, text: '' }] },
      'notes[0].text: expected a text of at least 1 characters, found ""',
    ],
    ['a missing field', { ...sample, id: undefined }, 'id: expected a string, found nothing'],
    ['an empty id', { ...sample, id: '' }, 'id: expected a text of at least 1 characters, found ""'],
    [
      'a long id',
      { ...sample, id: 'x'.repeat(201) },
      `id: expected a text of at most 200 characters, found "${'x'.repeat(79)}… (201 characters)`,
    ],
    [
      'an id that is no number',
      withSegment(1, { ids: ['9', 5, 6, 10, 2] }),
      'segments[1].ids[0]: expected a number, found "9"',
    ],
    ['half an id', withSegment(0, { ids: [1, 3, 2.5] }), 'segments[0].ids[2]: expected a whole number, found 2.5'],
    ['a negative id', withSegment(0, { ids: [1, 3, -2] }), 'segments[0].ids[2]: expected at least 0, found -2'],
    [
      'an id that no page can show',
      withSegment(0, { ids: [1, 3, 2 ** 31] }),
      'segments[0].ids[2]: expected at most 2147483647, found 2147483648',
    ],
    [
      'an alternative that no page can show',
      withSegment(3, { topLogprobs: { k: 1, ids: [2 ** 31, 2], logprobs: [-1, -1] } }),
      'segments[3].topLogprobs.ids[0]: expected at most 2147483647, found 2147483648',
    ],
    ['an unknown segment', withSegment(0, { kind: 'glue' }), 'segments[0].kind: expected a known kind, found "glue"'],
    ['a mask of another number', withSegment(3, { mask: [1, 2] }), 'segments[3].mask[1]: expected 0 or 1, found 2'],
    [
      'a short column',
      withSegment(0, { logprobs: [null] }),
      'segments[0].logprobs: expected 3 entries (one for each token), found 1 entries',
    ],
    [
      'a short column of its own',
      withSegment(3, { columns: { entropy: [1] } }),
      'segments[3].columns.entropy: expected 2 entries (one for each token), found 1 entries',
    ],
    [
      'a long mask',
      withSegment(3, { mask: [1, 0, 0] }),
      'segments[3].mask: expected 2 entries (one for each token), found 3 entries',
    ],
    [
      'short alternatives',
      withSegment(3, { topLogprobs: { k: 2, ids: [1], logprobs: [0] } }),
      'segments[3].topLogprobs.ids: expected 4 entries (one for each token), found 1 entries',
    ],
    [
      'short alternatives’ logprobs',
      withSegment(3, { topLogprobs: { k: 1, ids: [1, 2], logprobs: [0] } }),
      'segments[3].topLogprobs.logprobs: expected 2 entries (one for each token), found 1 entries',
    ],
    [
      'a text that is missing',
      withSegment(3, { ids: [3, 77] }),
      'segments[3].ids[1]: expected an id with an entry in vocab, found 77',
    ],
    [
      'an alternative without text',
      withSegment(3, { topLogprobs: { k: 1, ids: [1, 78], logprobs: [0, 0] } }),
      'segments[3].topLogprobs.ids[1]: expected an id with an entry in vocab, found 78',
    ],
    [
      'bytes that are none',
      { ...sample, vocab: { ...sample.vocab, '3': { hex: 'xyz' } } },
      'vocab.3.hex: expected an even number of lower-case hexadecimal digits, found "xyz"',
    ],
    [
      'a prompt that begins with more than there is',
      withRead({ kept: 5, ids: [] }),
      'segments[1].request.read.kept: expected at most 3, found 5',
    ],
    [
      'a prompt of tokens without text',
      withRead({ kept: 1, ids: [2, 79] }),
      'segments[1].request.read.ids[1]: expected an id with an entry in vocab, found 79',
    ],
    [
      'a span beyond the segment',
      withSegment(1, { thinks: [{ start: 0, end: 6, closed: true }] }),
      'segments[1].thinks[0]: expected 0 ≤ start ≤ end ≤ 5, found start 0, end 6',
    ],
    [
      'inserted tokens beyond the response',
      withSegment(3, { forced: [{ start: 1, end: 3, as: 'ids' }] }),
      'segments[3].forced[0]: expected 0 ≤ start ≤ end ≤ 2, found start 1, end 3',
    ],
    [
      'a span that runs backwards',
      withSegment(3, { weightVersions: [{ version: 'v', start: 2, end: 1 }] }),
      'segments[3].weightVersions[0]: expected 0 ≤ start ≤ end ≤ 2, found start 2, end 1',
    ],
    [
      'a response that was resumed after more tokens than it has',
      withSegment(3, {
        resumed: [
          { at: 3, request: { server: 's', samplingParams: {}, inputLength: 1, inputHash: '', streamed: true } },
        ],
      }),
      'segments[3].resumed[0].at: expected 0 ≤ start ≤ end ≤ 2, found start 3, end 2',
    ],
    [
      'a call with a used id',
      withSegment(3, {
        toolCalls: [
          { ...(sample.segments[1] as ResponseSegment).toolCalls[1], span: { start: 0, end: 1 }, id: 'call_0000' },
        ],
      }),
      'segments[3].toolCalls[0].id: expected an id used once, found "call_0000"',
    ],
    [
      'a call without its span',
      withSegment(1, {
        toolCalls: [{ kind: 'malformed', id: 'x', raw: '', why: 'w', at: 0, text: { start: 0, end: 0 } }],
      }),
      'segments[1].toolCalls[0].span: expected an object, found nothing',
    ],
    ['an object for a list', { ...sample, segments: { a: 1 } }, 'segments: expected an array, found an object with a'],
    ['a list for an object', { ...sample, model: [1, 2] }, 'model: expected an object, found an array of 2'],
    [
      'an empty object for a list',
      { ...sample, segments: {} },
      'segments: expected an array, found an object with no keys',
    ],
    [
      'content of no kind',
      withSegment(0, { messages: [{ role: 'user', content: 3 }] }),
      'segments[0].messages[0].content: expected a string or an array, found 3',
    ],
    [
      'a part without its type',
      withSegment(0, { messages: [{ role: 'user', content: [{}] }] }),
      'segments[0].messages[0].content[0].type: expected a string, found nothing',
    ],
    [
      'an unknown reason',
      { ...sample, outcome: { kind: 'ended', reason: 'bored' } },
      'outcome.reason: expected "end_turn" or "length" or "context_full" or "cancelled" or "aborted" or "max_tool_iterations" or "max_tool_calls" or "max_messages" or "max_tokens" or "interrupted" or "truncated" or "unknown", found "bored"',
    ],
  ])('%s', (_what, value, expected) => {
    expect(error(value)).toBe(expected)
  })

  test('text that is not JSON', () => {
    const decoded = decode('{"format": ')
    expect(!decoded.ok && violationText(decoded.error)).toMatch(/^expected JSON, found .*JSON/)
  })
})

test.each([
  ['a1b2-c3', 'trajectory-a1b2-c3.json'],
  ['../../etc/passwd', 'trajectory--etc-passwd.json'],
  ['"\r\nX: y', 'trajectory--X-y.json'],
  ['x'.repeat(200), `trajectory-${'x'.repeat(60)}.json`],
])('fileName of the id %j is a valid file name', (id, name) => {
  expect(fileName({ ...sample, id })).toBe(name)
  expect(fileName({ ...sample, id }, 'slime')).toBe(name.replace('.json', '.slime.json'))
})

test('severalFileName contains the number of trajectories, and the format unless it is our own', () => {
  expect([severalFileName(3, 'rollscope'), severalFileName(3, 'slime')]).toEqual([
    'trajectories-3.jsonl',
    'trajectories-3.slime.jsonl',
  ])
})
