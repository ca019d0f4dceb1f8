import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { withRescoring } from './columns.ts'
import { noiseFloor } from './noise.ts'
import { k3Of, type Rescoring, rescore } from './rescoring.ts'
import { bigramLogprob, bigramTrajectory, comparedOf, drawn, PIECES, prefill } from './test-model.ts'

const rescored = (left: Trajectory, right: Trajectory, weights = 0): Rescoring =>
  rescore(comparedOf(left, right), { left: prefill(ids(left)), right: prefill(ids(right), weights) })
const id = (piece: (typeof PIECES)[number]) => PIECES.indexOf(piece)
const p = (before: (typeof PIECES)[number], piece: (typeof PIECES)[number]) => bigramLogprob(id(before), id(piece))

describe('rescoring', () => {
  test('gives a span of the same text one ratio, of its sums; the tokens after it have their own ratios', () => {
    const { spans, units, totals, unknown, unpaired } = rescored(drawn('c a|b|c|a'), drawn('c ab|c|a'))
    const span = p('c', 'ab') - (p('c', 'a') + p('a', 'b'))
    const behind = p('ab', 'c') - p('b', 'c')
    expect(spans).toHaveLength(1)
    expect(spans[0]).toMatchObject({ left: { tokens: 2 }, right: { tokens: 1 }, trained: 2 })
    expect(spans[0]?.ratio).toEqual({ kind: 'known', delta: span })
    expect([...units.deltas]).toEqual([span, behind, 0])
    expect([...units.trained]).toEqual([2, 1, 1])
    expect([...units.drifts]).toEqual([0, -1, -1])
    expect(totals).toMatchObject({ trainedTokens: 4, rescoredTokens: 4, units: 3 })
    expect(totals.delta).toBeCloseTo(span + behind)
    expect(totals.k1).toBeCloseTo(-(span + behind) / 3)
    expect(totals.k3).toBeCloseTo((k3Of(span) + k3Of(behind)) / 3)
    expect(totals.meanLogprob?.left).toBeCloseTo((p('c', 'a') + p('a', 'b') + p('b', 'c') + p('c', 'a')) / 4)
    expect(totals.meanLogprob?.right).toBeCloseTo((p('c', 'ab') + p('ab', 'c') + p('c', 'a')) / 3)
    expect([unknown, unpaired]).toEqual([0, { left: 0, right: 0 }])
  })

  test('gives other text each side’s sum and mean, and no ratio', () => {
    const { spans, units, unpaired } = rescored(drawn('c a|b|aa|ab|bc'), drawn('c a|c|aa|ab|bc'))
    expect(spans).toEqual([
      {
        left: { tokens: 1, sum: p('a', 'b'), mean: p('a', 'b') },
        right: { tokens: 1, sum: p('a', 'c'), mean: p('a', 'c') },
        trained: 1,
        ratio: { kind: 'none', why: 'other-text' },
      },
    ])
    expect(unpaired).toEqual({ left: 1, right: 1 })
    expect(units.count).toBe(4)
  })

  test('gives no ratio, but a reason, for text of one side, text that no server can score, and unscored text', () => {
    const why = ({ spans }: Rescoring) => spans.map(({ ratio }) => (ratio.kind === 'none' ? ratio.why : ratio.delta))
    expect(why(rescored(drawn('c a|b|aa'), drawn('c a')))).toEqual(['one-side'])
    expect(why(rescored(drawn('a|b c'), drawn('ab c')))).toEqual(['first-token'])
    const [left, right] = [drawn('c a|b|c'), drawn('c ab|c')]
    const nothing = { left: new Float64Array(4).fill(Number.NaN), right: new Float64Array(3).fill(Number.NaN) }
    const found = rescore(comparedOf(left, right), nothing)
    expect(why(found)).toEqual(['not-scored'])
    expect(found.unknown).toBe(3)
    expect(found.totals).toMatchObject({ units: 0, meanLogprob: undefined, k3: undefined })
  })

  test('counts trained tokens of other text on their own side', () => {
    expect(rescored(drawn('c a|b'), drawn('c a|c|c')).unpaired).toEqual({ left: 1, right: 2 })
  })

  test('leaves context out of the totals, but rescores its spans', () => {
    const { units, spans } = rescored(drawn('c|a|b c|c'), drawn('c|ab c|c'))
    expect(spans[0]).toMatchObject({ trained: 0, ratio: { kind: 'known' } })
    expect([...units.leftStarts]).toEqual([3, 4])
    expect([...units.rightStarts]).toEqual([2, 3])
  })

  test('adds columns to both sides; all tokens of a span have the span’s value', () => {
    const [left, right] = [drawn('c a|b|c'), drawn('c ab|c')]
    const compared = comparedOf(left, right)
    const scores = { left: prefill(ids(left)), right: prefill(ids(right)) }
    const shown = withRescoring(compared, scores, rescore(compared, scores))
    const column = (side: 'left' | 'right', name: string) =>
      shown[side].trajectory.segments.flatMap(({ columns }) => Array.from(columns?.[name] ?? []))
    const span = p('c', 'ab') - (p('c', 'a') + p('a', 'b'))
    const behind = p('ab', 'c') - p('b', 'c')
    expect(column('left', 'prefill')).toEqual([...scores.left])
    expect(column('left', 'delta')).toEqual([Number.NaN, span, span, behind])
    expect(column('right', 'delta')).toEqual([Number.NaN, span, behind])
    expect(column('right', 'ratio').slice(1)).toEqual([Math.exp(span), Math.exp(behind)])
  })
})

