import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decode } from '#lib/trajectory/format/codec.ts'
import type { ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml } from '#testing/small-templates.ts'
import { maskLints, partFindings } from './lints.ts'
import type { MaskedTokens } from './masked-tokens.ts'

const END = byteId('<|im_end|>')
const HEADER = '<|im_start|>assistant\n'
const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
const reply = (text: string) => ({
  reply: [...byteTokenizer.encode(text), END],
  finish: { kind: 'stop', matched: END } as const,
})

/** A clean rollout: (user) [call] (tool) [reply], trained where there are square brackets. */
const { trajectory: clean } = simulateRollout(chatml, [
  { messages: [{ role: 'user', content: 'q' }], ...reply(call) },
  { messages: [{ role: 'tool', content: '425' }], ...reply('It is 425.') },
])

/** Returns the clean trajectory with one segment changed. */
const changed = (index: number, change: (segment: Segment) => Partial<ResponseSegment>): Trajectory => ({
  ...clean,
  segments: clean.segments.map((segment, i) =>
    i === index ? ({ ...segment, ...change(segment) } as Segment) : segment,
  ),
})

const mask = (segment: Segment, trained: (index: number) => boolean) => ({
  mask: segment.ids.map((_, index): 0 | 1 => (trained(index) ? 1 : 0)),
})
const logprobsWithEnd = (segment: Segment, last: number | null) => ({
  logprobs: segment.ids.map((_, index) => (index === segment.ids.length - 1 ? last : -0.5)),
})

/** Returns the kinds of lints that are found, each with the text of its places. */
const found = (trajectory: Trajectory) =>
  maskLints(trajectory).map(({ kind, places }) => [kind, ...places.map(({ text }) => text)])

