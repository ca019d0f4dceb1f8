import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GroupForest, groupForestSchema } from '#lib/api/forest/group-forest.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { advantageOf } from '#lib/trajectory/reward/advantage.ts'
import { groupRewards } from '#lib/trajectory/reward/group-rewards.ts'
import { runs } from '#testing/property-runs.ts'
import { decisiveToken } from './decisive-token.ts'
import { type GroupFacts, groupForest } from './group-forest.ts'
import { groupTree, type SampleTokens } from './group-tree.ts'
import { estimateOf, rewardRange } from './reward-estimate.ts'

type Segment = SampleTokens['segments'][number]

const prompt = (...ids: number[]): Segment => ({ kind: 'prompt', ids })
const response = (...ids: number[]): Segment => ({ kind: 'response', ids, logprobs: ids.map((id) => -id) })
const VOCAB = { 1: 'one', 2: 'two', 3: { hex: 'e6' } }
const tokensOf = (...segments: readonly Segment[]): SampleTokens => ({ segments, vocab: VOCAB, tokenizer: 'bytes' })

const row = (index: number, reward: number | null, more: Partial<TrajectorySummary> = {}): TrajectorySummary => ({
  key: `sample ${index}`,
  id: `sample ${index}`,
  createdAt: '2026-01-01T00:00:00.000Z',
  addedAt: '2026-01-01T00:00:00.000Z',
  title: null,
  question: 'q',
  tags: [],
  note: null,
  reward,
  model: null,
  outcomeKind: 'ended',
  outcome: 'end_turn',
  source: 'rollout',
  importFormat: null,
  fork: null,
  missing: [],
  isEncodedAgain: false,
  segments: 2,
  turns: 1,
  tokens: 4,
  trained: 2,
  meanLogprob: null,
  toolCalls: 0,
  failedCalls: 0,
  group: { id: 'group', index },
  rewardWhy: null,
  health: null,
  ...more,
})

function answer(
  samples: readonly (SampleTokens | undefined)[],
  rewards: readonly (number | null)[],
  more: Partial<GroupFacts> = {},
) {
  const rows = rewards.map((reward, index) => row(index, reward))
  const facts: GroupFacts = {
    revision: 'r',
    group: { id: 'group', reward: null },
    isRunning: false,
    formula: 'mean',
    missing: [],
    deleted: 0,
    rows,
    findings: rows.map(() => undefined),
    leftOut: [],
    ...more,
  }
  return groupForestSchema.parse(groupForest(groupTree(samples), facts))
}

const GOOD = tokensOf(prompt(1, 2), response(1, 1, 1))
const BAD = tokensOf(prompt(1, 2), response(1, 2, 1))

