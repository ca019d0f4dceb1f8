import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Outcome, OutcomeReason, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { kindsAndIds, source, trajectories } from '#testing/trajectories.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { trajectoryOf } from '../test-trajectories.ts'
import { numberSamples } from '../writing/group-numbers.ts'
import { outcomes, slime, statuses } from './slime.ts'

/** Output of slime's Sample.to_dict(): two turns with a tool result between them. */
const sample = {
  group_index: 4,
  index: 33,
  rollout_id: null,
  prompt: 'What is 2 + 3?',
  tokens: [1, 2, 3, 10, 11, 20, 21, 12],
  response: 'call result answer',
  response_length: 5,
  label: '5',
  reward: 1.0,
  loss_mask: [1, 1, 0, 0, 1],
  weight_versions: ['7', '8'],
  rollout_log_probs: [-0.5, 0.0, 0.0, -2.0, -0.25],
  status: 'completed',
  metadata: { source: 'dapo' },
  tool_iters: 1,
  spec_info: { spec_verify_ct: 0 },
}

/** The experts of two layers for all tokens but the last. */
const experts = sample.tokens.slice(1).map((token) => [
  [token, token + 1],
  [0, token + 2],
])

const read = (value: unknown): Trajectory => trajectoryOf(slime, value)
interface WrittenSample {
  readonly [key: string]: unknown
  readonly rollout_log_probs: readonly number[] | null
}
const written = (trajectory: Trajectory) => slime.write?.(trajectory) ?? { value: {}, losses: [] }
const sampleOf = (trajectory: Trajectory) => written(trajectory).value as WrittenSample
const lacked = ({ provenance }: Trajectory) => (provenance.kind === 'import' ? provenance.lacked.slice(2) : [])

