/** The traces were written by verifiers, and verifiers.json by verifiers' own classes (golden/make_verifiers.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { compareTrajectories } from '#lib/trajectory/drift/compare.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { kindsAndIds, numberedSource } from '#testing/trajectories.ts'
import { trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { verifiersTrace } from './verifiers-trace.ts'

interface GoldenSample {
  readonly ids: readonly number[]
  readonly mask: readonly number[]
  readonly logprobs: readonly number[]
  readonly reward: number
  readonly group: string
  readonly finish: readonly string[]
}
const golden: { readonly shared: readonly number[]; readonly samples: readonly (readonly GoldenSample[])[] } =
  JSON.parse(readFileSync('lib/formats/golden/verifiers.json', 'utf8'))
const lines: readonly object[] = readFileSync('lib/formats/golden/foreign/verifiers-traces.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('A file of verifiers traces', () => {
  const source = numberedSource()
  const read = lines.map((line) => trajectoriesOf(verifiersTrace, line, source))

  test('has the ids, masks, logprobs, rewards and groups of the training samples that verifiers makes of it', () => {
    const samples = read.map((trajectories) =>
      trajectories.map((trajectory) => ({
        ids: ids(trajectory),
        mask: lossMask(trajectory),
        logprobs: logprobs(trajectory).map((logprob) => logprob ?? 0),
        reward: trajectory.reward,
        group: trajectory.group?.id,
      })),
    )
    // -0 equals 0.
    expect(samples).toEqual(
      golden.samples.map((each) =>
        each.map(({ finish: _, ...sample }) => ({
          ...sample,
          logprobs: sample.logprobs.map((logprob) => (logprob === 0 ? 0 : logprob)),
        })),
      ),
    )
  })

  test('gives both paths of a trace the index of their rollout in its group', () => {
    expect(read.map((each) => each.map(({ group }) => group?.index))).toEqual([
      [0, 0],
      [1, 1],
      [0, 0],
      [1, 1],
    ])
  })

  test('names where the second path leaves the first: a message that was sampled and encoded again', () => {
    expect(read.map((each) => each.map(({ forkedFrom }) => forkedFrom))).toEqual(
      golden.shared.map((token, line) => [
        undefined,
        { trajectory: read[line]?.[0]?.id, token, kind: 'rendered_again' },
      ]),
    )
    // The message begins at token 147, and its first difference is at its token 20.
    expect(golden.shared[0]).toBe(167)
  })

  test('has messages, tools, calls and what it lacks', () => {
    expect(read[0]?.[1]).toMatchObject({
      createdAt: '2026-11-22T22:30:41.876Z',
      model: { name: 'tiny', tools: [{ name: 'calc_toolset_calculator' }] },
      segments: [
        { messages: [{ role: 'user' }, { role: 'assistant', toolCalls: [{ name: 'calculator' }] }, { role: 'tool' }] },
        {
          message: { role: 'assistant', content: '\n\nThe result of 8 + 13 is Kingstonror.' },
          finish: { kind: 'stop' },
          usage: { promptTokens: 213, completionTokens: 26 },
          timing: { startedAt: '2026-11-22T22:31:26.157Z' },
        },
      ],
      outcome: { kind: 'ended', reason: 'end_turn' },
      provenance: { missing: ['texts', 'logprob_values', 'special_tokens'] },
      columnMeanings: { logprobs: { quantity: 'logprob', model: 'rollout', temperature: 1 } },
    })
    expect(read[0]?.[0]?.outcome).toEqual({ kind: 'ended', reason: 'unknown' })
  })

  test('has a drift with kind and token when both paths are compared', () => {
    const { tokenizer } = loadedTokenizer(tokenizerFolder('tiny-qwen3'))
    const [first, second] = (read[0] ?? []).map((trajectory) => withTexts(trajectory, tokenizer.bytes))
    if (!first || !second) throw new Error('the trace has two paths')
    const [drift] = compareTrajectories(first, second).report.spans
    expect(drift).toMatchObject({ kind: 'separator', left: { start: 167, end: 167 }, right: { start: 167, end: 168 } })
  })
})

/** The model that wrote the file has a similar tokenizer: in its, id 453 is two line breaks. */
function withTexts(trajectory: Trajectory, bytes: (id: number) => Uint8Array): Trajectory {
  const texts = ids(trajectory).map((id) => [id, new TextDecoder().decode(bytes(id))] as const)
  const tokenizer = { name: 'tiny', specialIds: [1, 2, 3, 4, 5, 6, 7], endOfTurnId: 2 }
  return {
    ...trajectory,
    model: { ...trajectory.model, tokenizer },
    vocab: { ...Object.fromEntries(texts), 453: '\n\n' },
  }
}

