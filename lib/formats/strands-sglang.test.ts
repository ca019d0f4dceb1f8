import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parsePythonJson } from '#lib/json/python-json.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { kindsAndIds, source, trajectories } from '#testing/trajectories.ts'
import { openText } from './reading/open.ts'
import { openEach } from './reading/open-each.ts'
import { strandsSglang } from './strands-sglang.ts'
import { trajectoryOf } from './test-trajectories.ts'

const read = (value: unknown): Trajectory => trajectoryOf(strandsSglang, value)
const written = (trajectory: Trajectory) => strandsSglang.write?.(trajectory) ?? { value: {}, losses: [] }
const kinds = ({ segments }: Trajectory) => segments.map(({ kind, ids }) => [kind === 'response', ids.length])
const lacked = ({ provenance }: Trajectory) => (provenance.kind === 'import' ? provenance.lacked.slice(2) : [])

interface Expected {
  readonly ids: readonly number[]
  readonly mask: readonly number[]
  readonly logprobs: readonly (number | string | null)[]
  readonly segments: readonly (readonly [boolean, number])[]
}

interface Golden {
  readonly cases: readonly (Expected & { readonly name: string; readonly text: string })[]
  /** Files with the `rollout_history` of a model, and its rollouts in order. */
  readonly histories: readonly {
    readonly name: string
    readonly text: string
    readonly rollouts: readonly Expected[]
  }[]
}
const golden = JSON.parse(readFileSync('lib/formats/golden/golden.json', 'utf8')) as Golden

describe('strands-sglang record of its own classes', () => {
  test('exists in many examples', () => {
    expect(golden.cases.length).toBeGreaterThanOrEqual(20)
  })

  test.each(golden.cases)('$name', ({ text, ids: wanted, mask, logprobs: scores, segments }) => {
    const value = parsePythonJson(text)
    expect(strandsSglang.sniff(value)).toBe(true)
    const trajectory = read(value)
    expect(ids(trajectory)).toEqual(wanted)
    expect(lossMask(trajectory)).toEqual(mask)
    expect(logprobs(trajectory)).toEqual(
      scores.map((score) => (typeof score === 'string' ? null : score === 0 ? 0 : score)),
    )
    expect(kinds(trajectory)).toEqual(segments)
    expect(trajectory.segments.flatMap(({ problems = [] }) => problems).length).toBe(
      scores.filter((score) => typeof score === 'string').length,
    )
    expect(decode(encode(trajectory))).toEqual({ ok: true, trajectory })
  })

  test('keeps its additional fields', () => {
    const routed = golden.cases.find(({ name }) => name === 'routed experts and images')
    const { routedExperts, imageData } = read(JSON.parse(routed?.text ?? ''))
    expect([routedExperts?.length, imageData]).toEqual([3, ['data:image/png;base64,iVBORw0KGgo=']])
    expect(JSON.stringify(written(read(JSON.parse(routed?.text ?? ''))).value)).toBe(
      JSON.stringify(JSON.parse(routed?.text ?? '')),
    )
  })
})

test('slices of routed experts that have the rows of their turns belong to the responses, and are written unchanged', () => {
  const slice = (rows: number) =>
    Buffer.from(Int32Array.from({ length: 2 * rows }, (_, n) => n).buffer).toString('base64')
  const rollout = {
    token_ids: [1, 2, 3, 4, 5, 6],
    loss_mask: [0, 0, 1, 1, 0, 1],
    logprobs: [null, null, -1, -1, null, -1],
    routed_experts: [slice(3), slice(2)],
    image_data: [],
    segment_info: [
      [false, 2],
      [true, 2],
      [false, 1],
      [true, 1],
    ],
  }
  const trajectory = read(rollout)
  expect(trajectory.routedExperts).toBeUndefined()
  expect(trajectory.segments).toMatchObject([{}, { routedExperts: { start: 0 } }, {}, { routedExperts: { start: 3 } }])
  expect(written(trajectory).value).toEqual(rollout)
})