describe('a slime sample', () => {
  test('becomes its prompt and a segment for each run of its mask', () => {
    const found = read(sample)
    expect(found.segments).toEqual([
      { kind: 'prompt', ids: [1, 2, 3], messages: [{ role: 'user', content: 'What is 2 + 3?' }] },
      {
        kind: 'response',
        ids: [10, 11],
        logprobs: [-0.5, 0],
        thinks: [],
        toolCalls: [],
        weightVersions: [{ version: '7', start: 0, end: 2 }],
      },
      { kind: 'prompt', ids: [20, 21], logprobs: [null, -2], messages: [] },
      {
        kind: 'response',
        ids: [12],
        logprobs: [-0.25],
        thinks: [],
        toolCalls: [],
        weightVersions: [{ version: '8', start: 0, end: 1 }],
      },
    ])
    expect(found).toMatchObject({
      reward: 1,
      group: { id: '4', index: 33 },
      outcome: { kind: 'ended', reason: 'end_turn' },
    })
    expect(lacked(found)).toEqual([
      'segments: taken from the loss mask',
      'logprobs of the first prompt',
      'logprobs of 1 tokens that are not trained: the file has 0.0 there',
    ])
    expect(decode(encode(found))).toEqual({ ok: true, trajectory: found })
  })

  test('is written again with all its fields and the segments', () => {
    const again = sampleOf(read(sample))
    expect(again).toEqual({
      ...sample,
      metadata: {
        source: 'dapo',
        rollscope: {
          segment_info: [
            [false, 3],
            [true, 2],
            [false, 2],
            [true, 1],
          ],
        },
      },
    })
    expect(read(again).foreign).toEqual(read(sample).foreign)
    expect(sampleOf(read(again))).toEqual(again)
  })

  test.each<[lengths: readonly number[], versions: readonly string[] | undefined, isLost: boolean]>([
    [[2, 1], ['7', '8'], false],
    [[1, 1, 1], ['7', '8', '9'], true],
    // Two versions would be read as those of two responses.
    [[1, 1], [], true],
    [[1], ['7'], true],
    [[], undefined, false],
  ])('whose versions sampled %j tokens has the list %j', (lengths, versions, isLost) => {
    const spans = lengths.map((length, index) => ({ version: String(index + 7), length }))
    const found = read(sample)
    const segments = found.segments.map((segment): Segment => {
      if (segment.kind === 'prompt') return segment
      const weightVersions: { version: string; start: number; end: number }[] = []
      for (let start = 0; start < segment.ids.length && spans[0]; spans.shift()) {
        weightVersions.push({ version: spans[0].version, start, end: start + spans[0].length })
        start += spans[0].length
      }
      return { ...segment, weightVersions }
    })
    const { value, losses } = written({ ...found, segments })
    expect(value).toMatchObject({ ...(versions && { weight_versions: versions }) })
    expect(losses.includes('which tokens each weight version sampled')).toBe(isLost)
  })

  test('without a mask trains the whole response; without a length its columns decide', () => {
    const { loss_mask: _, response_length: __, weight_versions: ___, ...poor } = sample
    const found = read({ ...poor, loss_mask: null, status: undefined, prompt: '' })
    expect(lossMask(found)).toEqual([0, 0, 0, 1, 1, 1, 1, 1])
    expect(lacked(found)).toContain('loss mask: the whole response counts as trained')
    expect(found.outcome).toEqual({ kind: 'ended', reason: 'unknown' })
    expect(found.segments[0]).toMatchObject({ messages: [] })
    const { rollout_log_probs: ____, ...masked } = { ...poor, loss_mask: sample.loss_mask }
    expect(logprobs(read(masked)).every((score) => score === null)).toBe(true)
    expect(lacked(read(masked))).toEqual(['segments: taken from the loss mask', 'logprobs'])
  })

  test('may consist of a prompt or a response alone', () => {
    expect(kindsAndIds(read({ tokens: [1], response_length: 0, loss_mask: [] }))).toEqual([
      { kind: 'prompt', ids: [1] },
    ])
    expect(kindsAndIds(read({ tokens: [1], response_length: 1 }))).toEqual([{ kind: 'response', ids: [1] }])
  })

  test('may have messages as prompt, a reward by parts, and no group', () => {
    const prompt = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ]
    const found = read({ ...sample, prompt, reward: { score: 1, acc: true }, group_index: null })
    expect(found.segments[0]).toMatchObject({ messages: prompt })
    expect(found.reward).toBeUndefined()
    expect(found.group).toBeUndefined()
    expect(sampleOf(found)).toMatchObject({ prompt, reward: { score: 1, acc: true }, group_index: null, index: 33 })
    expect(read({ ...sample, prompt: 7 }).segments[0]).toMatchObject({ messages: [] })
  })

  test('is split by its mask if its segments no longer match its tokens', () => {
    const stale = (segment_info: unknown) => read({ ...sample, metadata: { rollscope: { segment_info } } })
    for (const info of [
      [[false, 3]],
      [[true, 8]],
      [
        [false, 2],
        [true, 6],
      ],
      'x',
    ])
      expect(kindsAndIds(stale(info))).toEqual(kindsAndIds(read(sample)))
    expect(
      kindsAndIds(
        stale([
          [false, 3],
          [true, 5],
        ]),
      ),
    ).toHaveLength(2)
    expect(
      stale([
        [false, 3],
        [true, 5],
      ]).segments[1]?.mask,
    ).toEqual([1, 1, 0, 0, 1])
  })

  test('has a status in lower case, or as Python prints it', () => {
    for (const [status, outcome] of Object.entries(outcomes)) {
      expect(read({ ...sample, status }).outcome).toEqual(outcome)
      expect(read({ ...sample, status: `Status.${status.toUpperCase()}` }).outcome).toEqual(outcome)
    }
    const odd = read({ ...sample, status: 'constructor' })
    expect(odd.outcome).toEqual({ kind: 'ended', reason: 'unknown' })
    expect(odd.foreign?.slime).toMatchObject({ status: 'constructor' })
  })
})