const user = { message: { role: 'user', content: 'hi' }, token_ids: [1, 2], mask: [false, false], logprobs: [] }
const assistant = { message: { role: 'assistant', content: 'a' }, sampled: true, parent: 0 }
const reply = { ...assistant, token_ids: [3, 4, 5], mask: [false, true, true], logprobs: [-1, -2] }
const trace = (nodes: readonly object[], more: object = {}) => ({
  verifiers: { version: '0.4.0' },
  nodes,
  ...more,
})

describe('A verifiers trace', () => {
  test('alone is the same as in a list of traces', () => {
    const alone = trace([user, reply])
    expect(trajectoriesOf(verifiersTrace, { traces: [alone, alone] }).map(kindsAndIds)).toEqual(
      Array(2).fill(kindsAndIds(trajectoryOf(verifiersTrace, alone))),
    )
  })

  test('has columns for the numbers of sampled tokens and for loss weights', () => {
    const numbers = {
      advantages: [1, 2],
      reference_logprobs: [-1, -3],
      trainer_logprobs: [-1, -2.5],
      entropies: [0.5, 0.25],
      loss_weights: { echo: [0, 1, 1] },
    }
    const read = trajectoryOf(verifiersTrace, trace([user, { ...reply, ...numbers }]))
    expect(read.segments[1]).toMatchObject({
      columns: {
        advantage: [1, 2],
        referenceLogprobs: [-1, -3],
        trainerLogprobs: [-1, -2.5],
        entropy: [0.5, 0.25],
        'lossWeight.echo': [1, 1],
      },
    })
    expect(read.columnMeanings).toMatchObject({
      advantage: { quantity: 'advantage', source: 'nodes[].advantages' },
      referenceLogprobs: { quantity: 'logprob', model: 'reference' },
      trainerLogprobs: { quantity: 'logprob', model: 'trainer' },
      entropy: { quantity: 'entropy', model: 'trainer' },
      'lossWeight.echo': { source: 'nodes[].loss_weights.echo' },
    })
  })

  test('without a version, and with messages that cannot be read and no logprobs, opens too', () => {
    const odd = { message: { role: 'robot' }, token_ids: [1] }
    const nodes = [odd, { ...reply, logprobs: [] }]
    expect(verifiersTrace.sniff({ nodes })).toBe(true)
    const read = trajectoryOf(verifiersTrace, { nodes })
    expect(read.segments[0]).toMatchObject({ ids: [1, 3], messages: [] })
    expect(logprobs(read)).toEqual([null, null, null, null])
  })

  test('gives untrained tokens after a reply to the next prompt', () => {
    const closed = { ...reply, token_ids: [3, 4, 5, 6], mask: [false, true, true, false] }
    const tool = {
      parent: 1,
      message: { role: 'tool', tool_call_id: 'c', content: 'r' },
      token_ids: [7],
      mask: [false],
    }
    const read = trajectoryOf(verifiersTrace, trace([user, closed, tool]))
    expect(kindsAndIds(read)).toEqual([
      { kind: 'prompt', ids: [1, 2, 3] },
      { kind: 'response', ids: [4, 5] },
      { kind: 'prompt', ids: [6, 7] },
    ])
    expect(read.segments[2]).toMatchObject({ messages: [{ role: 'tool', callId: 'c', content: 'r' }] })
  })

  test('without token ids has its messages, and the ids are missing', () => {
    const read = trajectoryOf(verifiersTrace, trace([{ message: user.message }, assistant]))
    expect(read.segments).toMatchObject([
      { kind: 'prompt', ids: [], messages: [{ role: 'user', content: 'hi' }] },
      { kind: 'response', ids: [], message: { content: 'a' } },
    ])
    expect(read.provenance).toMatchObject({ missing: expect.arrayContaining(['ids']) })
  })

  test.each([
    ['sampled_again', { ...reply, token_ids: [3, 9], mask: [false, true], logprobs: [-1] }, 3],
    ['message', { parent: 0, message: { role: 'user', content: 'other' }, token_ids: [8], mask: [false] }, 2],
    ['rendered_again', { ...reply, sampled: false, token_ids: [3, 4], mask: [false, false], logprobs: [] }, 4],
  ])('with two paths has a fork of kind %s', (kind, node, token) => {
    const [first, second] = trajectoriesOf(verifiersTrace, trace([user, reply, node]), numberedSource())
    expect(second?.forkedFrom).toEqual({ trajectory: first?.id, token, kind })
  })

  test('with two results of one call has a fork of kind tool_result', () => {
    const result = (id: number) => ({ parent: 1, message: { role: 'tool', content: String(id) }, token_ids: [id] })
    const [, second] = trajectoriesOf(verifiersTrace, trace([user, reply, result(6), result(7)]), numberedSource())
    expect(second?.forkedFrom).toMatchObject({ token: 5, kind: 'tool_result' })
  })

  test('with two roots has two trajectories without a fork', () => {
    const read = trajectoriesOf(verifiersTrace, trace([user, user]), numberedSource())
    expect(read.map(({ forkedFrom }) => forkedFrom)).toEqual([undefined, undefined])
  })

  test('says that a summary is not trained from which the agent did not continue', () => {
    const summary = { ...reply, semantic_parents: [{ node: 0, type: 'compaction_attempt' }] }
    const used = { ...user, semantic_parents: [{ node: 1, type: 'compaction' }] }
    expect(trajectoryOf(verifiersTrace, trace([user, summary])).problems).toMatchObject([
      { kind: 'file', message: expect.stringContaining('does not train this path') },
    ])
    expect(trajectoriesOf(verifiersTrace, trace([user, summary, used])).map(({ problems }) => problems)).toEqual([
      undefined,
      undefined,
    ])
  })

  test('has the weighted sum of its rewards, and no reward if nothing was scored', () => {
    const rewards = { a: { score: 1, weight: 0.5 }, b: { score: 2 }, c: null }
    expect(trajectoryOf(verifiersTrace, trace([user], { rewards })).reward).toBe(2.5)
    expect(trajectoryOf(verifiersTrace, trace([user], { rewards: { c: null } }))).not.toHaveProperty('reward')
  })

  test.each([
    [{ errors: [{ type: 'ToolError', message: 'no' }] }, { kind: 'failed', code: 'ToolError', message: 'no' }],
    [
      { errors: [{}] },
      { kind: 'failed', code: 'VERIFIERS_ERROR', message: 'The trace has an error without a message.' },
    ],
    [{ calls: [{ node: 1, finish_reason: 'length' }] }, { kind: 'ended', reason: 'length' }],
    [{ is_timeout: true }, { kind: 'ended', reason: 'truncated' }],
    [
      { stop_condition: 'max_turns', is_completed: true },
      { kind: 'ended', reason: 'truncated' },
    ],
    [{ is_completed: true }, { kind: 'ended', reason: 'end_turn' }],
    [{}, { kind: 'ended', reason: 'unknown' }],
  ])('with %j has the outcome %j', (more, outcome) => {
    expect(trajectoryOf(verifiersTrace, trace([user, reply], more)).outcome).toEqual(outcome)
  })

  test('keeps an unknown finish reason, and names the model of its calls', () => {
    const calls = [{ node: 1, model: 'm', finish_reason: 'content_filter', usage: {}, time: { start: 1e300, end: 0 } }]
    const read = trajectoryOf(verifiersTrace, trace([user, reply], { calls, timing: { start: 'x' } }))
    expect(read).toMatchObject({
      model: { name: 'm' },
      segments: [{}, { finish: { kind: 'unknown', raw: 'content_filter' }, usage: {} }],
    })
    expect(read.segments[1]).not.toHaveProperty('timing')
  })

  test.each([
    [[user, { ...reply, parent: 1 }], 'nodes[1].parent: expected the number of an earlier node, found 1'],
    [[user, { ...reply, mask: [true] }], 'nodes[1].mask: expected 3 entries (one for each token of the node), found 1'],
    [
      [user, { ...reply, logprobs: [-1, -2, -3] }],
      'nodes[1].logprobs: expected 2 entries (one for each token that the mask of the node marks), found 3',
    ],
    [[user, { ...reply, advantages: [1] }], 'nodes[1].advantages: expected 2 entries'],
    [[user, { ...reply, loss_weights: { echo: [1] } }], 'nodes[1].loss_weights.echo: expected 3 entries'],
    [[user, { ...reply, token_ids: [1.5] }], 'nodes[1].token_ids[0]: expected a whole number, found 1.5'],
    [[{ token_ids: [1] }], 'nodes[0].message: expected an object, found nothing'],
  ])('with a wrong node is refused with its path', (nodes, message) => {
    expect(() => trajectoriesOf(verifiersTrace, trace(nodes))).toThrow(message)
    expect(() => trajectoriesOf(verifiersTrace, { traces: [trace([user]), trace(nodes)] })).toThrow(
      `traces[1].${message}`,
    )
  })
})