describe('the noise floor', () => {
  const noiseOf = (left: Trajectory) => rescored(left, left).noise.left

  test('covers only tokens that were sampled at temperature 1', () => {
    const { spread, temperatures, apart, narrowed } = noiseOf(
      drawn('c a|b|c', { sampling: { temperature: 1 }, noise: -0.01 }),
    )
    expect(temperatures).toEqual([1])
    expect(noiseOf(drawn('c a|b|c', { sampling: { temperature: 0 } })).temperatures).toEqual([0])
    for (const value of [spread?.mean, spread?.median, spread?.p95, spread?.max]) expect(value).toBeCloseTo(0.01)
    expect(spread?.bias).toBeCloseTo(0.01)
    expect([apart, narrowed]).toEqual([[], []])
  })

  test('has quantiles that are measured differences of trained tokens', () => {
    const side = drawn('c a|b|c|a', { sampling: { temperature: 1 } })
    const scores = prefill(ids(side)).map((logprob, token) => logprob + ([0, 0.1, 0.2, 0.4, 0.8][token] ?? 0))
    const three = {
      ...side,
      segments: side.segments.map((segment) =>
        segment.kind === 'response' ? { ...segment, mask: [1, 1, 1, 0] as const } : segment,
      ),
    }
    const { spread, differences } = noiseFloor(three, scores)
    expect(differences).toHaveLength(3)
    expect(spread?.median).toBeCloseTo(0.2)
    expect(spread?.p95).toBeCloseTo(0.4)
    expect(spread?.max).toBeCloseTo(0.4)
  })

  test('keeps other temperatures apart, with their reason', () => {
    expect(noiseOf(drawn('c a|b|c', { sampling: { temperature: 0.7 } }))).toMatchObject({
      spread: undefined,
      apart: [{ reason: 'sampled at temperature 0.7', tokens: 3 }],
    })
  })

  test('judges the calls of a resumed response one by one', () => {
    const side = drawn('c a|b|c', { sampling: { temperature: 1 } })
    const segments = side.segments.map((segment) =>
      segment.kind === 'response' && segment.request
        ? {
            ...segment,
            resumed: [{ at: 1, request: { ...segment.request, samplingParams: { temperature: 0.7, top_p: 0.9 } } }],
          }
        : segment,
    )
    expect(noiseOf({ ...side, segments })).toMatchObject({
      spread: { tokens: 1 },
      temperatures: [1],
      apart: [{ reason: 'sampled at temperature 0.7', tokens: 2 }],
      narrowed: ['top_p 0.9'],
    })
  })

  test('names parameters that narrowed the draw', () => {
    const sampling = { temperature: 1, top_p: 0.9, top_k: -1, min_p: 0.05 }
    expect(noiseOf(drawn('c a', { sampling })).narrowed).toEqual(['top_p 0.9', 'min_p 0.05'])
  })

  test('is undefined if nothing was sampled', () => {
    expect(noiseOf(drawn('c a|b|c'))).toMatchObject({ spread: undefined, apart: [] })
  })
})