describe('a wrong slime sample reports the position of', () => {
  test.each<[string, unknown, string]>([
    ['an id', { ...sample, tokens: [1.5] }, 'tokens[0]: expected a whole number, found 1.5'],
    [
      'no length',
      { tokens: [1], status: 'pending' },
      'response_length: expected the number of tokens after the initial prompt, found nothing',
    ],
    [
      'a long response',
      { ...sample, response_length: 9 },
      'response_length: expected at most 8 (the number of its tokens), found 9',
    ],
    [
      'a short mask',
      { ...sample, loss_mask: [1] },
      'loss_mask: expected 5 entries (one for each token of the response), found 1 entries',
    ],
    [
      'long logprobs',
      { ...sample, rollout_log_probs: [0, 0, 0, 0, 0, 0] },
      'rollout_log_probs: expected 5 entries (one for each token of the response), found 6 entries',
    ],
  ])('%s', (_what, value, words) => {
    const found = slime.read(value, source)
    expect(found.ok ? 'read' : violationText(found.error)).toBe(words)
  })

  test('slime format refuses a mask that alternates endlessly', () => {
    const bits = Array.from({ length: 20_002 }, (_, index) => index % 2)
    const found = slime.read({ tokens: bits, loss_mask: bits }, source)
    expect(!found.ok && violationText(found.error)).toBe('loss_mask: expected at most 10000 segments, found 20002')
  })
})

test('a slime sample without tokens and with a status that is no text has an unknown outcome', () => {
  const read = trajectoryOf(slime, { prompt: 'hi', response: 'x', status: 3 })
  expect(read).toMatchObject({ outcome: { kind: 'ended', reason: 'unknown' }, foreign: { slime: { status: 3 } } })
})

test('slime format recognises a sample by its tokens with their length, or by its response with its status', () => {
  const others = [
    { tokens: [], response_length: 0 },
    { response: 'x', status: 'failed' },
  ]
  expect([sample, ...others].filter((value) => !slime.sniff(value))).toEqual([])
  expect([{ tokens: [] }, { status: 'failed' }, [sample]].filter((value) => slime.sniff(value))).toEqual([])
})

describe('slime format', () => {
  test('keeps ids, mask, logprobs and segments after the first prompt when it writes and reads', () => {
    fc.assert(
      fc.property(trajectories, (trajectory) => {
        const { value, losses } = written(trajectory)
        const back = read(JSON.parse(JSON.stringify(value)))
        const [first] = trajectory.segments
        const from = first?.kind === 'prompt' ? first.ids.length : 0
        const mask = lossMask(trajectory)
        const scores = logprobs(trajectory).slice(from)
        const isUnscored = scores.some((score, index) => score === null && mask[from + index] === 1)
        expect(kindsAndIds(back)).toEqual(kindsAndIds(trajectory))
        expect(lossMask(back).slice(from)).toEqual(mask.slice(from))
        // 0.0 of an untrained token is slime's notation for "none".
        expect(logprobs(back).slice(from)).toEqual(
          scores.map((score, index) => (isUnscored || (score === 0 && mask[from + index] === 0) ? null : score)),
        )
        expect(losses.some((words) => /(some|of the) trained tokens/.test(words))).toBe(isUnscored)
        expect(losses.includes('loss mask of the first prompt')).toBe(mask.slice(0, from).includes(1))
      }),
    )
  })

  test('fills a sample like slime’s strands_sglang example', () => {
    const { value, losses } = written({
      ...sampleTrajectory,
      reward: 0.5,
      segments: sampleTrajectory.segments.slice(0, 3),
    })
    expect(value).toEqual({
      group_index: null,
      index: null,
      prompt: 'hi',
      label: null,
      tool_iters: 1,
      tool_calls: 2,
      tokens: [1, 3, 2, 9, 5, 6, 10, 2, 8, 7],
      response: '<think>日a1<end>\n4',
      response_length: 7,
      reward: 0.5,
      loss_mask: [1, 1, 1, 1, 1, 0, 0],
      rollout_log_probs: null,
      status: 'truncated',
      metadata: {
        rollscope: {
          segment_info: [
            [false, 3],
            [true, 5],
            [false, 2],
          ],
        },
      },
    })
    expect(losses).toMatchInlineSnapshot(`
      [
        "logprobs of the first prompt",
        "all logprobs: some trained tokens have none, and slime needs all of them or none",
        "texts of single tokens",
        "model, tokenizer, chat template and tools",
        "messages",
        "think blocks and tool calls as parsed from the text, and their results",
        "requests, finish reasons, usage and timing",
        "alternatives",
        "notes on problems",
      ]
    `)
  })

  test('writes 0.0 for an untrained token without logprob, and null for all if a trained one has none', () => {
    const scored = read({ ...sample, rollout_log_probs: [-1, -1, 0, 0, -1] })
    expect(sampleOf(scored).rollout_log_probs).toEqual([-1, -1, 0, 0, -1])
    const [prompt, first, ...rest] = scored.segments
    const unscored = { ...scored, segments: [prompt, { ...first, logprobs: [-1, null] }, ...rest] } as Trajectory
    expect(sampleOf(unscored).rollout_log_probs).toBeNull()
    expect(written(unscored).losses).toContain(
      'all logprobs: some trained tokens have none, and slime needs all of them or none',
    )
    const bare = read({ ...sample, rollout_log_probs: null })
    expect(written(bare).losses).toContain('logprobs: none of the trained tokens has one')
  })

  test('writes the known text of the response, otherwise that of the file', () => {
    const bare = read(sample)
    expect(sampleOf(bare).response).toBe('call result answer')
    const { foreign: _, ...alone } = bare
    expect(sampleOf(alone).response).toBe('')
    expect(written(alone).losses).toContain('text of the response: no tokenizer was named')
    const withTexts = { ...bare, vocab: Object.fromEntries(ids(bare).map((id) => [id, `t${id} `])) }
    expect(sampleOf(withTexts).response).toBe('t10 t11 t20 t21 t12 ')
  })

  test('writes the question, in parts or as one text', () => {
    const [prompt, ...rest] = sampleTrajectory.segments
    const asked = (content: unknown) =>
      sampleOf({
        ...sampleTrajectory,
        segments: [{ ...prompt, messages: [{ role: 'user', content }] }, ...rest],
      } as Trajectory).prompt
    expect([asked('one'), asked([{ type: 'text', text: 'two' }, { type: 'image' }])]).toEqual(['one', 'two'])
    expect(sampleOf({ ...sampleTrajectory, segments: rest }).prompt).toBe('')
  })
})