describe('A group', () => {
  test('whose samples differ in one token names it, with both branches, their rewards and the chance of such a difference', () => {
    const { nodes, splits, decisive, samples, sharedTokens, notes } = answer([GOOD, BAD, GOOD, BAD], [1, 0, 1, 0.5])
    expect(
      nodes.map(({ parent, start, end, samples, ends, sample }) => [parent, start, end, samples, ends, sample]),
    ).toEqual([
      [null, 0, 2, [0, 1, 2, 3], [], 0],
      [0, 2, 3, [0, 1, 2, 3], [], 0],
      [1, 3, 5, [0, 2], [0, 2], 0],
      [1, 3, 5, [1, 3], [1, 3], 1],
    ])
    expect(splits).toMatchObject([
      {
        position: 3,
        node: 1,
        branches: [
          { node: 2, id: 1, text: 'one', probability: Math.exp(-1), samples: [0, 2], reward: { known: 2, mean: 1 } },
          { node: 3, id: 2, text: 'two', probability: Math.exp(-2), samples: [1, 3], reward: { known: 2, mean: 0.25 } },
        ],
      },
    ])
    // Of the 12 orders of 0, 0.5, 1 and 1, only those with both 1 in one branch differ as much: 2 of 6 places × 2 orders.
    expect(decisive).toMatchObject({
      split: 0,
      position: 3,
      high: 0,
      low: 1,
      difference: 0.75,
      tested: 1,
      method: 'exact',
    })
    expect(decisive?.chance).toBeCloseTo(1 / 3, 12)
    expect(samples.map(({ identicalTo }) => identicalTo)).toEqual([[2], [3], [0], [1]])
    expect(samples.map(({ advantage }) => advantage)).toEqual([0.375, -0.625, 0.375, -0.125])
    expect(sharedTokens).toBe(3)
    expect(notes).toEqual([])
  })

  test('has no decisive token if a branch has a single reward, or if the means are equal', () => {
    expect(answer([GOOD, GOOD, BAD, BAD], [1, 1, 0, null]).decisive).toBeNull()
    expect(answer([GOOD, GOOD, BAD, BAD], [1, 0, 0, 1]).decisive).toBeNull()
  })

  test('shows the end of a sample as a branch where others continue', () => {
    const short = tokensOf(prompt(1, 2), response(1))
    const { splits } = answer([GOOD, short, short], [1, 0, 0])
    expect(splits).toMatchObject([
      {
        position: 3,
        branches: [
          { node: null, id: null, text: null, probability: null, samples: [1, 2] },
          { id: 1, samples: [0] },
        ],
      },
    ])
  })

  test('keeps a damaged sample in the list, with its finding, and builds the tree from the others', () => {
    const damaged = { code: 'damaged', message: 'bad JSON' } as const
    const { samples, counts } = answer([GOOD, undefined, tokensOf(prompt())], [1, 0, null], {
      findings: [undefined, damaged, undefined],
    })
    expect(samples.map(({ leaf, finding }) => [leaf, finding?.code])).toEqual([
      [1, undefined],
      [null, 'damaged'],
      [null, 'no-tokens'],
    ])
    expect(counts).toMatchObject({ leaves: 1, tokens: 5 })
  })

  test('marks samples that a limit of tokens ended', () => {
    const rows = ['length', 'max_tokens', 'context_full', 'truncated', 'end_turn', 'cancelled'].map((outcome, index) =>
      row(index, null, { outcome }),
    )
    const failed = row(6, null, { outcomeKind: 'failed', outcome: 'length' })
    const { samples } = answer([], [], { rows: [...rows, failed], findings: [] })
    expect(samples.map(({ isTruncated }) => isTruncated)).toEqual([true, true, true, true, false, false, false])
  })

  test('has unknown texts of tokens that the vocabulary lacks, and no probability of a prompt or of an inserted token', () => {
    const other: SampleTokens = {
      segments: [prompt(1), { kind: 'response', ids: [7, 8] }, prompt(9)],
      vocab: {},
      tokenizer: undefined,
    }
    const { splits } = answer([tokensOf(prompt(1), response(3)), other], [null, null])
    expect(splits[0]?.branches).toMatchObject([
      { id: 3, text: '\uFFFD', probability: Math.exp(-3) },
      { id: 7, text: null, probability: null },
    ])
    const prompts = answer([tokensOf(prompt(1, 2)), tokensOf({ ...response(3), kind: 'prompt' })], [null, null])
    expect(prompts.splits[0]).toMatchObject({
      position: 0,
      node: null,
      branches: [{ probability: null }, { probability: null }],
    })
  })
})

test('Paths of one rollout, which have its number and its reward, count once', () => {
  const paths = [row(0, 1), row(0, 1), row(0, 1), row(1, 0)]
  const { rewards, nodes, samples } = answer([GOOD, GOOD, GOOD, BAD], [1, 1, 1, 0], {
    rows: paths,
    leftOut: [row(1, 0)],
  })
  expect(rewards).toMatchObject({ scored: 2, mean: 0.5 })
  expect(nodes[0]).toMatchObject({ reward: { mean: 0.5 } })
  expect(samples.map(({ advantage }) => advantage)).toEqual([0.5, 0.5, 0.5, -0.5])
})