describe('the rollout_history of a strands-sglang model', () => {
  const columnsOf = (trajectory: Trajectory) => ({
    ids: ids(trajectory),
    mask: lossMask(trajectory),
    logprobs: logprobs(trajectory),
    segments: kinds(trajectory),
  })
  const withZeros = ({ logprobs: scores, ...rest }: Expected) => ({
    ...rest,
    logprobs: scores.map((score) => (score === 0 ? 0 : score)),
  })

  test.each(golden.histories)('$name: each rollout opens as a trajectory, in order', async ({ text, rollouts }) => {
    const opened = openText(text, source)
    if (!opened.ok) throw new Error(opened.error.message)
    expect(opened.trajectories.map(columnsOf)).toEqual(rollouts.map(withZeros))
    const slices = ({ routedExperts, segments }: Trajectory): number =>
      routedExperts?.length ?? segments.filter((segment) => 'routedExperts' in segment).length
    expect(opened.trajectories.map(slices)).toEqual(
      rollouts.map(({ segments }) => segments.filter(([isOutput]) => isOutput).length),
    )
    const each = await Array.fromAsync(openEach(piecesOf(text), source))
    expect(each.map((found) => found.ok && columnsOf(found.trajectory))).toEqual(rollouts.map(withZeros))
  })

  async function* piecesOf(text: string) {
    yield Buffer.from(text)
  }

  const textOf = (name: string) => golden.histories.find((history) => history.name === name)?.text ?? ''
  const opened = (text: string) => {
    const found = openText(text, source)
    return found.ok ? found.trajectories : [found.error.message]
  }

  test('fields next to the rollouts of a strands-sglang model belong to its last one', () => {
    const beside = { reward: 0.5, foreign: { 'strands-sglang': { task: { id: 7 } } } }
    const [first, second, current] = opened(textOf('a model: rollout and rollout_history'))
    expect([first, second]).not.toContainEqual(expect.objectContaining({ reward: 0.5 }))
    expect(current).toMatchObject(beside)
    expect(opened(textOf('rollout_history with other things')).at(-1)).toMatchObject(beside)
  })

  test('a wrong rollout of the history reports its position', () => {
    const wrong = { token_ids: [1, 'x'] }
    const right = { token_ids: [1] }
    const failed = (value: object) => {
      const found = openText(JSON.stringify(value), source)
      return found.ok ? found.failed.map(({ message }) => message) : [found.error.message]
    }
    expect(failed({ rollout: right, rollout_history: [right, wrong] })).toEqual([
      'rollout_history[1].token_ids[1]: expected a number, found "x"',
    ])
    expect(failed([right, { note: 1, rollout_history: [wrong] }])).toEqual([
      '[1].rollout_history[0].token_ids[1]: expected a number, found "x"',
    ])
    expect(failed({ rollout_history: [right, 7] })).toEqual([expect.stringMatching(/^rollout_history\[1\]: /)])
    expect(failed({ rollout_history: [] })).toEqual([expect.stringContaining('expected a trajectory')])
  })
})

describe('older strands-sglang dumps', () => {
  const flat = { token_ids: [1, 2, 3, 4, 5, 6], logprobs: [null, null, -1, -2, null, -3] }
  const loss_mask = [0, 0, 1, 1, 0, 1]

  test('with the length of the first prompt are split after it where the mask changes', () => {
    const found = read({ ...flat, loss_mask, initial_prompt_length: 1 })
    expect(kinds(found)).toEqual([
      [false, 1],
      [false, 1],
      [true, 2],
      [false, 1],
      [true, 1],
    ])
    expect(lacked(found)).toContain('segments: taken from the loss mask')
  })

  test('with the tokens of the first prompt are split after them', () => {
    expect(kinds(read({ ...flat, loss_mask, initial_prompt: [{ token_id: 1 }, { token_id: 2 }] }))[0]).toEqual([
      false,
      2,
    ])
  })

  test('without a mask have one response; without a length they are all prompt', () => {
    expect(kinds(read({ ...flat, initial_prompt_length: 2 }))).toEqual([
      [false, 2],
      [true, 4],
    ])
    expect(kinds(read({ ...flat, initial_prompt_length: 6 }))).toEqual([[false, 6]])
    const bare = read({ token_ids: [1, 2] })
    expect(kinds(bare)).toEqual([[false, 2]])
    expect(lacked(bare)).toEqual([
      'messages',
      'outcome',
      'logprobs',
      'loss mask: taken from the segments',
      'segments: taken from the loss mask',
    ])
  })

  test('with only a mask are split by it', () => {
    expect(kinds(read({ ...flat, loss_mask }))).toEqual([
      [false, 2],
      [true, 2],
      [false, 1],
      [true, 1],
    ])
  })

  test('with tokens without a mask are read', () => {
    const found = read({ tokens: [{ token_id: 7 }, { token_id: 8, logprob: -1 }] })
    expect([ids(found), logprobs(found), lossMask(found)]).toEqual([
      [7, 8],
      [null, -1],
      [0, 0],
    ])
    expect(kinds(read({ segments: [[{ token_id: 7 }], []] }))).toEqual([
      [false, 1],
      [false, 0],
    ])
  })

  test('with a mask that contradicts the segments keep it and report it', () => {
    const { segments } = read({
      ...flat,
      loss_mask: [0, 1, 1, 1, 0, 0],
      segment_info: [
        [false, 2],
        [1, 2],
        [0, 1],
        [true, 1],
      ],
    })
    expect(segments.map(({ mask }) => mask)).toEqual([[0, 1], undefined, undefined, [0]])
    expect(segments.flatMap(({ problems = [] }) => problems)).toEqual([
      {
        kind: 'mask',
        column: 'mask',
        message: 'The loss mask of 1 of 2 tokens differs from the mask of a prompt; it is kept.',
      },
      {
        kind: 'mask',
        column: 'mask',
        message: 'The loss mask of 1 of 1 tokens differs from the mask of a response; it is kept.',
      },
    ])
  })

  test('with numbers that JSON cannot represent have unknown values and a problem with the original', () => {
    const { segments } = read({ token_ids: [1, 2, 3, 4], logprobs: ['NaN', -3.4028234663852886e38, '-Infinity', -1] })
    expect(segments[0]?.logprobs).toEqual([null, null, null, -1])
    expect(segments[0]?.problems?.map(({ index, raw }) => [index, raw])).toEqual([
      [0, 'NaN'],
      [1, '-3.4028234663852886e+38'],
      [2, '-Infinity'],
    ])
  })
})