describe('the lints of a recorded mask', () => {
  test('are empty for a clean rollout', () => {
    expect(found(clean)).toEqual([])
  })

  // Reading all tokens before each reply would take minutes.
  test('of many replies are found in linear time', () => {
    const ids = Array<number>(10).fill(END)
    const reply: Segment = { kind: 'response', ids, logprobs: ids.map(() => -1), thinks: [], toolCalls: [] }
    expect(found({ ...clean, segments: Array.from({ length: 80_000 }, () => reply) })).toEqual([])
  })

  test.each([['nothing trained', changed(1, (s) => mask(s, () => false)), changed(3, (s) => mask(s, () => false))]])(
    'report %s only if it applies to every reply',
    (_, first, second) => {
      expect(found(first)).toEqual([])
      expect(found({ ...first, segments: first.segments.with(3, second.segments[3] as Segment) })).toEqual([
        ['all-zero'],
      ])
    },
  )

  test('report a trained generation prompt', () => {
    const seeded = changed(0, (s) => mask(s, (index) => index >= s.ids.length - 11))
    expect(found(seeded)).toEqual([['header-trained', HEADER]])
  })

  test('report a trained question', () => {
    const seeded = changed(0, (s) => mask(s, (index) => index === 6))
    expect(found(seeded)).toEqual([['context-trained', 'q']])
  })

  test('report a trained tool result', () => {
    const seeded = changed(2, (s) => mask(s, (index) => index > 6 && index < 10))
    expect(found(seeded)).toEqual([['tool-result-trained', '425']])
  })

  test('report a newline that is trained after the end of a turn', () => {
    expect(found(changed(2, (s) => mask(s, (index) => index === 0)))).toEqual([['after-end-trained', '\n']])
    const inside = changed(3, (s) => ({
      ids: [...s.ids, 10],
      ...mask({ ...s, ids: [...s.ids, 10] }, () => true),
      logprobs: undefined as never,
    }))
    expect(found(inside).map(([kind]) => kind)).toContain('after-end-trained')
  })

  test('report an untrained end of turn', () => {
    const seeded = changed(1, (s) => mask(s, (index) => index < s.ids.length - 1))
    expect(found(seeded)).toEqual([['end-of-turn-untrained', '<|im_end|>']])
  })

  describe('for an untrained end of a reply without content', () => {
    const { trajectory: silent } = simulateRollout(chatml, [
      { messages: [{ role: 'user', content: 'q' }], ...reply('a') },
      { messages: [{ role: 'user', content: 'r' }], ...reply('') },
    ])
    const end = silent.segments[3] as Segment
    const masked = { ...silent, segments: silent.segments.with(3, { ...end, ...mask(end, () => false) } as Segment) }

    test('report it if every reply with content is trained', () => {
      expect(found(silent)).toEqual([])
      expect(found(masked)).toEqual([['end-of-turn-untrained', '<|im_end|>']])
    })

    test('report no fault if replies are left out of training', () => {
      const first = masked.segments[1] as Segment
      const none = {
        ...masked,
        segments: masked.segments.with(1, { ...first, ...mask(first, () => false) } as Segment),
      }
      expect(found(none)).toEqual([['all-zero']])
    })
  })

  test('report trained tokens without a logprob', () => {
    expect(found(changed(1, (s) => logprobsWithEnd(s, null)))).toEqual([['unknown-logprob', '<|im_end|>']])
    expect(
      found(changed(1, (s) => ({ ...logprobsWithEnd(s, null), ...mask(s, (i) => i < s.ids.length - 1) }))).map(
        ([kind]) => kind,
      ),
    ).toEqual(['end-of-turn-untrained'])
  })

  test('do not report an imported file that has no logprob at all', () => {
    const provenance = { kind: 'import', format: 'messages', lacked: [] } as const
    const silent = clean.segments.map(({ logprobs: _, ...segment }) => segment as Segment)
    expect(found({ ...clean, segments: silent }).map(([kind]) => kind)).toEqual(['unknown-logprob'])
    expect(found({ ...clean, provenance, segments: silent })).toEqual([])
    const some = { ...changed(1, (s) => logprobsWithEnd(s, null)), provenance }
    expect(found(some)).toEqual([['unknown-logprob', '<|im_end|>']])
  })

  describe('for an end of turn with logprob 0', () => {
    const certain = (rest: Partial<ResponseSegment>, trajectory = clean): Trajectory => ({
      ...trajectory,
      segments: trajectory.segments.with(3, {
        ...(trajectory.segments[3] as ResponseSegment),
        ...logprobsWithEnd(trajectory.segments[3] as Segment, 0),
        ...rest,
      }),
    })
    const request = (samplingParams: Record<string, unknown>): Partial<ResponseSegment> => ({
      finish: { kind: 'length' },
      request: { server: 's', samplingParams, inputLength: 0, inputHash: '', streamed: true },
    })

    test('report it if no server stopped at it', () => {
      expect(found(certain({ finish: { kind: 'length' } }))).toEqual([['synthetic-end', '<|im_end|>']])
      expect(found(certain(request({ temperature: 1, regex: null, json_schema: '' })))).toEqual([
        ['synthetic-end', '<|im_end|>'],
      ])
    })

    test('do not report it if the server stopped at it', () => {
      expect(found(certain({}))).toEqual([])
    })

    test.each(['regex', 'json_schema', 'ebnf', 'structural_tag', 'logit_bias'])(
      'do not report it if %s left no choice',
      (name) => {
        expect(found(certain(request({ [name]: name === 'logit_bias' ? { '5': 100 } : '(a|b)' })))).toEqual([])
      },
    )

    test('of a resumed response depends on the call that sampled it', () => {
      const [free, biased] = [request({}), request({ logit_bias: { '5': 100 } })]
      const resumed = (first: typeof free, last: typeof free): Partial<ResponseSegment> => ({
        ...first,
        ...(last.request && { resumed: [{ at: 1, request: last.request }] }),
      })
      expect(found(certain(resumed(free, biased)))).toEqual([])
      expect(found(certain(resumed(biased, free)))).toEqual([['synthetic-end', '<|im_end|>']])
    })

    test('do not report it if it is untrained or if other tokens are as certain', () => {
      const last = clean.segments[3] as Segment
      expect(
        found(certain({ finish: { kind: 'length' }, ...mask(last, (i) => i < last.ids.length - 1) })).map(
          ([kind]) => kind,
        ),
      ).toEqual(['end-of-turn-untrained'])
      const zeros = changed(1, (s) => ({ logprobs: s.ids.map(() => 0) }))
      expect(found(certain({ finish: { kind: 'length' } }, zeros))).toEqual([])
    })
  })

  test('leave out what cannot be known if the template ends turns with no token', () => {
    const { tokenizer, ...model } = clean.model
    const { endOfTurnId: _, ...without } = tokenizer as NonNullable<typeof tokenizer>
    expect(found({ ...changed(0, (s) => mask(s, () => true)), model: { ...model, tokenizer: without } })).toEqual([])
  })

  test('have a place, a severity and a remedy', () => {
    const [lint] = maskLints(changed(1, (s) => mask(s, (index) => index < s.ids.length - 1)))
    expect(lint).toMatchObject({ way: 'tito', severity: 'error', places: [{ start: 52, end: 53, message: 1 }] })
    expect(lint?.remedy).toBe('Set mask 1 for the sampled end-of-turn token.')
  })
})

test.each([
  ['a prompt alone, which trains nothing', 'c c h', '0 0 0', []],
  ['a reply with an untrained token before a trained one, and an empty reply', 'r r e h e', '0 1 1 0 0', [[4, 5]]],
  ['an empty reply where one of two replies is left out of training', 'r e r e h e', '1 1 0 0 0 0', []],
  ['an empty reply without any other', 'h e', '0 0', undefined],
])('the end of a turn is compared with its reply: %s', (_, parts, trained, untrainedEnds) => {
  const kinds = { c: 'context', h: 'header', r: 'reply', e: 'end' } as const
  const tokens: MaskedTokens = {
    ids: parts.split(' ').map(() => 1),
    bytes: () => new Uint8Array(1),
    trained: trained.split(' ').map((bit) => bit === '1'),
    parts: parts.split(' ').map((part) => kinds[part as keyof typeof kinds]),
    messages: [],
  }
  const found = partFindings(tokens).filter(({ ranges }) => ranges.length > 0)
  const expected = untrainedEnds?.map(([start, end]) => ({ kind: 'end-of-turn-untrained', ranges: [{ start, end }] }))
  expect(found).toEqual(expected ?? [{ kind: 'all-zero', ranges: [{ start: 0, end: parts.split(' ').length }] }])
})

test('the rollouts that ship as examples have no lints', () => {
  const folder = 'public/examples'
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  expect(files.length).toBeGreaterThan(2)
  for (const name of files) {
    const decoded = decode(readFileSync(`${folder}/${name}`, 'utf8'))
    expect([name, decoded.ok && found(decoded.trajectory)]).toEqual([name, []])
  }
})