describe('The notes on a group', () => {
  const codes = (...given: Parameters<typeof answer>) => answer(...given).notes.map(({ code }) => code)

  test('say that all rewards are equal, so that no sample has an advantage', () => {
    const { notes, samples } = answer([GOOD, BAD], [0.1, 0.1], { formula: 'mean-std' })
    expect(notes).toEqual([
      {
        code: 'equal-rewards',
        message: 'All rewards are 0.1: the advantage is 0 everywhere, and the group gives no gradient.',
      },
    ])
    expect(samples.map(({ advantage }) => advantage)).toEqual([0, 0])
  })

  test('say of equal rewards how many there are if others may follow, because one of them may differ', () => {
    const messageOf = (more: Partial<GroupFacts>) => answer([GOOD, BAD, BAD], [1, 1, null], more).notes[0]?.message
    const running = [1, 1, null].map((reward, index) => ({
      ...row(index, reward),
      ...(reward === null && { outcomeKind: 'running' as const, outcome: 'running' }),
    }))
    expect(messageOf({})).toBe(
      'The 2 known rewards are all 1, so these samples have the advantage 0: 1 sample has no reward.',
    )
    expect(messageOf({ rows: running })).toBe(
      'The 2 rewards so far are all 1: 1 sample has no reward yet, and 1 sample is running.',
    )
    expect(
      answer([GOOD, BAD], [null, null], { rows: running.slice(2).concat(running.slice(2)) }).notes[0]?.message,
    ).toBe('No sample has a reward yet: 2 samples are running.')
  })

  test('say how many samples were deleted, because rewards and advantages are of the others', () => {
    expect(answer([GOOD, BAD], [1, 0], { deleted: 1 }).notes).toEqual([
      {
        code: 'deleted-samples',
        message: '1 of 3 samples was deleted: counts, rewards and advantages are of the other 2.',
      },
    ])
    expect(answer([GOOD, BAD], [1, 0], { deleted: 2, leftOut: [row(2, 1)] }).notes.at(-1)?.message).toMatch(
      /^2 of 5 samples were deleted: .* the other 3\.$/,
    )
  })

  test('say that samples share only the prompt, or no prefix at all', () => {
    expect(codes([tokensOf(prompt(1), response(1)), tokensOf(prompt(1), response(2))], [1, 0])).toEqual(['prompt-only'])
    expect(codes([tokensOf(prompt(1)), tokensOf(prompt(2))], [1, 0])).toEqual(['no-common-prefix'])
    expect(codes([GOOD, BAD], [1, 0])).toEqual([])
  })

  test('name missing rewards, a single sample, several tokenizers, and samples that are left out', () => {
    expect(codes([GOOD], [null])).toEqual(['single-sample', 'no-rewards'])
    expect(codes([GOOD, { ...BAD, tokenizer: 'other' }], [1, 0])).toEqual(['several-tokenizers'])
    expect(answer([GOOD, BAD], [1, 0], { leftOut: [row(2, 0), row(3, null)] }).notes).toEqual([
      { code: 'left-out', message: 'The group has 4 samples; the first 2 are shown.' },
    ])
  })
})

test('The range of rewards is that of rules, or from the smallest to the largest', () => {
  expect(rewardRange([0.2, 1])).toEqual({ low: 0, high: 1 })
  expect(rewardRange([])).toEqual({ low: 0, high: 1 })
  expect(rewardRange([-1, 0.5])).toEqual({ low: -1, high: 0.5 })
})

test('An estimate of no rewards is a bug of the caller', () => {
  expect(() => estimateOf([], { low: 0, high: 1 })).toThrow('an estimate needs a reward')
})

/** Samples of few different ids, so that they share prefixes, end inside each other and are identical. */
const sample = fc
  .array(
    fc.record({
      kind: fc.constantFrom('prompt' as const, 'response' as const),
      ids: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 4 }),
    }),
    { maxLength: 4 },
  )
  .map((segments) => tokensOf(...segments))
const groups = fc.array(fc.tuple(sample, fc.constantFrom(null, 0, 0.5, 1)), { minLength: 1, maxLength: 12 })

/** Writes each token with all that a tree compares, and segments without tokens. */
const symbols = ({ segments }: SampleTokens): readonly string[] =>
  segments.flatMap(({ kind, ids }) =>
    ids.length === 0 ? [`${kind} empty`] : Array.from(ids, (id, index) => `${kind}${index === 0 ? '+' : ''}${id}`),
  )
const isToken = (symbol: string): boolean => !symbol.endsWith('empty')
const hasTokens = (tokens: SampleTokens): boolean => symbols(tokens).some(isToken)
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Returns the index of the first token that differs between two samples: their number of tokens if they are the same, and that of the
 * shorter one if the other continues it. Undefined if one of them is not in the tree.
 */
function divergenceOf(
  { samples, nodes }: Pick<GroupForest, 'samples' | 'nodes'>,
  left: number,
  right: number,
): number | undefined {
  let [a, b] = [samples[left]?.leaf ?? null, samples[right]?.leaf ?? null]
  if (a === null || b === null) return undefined
  // A node has a greater index than its parent, so the greater one of two different nodes is not shared.
  while (a !== b) {
    if (b === null || (a !== null && a > b)) a = nodes[a as number]?.parent ?? null
    else b = nodes[b]?.parent ?? null
  }
  return a === null ? 0 : nodes[a]?.end
}