describe('fields around a strands-sglang record', () => {
  const rollout = {
    token_ids: [1, 2, 3],
    loss_mask: [0, 1, 0],
    logprobs: [null, -1, null],
    segment_info: [
      [false, 1],
      [true, 1],
      [false, 1],
    ],
  }
  const messages = [
    { role: 'user', content: [{ text: 'what ' }, { text: 'is it?' }] },
    { role: 'assistant', content: [{ text: 'x' }] },
    { role: 'user', content: [{ toolResult: { toolUseId: 't1', status: 'success', content: [{ text: '4' }] } }] },
  ]

  test('assign messages to their prompts and the reward, and keep the rest', () => {
    const found = read({
      task: 7,
      rollout: { ...rollout, extra: { __proto__: 1, deep: [NaN] } },
      messages,
      reward: 0.5,
    })
    expect(found.segments.map((segment) => (segment.kind === 'prompt' ? segment.messages : []))).toEqual([
      [{ role: 'user', content: 'what is it?' }],
      [],
      [{ role: 'tool', callId: 't1', content: '4' }],
    ])
    expect(found.reward).toBe(0.5)
    expect(found.foreign).toEqual({ 'strands-sglang': { task: 7, rollout: { extra: { deep: ['NaN'] } } } })
    expect(lacked(found)).toEqual(['outcome'])
  })

  test('keep messages that do not match the prompts', () => {
    const found = read({ rollout, messages: messages.slice(0, 1) })
    expect(found.foreign).toEqual({ 'strands-sglang': { messages: messages.slice(0, 1) } })
    expect(read({ rollout }).foreign).toBeUndefined()
    expect(read({ ...rollout, note: 'mine', reward: NaN })).toMatchObject({
      reward: null,
      problems: [{ kind: 'number', column: 'reward', raw: 'NaN' }],
      foreign: { 'strands-sglang': { note: 'mine' } },
    })
  })
})