test('A rollout dump that slime wrote has its segments, versions, experts and rollouts, and is written with the same columns', () => {
  const records = foreignRecords('slime-rollout-data.jsonl') as readonly WrittenSample[]
  const opened = records.map(read)
  expect(opened.map(({ group, reward }) => [group, reward])).toEqual([
    [{ id: '0', index: 0 }, 0],
    [{ id: '0', index: 1 }, 1],
    [{ id: '0', index: 1 }, 2],
  ])
  for (const [at, trajectory] of opened.entries()) {
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'truncated' })
    expect(trajectory.segments).toMatchObject([
      { ids: [1, 2, 3], messages: [{ role: 'user', content: 'What is 25 * 17?' }] },
      { ids: [10, 11], logprobs: [-0.5, -0.25], weightVersions: [{ version: '7' }], routedExperts: { start: 0 } },
      { ids: [20] },
      { ids: [12], logprobs: [-0.75], weightVersions: [{ version: '8' }] },
    ])
    const { metadata: _, rollout_id: rollout, ...original } = records[at] as WrittenSample
    const numbers = numberSamples(opened.map(({ group }) => group))
    expect(slime.write?.(trajectory, numbers[at]).value).toMatchObject({ ...original, rollout_id: rollout })
  }
})

describe('slime group', () => {
  const samples = ['0a5e', '0a5e', '17'].map((id, index) => ({ ...sampleTrajectory, group: { id, index } }))

  test('has a group_index in its own file, and the loss of its id is reported', () => {
    const { value, losses } = written({ ...sampleTrajectory, group: { id: '0a5e', index: 2 } })
    expect(value).toMatchObject({ group_index: 0, index: 2 })
    expect(losses).toContain('id of the group: the file has a number instead')
    expect(losses).not.toContain('group')
  })

  test('has one group_index for all its samples in a file of several groups, which a file keeps when it is read back', () => {
    const numbers = numberSamples(samples.map(({ group }) => group))
    const values = samples.map((one, at) => slime.write?.(one, numbers[at]).value as WrittenSample)
    expect(values.map(({ group_index, index }) => [group_index, index])).toEqual([
      [0, 3],
      [0, 4],
      [17, 2],
    ])
    const back = values.map(read)
    const again = numberSamples(back.map(({ group }) => group))
    expect(back.map((one, at) => slime.write?.(one, again[at]).value)).toEqual(values)
    expect(slime.write?.(back[0] as Trajectory, again[0]).losses.filter((words) => words.includes('group'))).toEqual([])
  })

  test('is null for a sample without group', () => {
    expect(sampleOf(sampleTrajectory)).toMatchObject({ group_index: null, index: null })
  })

  test('has the paths of one rollout under one rollout_id, which counts it once when the file is read back', () => {
    const paths = [0, 1, 1, 2].map((index) => ({ ...sampleTrajectory, group: { id: 'g', index } }))
    const numbers = numberSamples(paths.map(({ group }) => group))
    const values = paths.map((one, at) => slime.write?.(one, numbers[at]).value as WrittenSample)
    expect(values.map(({ index, rollout_id }) => [index, rollout_id])).toEqual([
      [0, null],
      [1, 1],
      [3, 1],
      [2, null],
    ])
    expect(values.map((value) => read(value).group?.index)).toEqual([0, 1, 1, 2])
  })

  test('has no rollout_id of another file: two files number their rollouts independently', () => {
    const opened = { ...read({ ...sample, rollout_id: 0, response: 'a' }) }
    expect(opened.group).toEqual({ id: '4', index: 0 })
    const numbers = numberSamples(['a', 'b'].map((name) => opened.group && { ...opened.group, name }))
    const values = numbers.map((one) => slime.write?.(opened, one).value as WrittenSample)
    expect(values.map(({ group_index, index, rollout_id }) => [group_index, index, rollout_id])).toEqual([
      [4, 0, null],
      [0, 1, null],
    ])
  })
})