describe('A random group', () => {
  test('has in each node the samples that have these tokens there, with their mean reward and advantage', () => {
    fc.assert(
      fc.property(groups, (group) => {
        const all = group.map(([tokens]) => tokens)
        const rewards = group.map(([, reward]) => reward)
        const { nodes, samples, counts } = answer(all, rewards, { formula: 'leave-one-out' })
        const known = groupRewards(rewards)
        const advantages = rewards.map((reward) => known && advantageOf({ reward, trained: 2 }, known, 'leave-one-out'))
        const prefixes = all.map((tokens) => {
          const path = symbols(tokens)
          return hasTokens(tokens) ? path.map((_, index) => path.slice(0, index + 1).join(' ')) : []
        })
        expect(counts.distinctTokens).toBe(new Set(prefixes.flat().filter(isToken)).size)
        for (const { samples: through, ends, sample, start, end, reward, advantage, parent } of nodes) {
          const [first] = through
          // All samples of the node, and no others, have the tokens of the first one up to its end.
          const path = symbols(all[first ?? 0] ?? GOOD)
          const own =
            prefixes[first ?? 0]?.filter(
              (prefix) => prefix.split(' ').filter((part) => /\d$/.test(part)).length === end,
            ) ?? []
          const same = prefixes.flatMap((list, index) => (own.some((prefix) => list.includes(prefix)) ? [index] : []))
          expect(path.filter(isToken).length).toBeGreaterThanOrEqual(end)
          if (end > start) expect(through).toEqual(same)
          expect(through).toContain(sample)
          expect(through).toEqual(expect.arrayContaining(ends))
          if (parent !== null) expect(nodes[parent]?.end).toBe(start)
          const known = through.flatMap((index) => rewards[index] ?? [])
          expect(reward?.known ?? 0).toBe(known.length)
          if (reward) expect(reward.mean).toBeCloseTo(mean(known), 12)
          const values = through.flatMap((index) => advantages[index]?.ofToken ?? [])
          if (values.length === 0) expect(advantage).toBeNull()
          else expect(advantage).toBeCloseTo(mean(values), 12)
        }
        for (const [index, { leaf, identicalTo }] of samples.entries()) {
          expect(leaf === null).toBe(!hasTokens(all[index] ?? GOOD))
          if (leaf === null) continue
          const text = prefixes[index]?.at(-1)
          const same = prefixes.flatMap((list, other) => (other !== index && list.at(-1) === text ? [other] : []))
          expect(identicalTo).toEqual(same)
        }
      }),
      { numRuns: runs(400) },
    )
  })

  test('differs first where a comparison of all tokens finds the first difference', () => {
    fc.assert(
      fc.property(groups, (group) => {
        const all = group.map(([tokens]) => tokens)
        const forest = answer(
          all,
          group.map(([, reward]) => reward),
        )
        for (const [a, left] of all.entries())
          for (const [b, right] of all.entries()) {
            const [one, other] = [symbols(left), symbols(right)]
            const shared = one.findIndex((symbol, index) => symbol !== other[index])
            const same = shared < 0 ? one : one.slice(0, shared)
            const expected = hasTokens(left) && hasTokens(right) ? same.filter(isToken).length : undefined
            expect(divergenceOf(forest, a, b)).toBe(expected)
          }
      }),
      { numRuns: runs(400) },
    )
  })

  test('has the largest difference of mean rewards that any split has, and its chance by counting all orders of rewards', () => {
    fc.assert(
      fc.property(
        groups.filter((group) => group.length <= 6),
        (group) => {
          const rewards = group.map(([, reward]) => reward)
          const { splits, decisive } = answer(
            group.map(([tokens]) => tokens),
            rewards,
          )
          const largest = largestDifference(splits, rewards)
          expect(decisive?.difference ?? 0).toBeCloseTo(largest, 9)
          if (!decisive) return
          const split = splits[decisive.split]
          expect(split?.position).toBe(decisive.position)
          expect(
            (split?.branches[decisive.high]?.reward?.mean ?? 0) - (split?.branches[decisive.low]?.reward?.mean ?? 0),
          ).toBeCloseTo(decisive.difference, 9)
          expect(decisive.interval.low).toBeLessThanOrEqual(decisive.difference)
          expect(decisive.interval.high).toBeGreaterThanOrEqual(decisive.difference)
          const known = rewards.flatMap((reward, index) => (reward === null ? [] : [index]))
          const all = orders(known.map((index) => rewards[index] ?? 0)).map((order) => {
            const assigned: (number | null)[] = [...rewards]
            for (const [place, index] of known.entries()) assigned[index] = order[place] ?? null
            return largestDifference(splits, assigned)
          })
          expect(decisive.chance).toBeCloseTo(all.filter((each) => each >= largest - 1e-9).length / all.length, 9)
        },
      ),
      { numRuns: runs(300) },
    )
  })
})

function largestDifference(
  splits: readonly { readonly branches: readonly { readonly samples: readonly number[] }[] }[],
  rewards: readonly (number | null)[],
) {
  const differences = splits.map(({ branches }) => {
    const means = branches
      .map(({ samples }) => samples.flatMap((index) => rewards[index] ?? []))
      .filter((known) => known.length >= 2)
      .map(mean)
    return means.length < 2 ? 0 : Math.max(...means) - Math.min(...means)
  })
  return Math.max(0, ...differences)
}