describe('a wrong strands-sglang record reports the position of', () => {
  test.each<[string, unknown, string]>([
    ['an id', { token_ids: [1, '2'] }, 'token_ids[1]: expected a number, found "2"'],
    ['a bit', { token_ids: [1], loss_mask: [2] }, 'loss_mask[0]: expected 0, 1, true or false, found 2'],
    ['a logprob', { token_ids: [1], logprobs: ['x'] }, 'logprobs[0]: expected a number or null, found "x"'],
    [
      'a short column',
      { token_ids: [1, 2], logprobs: [null] },
      'logprobs: expected 2 entries (one for each token), found 1 entries',
    ],
    ['segments', { token_ids: [1, 2], segment_info: [[false, 1]] }, 'segment_info: expected 2 tokens in all, found 1'],
    [
      'segments of tokens',
      { token_ids: [1, 2], segments: [[{ token_id: 1 }]] },
      'segments: expected 2 tokens in all, found 1',
    ],
    ['no segments', { token_ids: [1, 2], segment_info: [] }, 'segment_info: expected 2 tokens in all, found 0'],
    [
      'a long prompt',
      { token_ids: [1], initial_prompt_length: 2 },
      'initial_prompt_length: expected 1 tokens in all, found 2',
    ],
    [
      'ids that are others as tokens of segments',
      { token_ids: [1, 2], segments: [[{ token_id: 1 }], [{ token_id: 9 }]] },
      'segments[1]: expected 2, as in token_ids, found 9',
    ],
    [
      'fewer ids as tokens',
      { token_ids: [1, 2], tokens: [{ token_id: 1 }] },
      'tokens[1]: expected 2, as in token_ids, found nothing',
    ],
    [
      'two loss masks',
      { token_ids: [1, 2], loss_mask: [0, 1], output_mask: [false, false] },
      'output_mask[1]: expected 1, as in loss_mask, found 0',
    ],
    [
      'a loss mask that its tokens contradict',
      { token_ids: [1], loss_mask: [0], tokens: [{ token_id: 1, loss_mask: 1 }] },
      'tokens[0]: expected 0, as in loss_mask, found 1',
    ],
    [
      'logprobs that its tokens contradict',
      { token_ids: [1], logprobs: [-1], tokens: [{ token_id: 1, logprob: -2 }] },
      'tokens[0]: expected -1, as in logprobs, found -2',
    ],
    [
      'another initial prompt',
      { token_ids: [1, 2], initial_prompt: [{ token_id: 7 }] },
      'initial_prompt[0]: expected 1, as in token_ids, found 7',
    ],
    [
      'an initial prompt of other tokens',
      { tokens: [{ token_id: 1 }, { token_id: 2 }], initial_prompt: [{ token_id: 7 }] },
      'initial_prompt[0]: expected 1, as in token_ids, found 7',
    ],
    [
      'an initial prompt of other length than the first segment',
      {
        token_ids: [1, 2],
        segment_info: [
          [false, 1],
          [true, 1],
        ],
        initial_prompt_length: 2,
      },
      'initial_prompt_length[0]: expected 1, as in segment_info, found 2',
    ],
    [
      'a record under a key with a space',
      { 'a b': { token_ids: [-1] } },
      '["a b"].token_ids[0]: expected at least 0, found -1',
    ],
    ['a record under a key', { rollout: { token_ids: [-1] } }, 'rollout.token_ids[0]: expected at least 0, found -1'],
  ])('%s', (_what, value, words) => {
    const found = strandsSglang.read(value, source)
    expect(found.ok ? 'read' : violationText(found.error)).toBe(words)
  })

  test('strands-sglang format reads duplicate columns that agree once', () => {
    const tokens = [
      { token_id: 1, loss_mask: 0, logprob: null },
      { token_id: 2, loss_mask: true, logprob: -0 },
    ]
    const twice = {
      token_ids: [1, 2],
      loss_mask: [false, 1],
      logprobs: [null, 0],
      tokens,
      initial_prompt: tokens.slice(0, 1),
    }
    const found = strandsSglang.read({ ...twice, segments: tokens.map((token) => [token]) }, source)
    expect(found.ok && found.trajectories.flatMap(kindsAndIds)).toEqual([
      { kind: 'prompt', ids: [1] },
      { kind: 'response', ids: [2] },
    ])
  })

  test('strands-sglang format refuses a mask that alternates endlessly', () => {
    const bits = Array.from({ length: 20_002 }, (_, index) => index % 2)
    const found = strandsSglang.read({ token_ids: bits, loss_mask: bits }, source)
    expect(!found.ok && violationText(found.error)).toBe('loss_mask: expected at most 10000 segments, found 20002')
    const listed = strandsSglang.read({ token_ids: bits, segment_info: bits.map(() => [false, 1]) }, source)
    expect(!listed.ok && listed.error.path).toBe('segment_info')
  })
})

test.each<[unknown, boolean]>([
  [{ token_ids: [] }, true],
  [{ tokens: [1, 2] }, false],
  [{ segments: [[1]] }, false],
  [{ samples: [] }, false],
  [[{ token_ids: [] }], false],
  [null, false],
])('strands-sglang format recognises %j: %j', (value, is) => {
  expect(strandsSglang.sniff(value)).toBe(is)
})

describe('writing a strands-sglang record', () => {
  test('and reading it keeps ids, mask, logprobs and segments', () => {
    fc.assert(
      fc.property(trajectories, (trajectory) => {
        const back = read(JSON.parse(JSON.stringify(written(trajectory).value)))
        expect(kindsAndIds(back)).toEqual(kindsAndIds(trajectory))
        expect(lossMask(back)).toEqual(lossMask(trajectory))
        expect(logprobs(back)).toEqual(logprobs(trajectory))
      }),
    )
  })

  test('reports what is lost', () => {
    expect(written(sample).losses).toMatchInlineSnapshot(`
      [
        "texts of single tokens",
        "model, tokenizer, chat template and tools",
        "messages",
        "think blocks and tool calls as parsed from the text, and their results",
        "requests, finish reasons, usage and timing",
        "alternatives",
        "further columns",
        "notes on problems",
        "outcome",
      ]
    `)
    expect(written(read({ token_ids: [1], extra: 1 })).losses).toMatchInlineSnapshot(`
      [
        "further fields of the strands-sglang file",
      ]
    `)
  })
})