describe('slime status', () => {
  const outcomeNamed = (name: string): Outcome =>
    name === 'running'
      ? { kind: 'running' }
      : name === 'failed'
        ? { kind: 'failed', code: 'X', message: 'x' }
        : { kind: 'ended', reason: name as OutcomeReason }

  test.each(Object.entries(statuses))('of %s is %s', (name, status) => {
    const { value, losses } = written({ ...sampleTrajectory, outcome: outcomeNamed(name) })
    expect((value as WrittenSample).status).toBe(status)
    expect(losses.includes('outcome: written as truncated')).toBe(!['end_turn', 'truncated', 'length'].includes(name))
  })

  test('is documented in docs/formats.md', () => {
    const text = readFileSync('docs/formats.md', 'utf8')
    const rows = Array.from(text.matchAll(/^\| `(\w+)` \| (COMPLETED|TRUNCATED) \|/gm), ([, name, status]) => [
      name,
      status?.toLowerCase(),
    ])
    expect(Object.fromEntries(rows)).toEqual(statuses)
    const back = Array.from(text.matchAll(/^\| ([A-Z]+) \| `(\w+)` \|/gm), ([, status, name]) => [
      status?.toLowerCase(),
      name,
    ])
    expect(Object.fromEntries(back)).toEqual(
      Object.fromEntries(
        Object.entries(outcomes).map(([status, outcome]) => [
          status,
          outcome.kind === 'ended' ? outcome.reason : outcome.kind,
        ]),
      ),
    )
  })
})

test('routed experts of a slime sample belong to the responses, and others stay as they are in the file', () => {
  const routed = { ...sample, rollout_routed_experts: experts }
  const trajectory = read(routed)
  expect(
    trajectory.segments.flatMap((segment) => ('routedExperts' in segment ? [segment.routedExperts] : [])),
  ).toHaveLength(2)
  expect(trajectory.foreign?.slime).not.toHaveProperty('rollout_routed_experts')
  expect(sampleOf(trajectory).rollout_routed_experts).toEqual(experts)
  const short = read({ ...sample, rollout_routed_experts: experts.slice(1) })
  expect(short.segments.some((segment) => 'routedExperts' in segment)).toBe(false)
  expect(sampleOf(short).rollout_routed_experts).toEqual(experts.slice(1))
  const only = { tokens: [1, 2], response_length: 1, loss_mask: [1], rollout_routed_experts: [[[3, 4]]] }
  expect(read(only).foreign).toBeUndefined()
})