/** Returns all orders of values, equal values counted apart. */
const orders = (values: readonly number[]): readonly (readonly number[])[] =>
  values.length === 0
    ? [[]]
    : values.flatMap((value, index) => orders(values.toSpliced(index, 1)).map((order) => [value, ...order]))

describe('The chance of a decisive token', () => {
  const split = (high: number, low: number) => [
    {
      position: 5,
      branches: [high, low].map((count, side) => ({
        node: side,
        id: side,
        text: null,
        probability: null,
        samples: Array.from({ length: count }, (_, index) => side * high + index),
        reward: null,
        advantage: null,
      })),
    },
  ]

  test('is sampled for many different rewards, is the same each time, and is near the exact one', () => {
    const range = { low: 0, high: 1 }
    const rewards = Array.from({ length: 20 }, (_, index) => (index < 10 ? 0.5 : 0.4) + index / 1000)
    const found = decisiveToken(split(10, 10), rewards, range)
    expect(found).toMatchObject({ method: 'sampled', chance: 1 / 5001 })
    expect(decisiveToken(split(10, 10), rewards, range)).toEqual(found)
    // Rewards that differ by less than rounding have many orders, but the chance of the equal ones.
    const binary = [1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0]
    const almost = binary.map((reward, index) => Math.abs(reward - index * 1e-13))
    const [exact, sampled] = [binary, almost].map((values) => decisiveToken(split(6, 6), values, range))
    expect([exact?.method, sampled?.method]).toEqual(['exact', 'sampled'])
    expect(Math.abs((exact?.chance ?? 0) - (sampled?.chance ?? 1))).toBeLessThan(0.02)
  })

  test('of more than 5 % makes the token only the largest difference, which may be chance', () => {
    const isSignificant = (count: number) => {
      const rewards = Array.from({ length: 2 * count }, (_, index) => (index < count ? 1 : 0))
      const found = decisiveToken(split(count, count), rewards, { low: 0, high: 1 })
      return [found?.chance, found?.isSignificant]
    }
    expect(isSignificant(3)).toEqual([expect.closeTo(2 / 20, 12), false])
    expect(isSignificant(4)).toEqual([expect.closeTo(2 / 70, 12), true])
  })

  test('counts all tested splits: more positions make the same difference less surprising', () => {
    const rewards = [1, 1, 1, 0, 0, 0]
    const once = decisiveToken(split(3, 3), rewards, { low: 0, high: 1 })
    const [first] = split(3, 3)
    const branches = first?.branches.map((branch, side) => ({ ...branch, samples: side === 0 ? [0, 3, 4] : [1, 2, 5] }))
    const other = { position: 9, branches: branches ?? [] }
    const twice = decisiveToken([...split(3, 3), other], rewards, { low: 0, high: 1 })
    expect([once?.tested, twice?.tested, twice?.difference]).toEqual([1, 2, 1])
    expect(once?.chance).toBeCloseTo(2 / 20, 12)
    expect(twice?.chance).toBeCloseTo(4 / 20, 12)
  })

  test('comes with an interval of the difference, which is wide for two samples each', () => {
    const found = decisiveToken(split(2, 2), [1, 1, 0, 0], { low: 0, high: 1 })
    // The exact intervals of 2 of 2 and of 0 of 2 are √0.025 to 1 and 0 to 1 − √0.025.
    expect(found?.interval.low).toBeCloseTo(1 - Math.SQRT2 * (1 - Math.sqrt(0.025)), 6)
    expect(found?.interval.high).toBeCloseTo(1, 6)
  })

  test('needs a difference beyond rounding, which depends on the size of the rewards', () => {
    const tiny = [2e-12, 2e-12, 1e-12, 1e-12]
    expect(decisiveToken(split(2, 2), tiny, { low: 0, high: 1 })).toMatchObject({ difference: 1e-12, chance: 1 / 3 })
    const parts = [0.1, 0.2, 0.3].map((part) => (part * 1e9) / 7)
    const reordered = [...parts, ...parts.toReversed()]
    expect(decisiveToken(split(3, 3), reordered, { low: 0, high: 1e9 })).toBeUndefined()
  })

  test('belongs to the first of several positions with the same difference', () => {
    const [at5] = split(2, 2)
    const at3 = { position: 3, branches: at5?.branches ?? [] }
    expect(decisiveToken([...split(2, 2), at3], [1, 1, 0, 0], { low: 0, high: 1 })?.position).toBe(3)
  })
})