const someIds = fc.array(fc.nat({ max: PIECES.length - 1 }), { minLength: 1, maxLength: 12 })
const someSegments = fc.array(someIds, { minLength: 2, maxLength: 6 })
/** Two trajectories with mostly the same text. */
const pair = fc.oneof(
  fc.tuple(someSegments, someSegments).map(([left, right]) => [left, right] as const),
  fc.tuple(someSegments, fc.array(fc.boolean(), { minLength: 1, maxLength: 20 })).map(([left, cuts]) => {
    let n = 0
    const recut = left.map((segment) =>
      segment.flatMap((one) =>
        cuts[n++ % cuts.length] ? [...(PIECES[one] as string)].map((letter) => PIECES.indexOf(letter as 'a')) : [one],
      ),
    )
    return [left, recut] as const
  }),
)

describe('every rescoring', () => {
  test('of equal sides has ratio 1 everywhere', () => {
    fc.assert(
      fc.property(someSegments, (segments) => {
        const side = bigramTrajectory(segments)
        const { totals, units, unknown } = rescored(side, side)
        expect(units.deltas.every((delta) => delta === 0)).toBe(true)
        expect(totals.rescoredTokens + unknown).toBe(totals.trainedTokens)
        if (totals.units > 0) expect(totals).toMatchObject({ delta: 0, k1: 0, k3: 0, effectiveShare: 1 })
      }),
    )
  })

  test('of swapped sides negates every difference', () => {
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const [one, other] = [bigramTrajectory(left), bigramTrajectory(right)]
        const forth = rescored(one, other).spans
        const back = rescored(other, one).spans
        for (const [index, { ratio, left, right }] of forth.entries()) {
          const mirrored = back[index]
          expect([mirrored?.right, mirrored?.left]).toEqual([left, right])
          if (ratio.kind === 'none') expect(mirrored?.ratio).toEqual(ratio)
          else expect(mirrored?.ratio).toEqual({ kind: 'known', delta: 0 - ratio.delta })
        }
        expect(back).toHaveLength(forth.length)
      }),
    )
  })

  test('has a k3 that is never negative and shares between 0 and 1, and accounts for every trained token', () => {
    fc.assert(
      fc.property(pair, fc.nat({ max: 6 }), ([left, right], weights) => {
        const { units, totals, unknown, unpaired } = rescored(bigramTrajectory(left), bigramTrajectory(right), weights)
        for (const delta of units.deltas) expect(k3Of(delta)).toBeGreaterThanOrEqual(0)
        expect(totals.rescoredTokens + unknown + unpaired.left).toBe(totals.trainedTokens)
        if (totals.effectiveShare !== undefined) {
          expect(totals.effectiveShare).toBeGreaterThan(0)
          expect(totals.effectiveShare).toBeLessThanOrEqual(1 + 1e-12)
        }
      }),
    )
  })

  test('is the sum of its spans and of the tokens between them', () => {
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const [one, other] = [bigramTrajectory(left), bigramTrajectory(right)]
        const { units, totals, spans } = rescored(one, other)
        const inSpans = spans.reduce(
          (sum, { ratio, trained }) => sum + (ratio.kind === 'known' && trained > 0 ? ratio.delta : 0),
          0,
        )
        const between = units.deltas.reduce((sum, delta, unit) => sum + (units.drifts[unit] === -1 ? delta : 0), 0)
        expect(totals.delta ?? 0).toBeCloseTo(inSpans + between)
      }),
    )
  })

  test('of a span too long for a double still has finite sums', () => {
    const [left, right] = [drawn('c a|b|c'), drawn('c ab|c')]
    const { totals } = rescore(comparedOf(left, right), {
      left: Float64Array.of(Number.NaN, -900, -900, -1),
      right: Float64Array.of(Number.NaN, -1, -1),
    })
    expect(totals).toMatchObject({ delta: 1799, effectiveShare: expect.closeTo(2 / 3) })
  })
})
