import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Outcome, Trajectory } from '../format/trajectory.ts'
import { countedRewards, groupRewards, passAt } from './group-rewards.ts'
import { lastBoxed, lastNumber, wholeNumberText } from './read-number.ts'
import { rewardRuleSchema } from './rule.ts'
import { answerOf, type SearchPattern, scoreOf, scoreOfAnswer } from './score.ts'

const search: SearchPattern = (pattern, flags, text) => {
  if (pattern === 'slow') return { kind: 'too-slow' }
  const match = [...text.matchAll(new RegExp(pattern, `g${flags}`))].at(-1)
  return match ? { kind: 'found', text: match[1] ?? match[0] } : { kind: 'absent' }
}
const score = (answer: string, rule: Parameters<typeof scoreOfAnswer>[1]) => scoreOfAnswer(answer, rule, search)

describe('lastNumber', () => {
  test.each([
    ['The answer is 434.', 434],
    ['25 * 17 = 425, then 434', 434],
    ['1,234,567', 1_234_567],
    ['1, 2, 3', 3],
    ['12,34', 34],
    ['1{,}234 and \\$1,5', 5],
    ['-3', -3],
    ['minus: −3.5', -3.5],
    ['12-3', 3],
    ['x = 3/4', 0.75],
    ['-3/4', -0.75],
    ['\\frac{3}{4}', 0.75],
    ['-\\dfrac{1}{2}', -0.5],
    ['7/0', 0],
    ['\\frac12', 0.5],
    ['\\frac 1{2}', 0.5],
    ['\\cfrac{ 3 }{4}', 0.75],
    ['\\tfrac{3}{4}', 0.75],
    ['2\\frac{1}{2}', 2.5],
    ['-2 \\frac12', -2.5],
    ['\\frac{1}{-2}', -0.5],
    ['\\frac{1}{−2}', -0.5],
    ['2 1/2', 2.5],
    ['1,000 1/2', 1000.5],
    ['5 3/2', 1.5],
    ['2 · \\frac{1}{2}', 0.5],
    ['\\text{A: }-3', -3],
    ['\\text{A:}-3', -3],
    ['-\\mathbf{3}', -3],
    ['5\\text{ m}^2', 5],
    ['5 \\text{ cm}^3', 5],
    ['5 \\mathrm{m}/\\mathrm{s}^{2}', 5],
    ['5 m^2', 5],
    ['3 \\times 10^{8}', 3e8],
    ['3 × 10^8', 3e8],
    ['-3.5x10^-8', -3.5e-8],
    ['2\\cdot10^{−3}', 2e-3],
    ['10^{-3}', 0.001],
    ['10^4', 10_000],
    ['–3', -3],
    ['1–3', 3],
    ['1e999', Number.POSITIVE_INFINITY],
    ['.5', 0.5],
    ['6.02e23', 6.02e23],
    ['1e-3 V', 0.001],
  ])('reads %s', (text, value) => expect(lastNumber(text)?.value).toBe(value))

  test('returns the value before a percent sign too', () => {
    expect(lastNumber('about 12 %')).toEqual({ text: '12 %', value: 0.12, percent: 12 })
    expect(lastNumber('12\\%')).toMatchObject({ value: 0.12 })
  })

  test('reads every number from its own text, after any other text', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.string().filter((before) => !before.endsWith('\\')),
        (value, before) => {
          expect(lastNumber(`${before} : ${value}`)?.value).toBe(value === 0 ? 0 : value)
        },
      ),
    )
  })

  test('reads a number in each of its notations', () => {
    const sign = fc.constantFrom('', '-', '−', '–')
    const digit = fc.integer({ min: 1, max: 9 })
    const ways = fc.oneof(
      fc
        .tuple(fc.nat(9999), fc.integer({ min: 1, max: 9999 }), fc.constantFrom('', 'c', 'd', 't'))
        .map(([over, under, kind]) => [`\\${kind}frac{${over}}{${under}}`, over / under] as const),
      fc.tuple(digit, digit).map(([over, under]) => [`\\frac${over}${under}`, over / under] as const),
      fc
        .tuple(fc.nat(9999), fc.nat(9998), fc.constantFrom('\\frac{O}{U}', ' \\frac{O}{U}', ' O/U'))
        .map(([whole, over, way]) => {
          const text = way.replace('O', `${over}`).replace('U', '9999')
          return [`${whole}${text}`, whole + over / 9999] as const
        }),
      fc
        .tuple(
          fc.integer({ min: 1, max: 9999 }),
          fc.integer({ min: -20, max: 20 }),
          fc.constantFrom(' \\times ', ' × ', '\\cdot', 'x'),
        )
        .chain(([factor, power, times]) =>
          fc
            .constantFrom(`^{${power}}`, `^${power}`)
            .map((written) => [`${factor / 100}${times}10${written}`, Number(`${factor / 100}e${power}`)] as const),
        ),
      fc
        .tuple(
          fc.nat(99_999),
          fc.constantFrom('\\text{ m}^2', ' \\text{cm}^{3}', ' m^2', '\\mathrm{kg}', '\\ \\text{s}^{-1}'),
        )
        .map(([value, unit]) => [`${value}${unit}`, value] as const),
    )
    const around = fc.constantFrom(
      ['', ''],
      ['\\boxed{', '}'],
      ['$x = ', '$.'],
      ['\\text{A: }', ''],
      ['7 steps: ', ' \\text{in all}'],
    )
    fc.assert(
      fc.property(sign, ways, around, (minus, [text, value], [before = '', behind = '']) => {
        const read = lastNumber(`${before}${minus}${text}${behind}`)?.value as number
        expect(read + 0).toBeCloseTo((minus === '' ? 1 : -1) * value + 0, 12)
        expect(Math.abs(read)).toBe(value)
      }),
    )
  })

  test('wholeNumberText accepts one number and nothing else', () => {
    expect(['434', ' 1,000 ', '1/3', '12%', '-5', '+5'].map(wholeNumberText)).toEqual([434, 1000, 1 / 3, 0.12, -5, 5])
    expect(['', 'x', '4 5', '4 apples'].map(wholeNumberText)).toEqual([undefined, undefined, undefined, undefined])
  })

  test('lastBoxed returns the last closed box with nested braces', () => {
    expect(lastBoxed('\\boxed{1} and \\boxed{\\frac{3}{4}} }')).toBe('\\frac{3}{4}')
    expect(lastBoxed('\\boxed{1} then \\boxed{2')).toBe('1')
    expect(lastBoxed('{1}')).toBe(undefined)
  })

  test('lastBoxed takes linear time on many opening braces', () => {
    expect(lastBoxed('\\boxed{'.repeat(100_000))).toBe(undefined)
    for (const part of ['1,111', '1 1 ', '\\frac{', '\\frac1', '10^', 'a ^', '\\text{', '      '])
      expect(lastNumber(`1${part.repeat(50_000)}`)).toBeDefined()
  })
})

describe('scoreOfAnswer by the rule', () => {
  test('exact ignores surrounding white space, and case if requested', () => {
    expect(score(' Paris\n', { kind: 'exact', expected: 'Paris' })).toEqual({
      reward: 1,
      why: 'found “Paris”, expected “Paris”',
    })
    expect(score('paris', { kind: 'exact', expected: 'Paris' }).reward).toBe(0)
    expect(score('paris', { kind: 'exact', expected: 'Paris', ignoreCase: true }).reward).toBe(1)
    expect(score('x'.repeat(200), { kind: 'exact', expected: 'y' }).why.length).toBeLessThan(120)
  })

  test('pattern searches the answer, or compares what the pattern captured', () => {
    const rule = { kind: 'pattern', pattern: '#### (\\d+)' } as const
    expect(score('#### 7', rule)).toEqual({ reward: 1, why: '/#### (\\d+)/ found “7”' })
    expect(score('7', rule)).toEqual({ reward: 0, why: '/#### (\\d+)/ is not found' })
    expect(score('#### 1 #### 7', { ...rule, expected: '7' })).toEqual({ reward: 1, why: 'found “7”, expected “7”' })
    expect(score('#### 1', { ...rule, expected: '7' }).reward).toBe(0)
    expect(score('YES', { kind: 'pattern', pattern: 'yes', ignoreCase: true }).reward).toBe(1)
    expect(score('x', { kind: 'pattern', pattern: 'slow' })).toEqual({
      reward: null,
      why: 'the pattern takes too long on this answer',
    })
  })

  test('number compares the last number within the tolerance; a percentage may mean either value', () => {
    const rule = { kind: 'number', expected: 434, tolerance: 0.01 } as const
    expect(score('So it is 434.005.', rule)).toEqual({ reward: 1, why: 'found 434.005, expected 434 ± 0.01' })
    expect(score('435', rule).reward).toBe(0)
    expect(score('none', rule)).toEqual({ reward: 0, why: 'no number found' })
    expect(score('434 \\boxed{x}', rule)).toEqual({ reward: 0, why: 'no number in “x”' })
    expect(score('\\boxed{434} in 3 steps', rule).reward).toBe(1)
    expect(score('0.30000000000000004', { kind: 'number', expected: 0.3 }).reward).toBe(1)
    expect(score('1,000', { kind: 'number', expected: 1000 }).why).toBe('found 1,000 = 1000, expected 1000')
    for (const expected of [12, 0.12]) expect(score('12%', { kind: 'number', expected }).reward).toBe(1)
  })

  test('pattern refuses an invalid regular expression', () => {
    expect(rewardRuleSchema.safeParse({ kind: 'pattern', pattern: '(' }).success).toBe(false)
    expect(rewardRuleSchema.safeParse({ kind: 'pattern', pattern: '(a)' }).success).toBe(true)
  })
})

describe('the answer of a trajectory', () => {
  const ended = (outcome: Outcome, segments = sampleTrajectory.segments): Trajectory => ({
    ...sampleTrajectory,
    outcome,
    segments,
  })
  const rule = { kind: 'exact', expected: '' } as const

  test('is the last response without thinking and calls', () => {
    const [prompt] = sampleTrajectory.segments
    const said = {
      kind: 'response',
      ids: [9, 3, 9, 3, 4, 2],
      toolCalls: [],
      thinks: [{ start: 0, end: 3, closed: true }],
    } as const
    expect(answerOf(ended({ kind: 'ended', reason: 'end_turn' }, [...sampleTrajectory.segments, said]))).toBe(
      'hi there',
    )
    expect(answerOf(ended({ kind: 'ended', reason: 'end_turn' }, prompt ? [prompt] : []))).toBe(undefined)
  })

  test.each<[Outcome, string]>([
    [{ kind: 'running' }, 'the run has not ended'],
    [{ kind: 'failed', code: 'X', message: 'x' }, 'the run failed'],
    [{ kind: 'ended', reason: 'cancelled' }, 'the run ended with cancelled'],
  ])('of a run that has none to be judged is not scored: %o', (outcome, why) => {
    expect(scoreOf(ended(outcome), rule, search)).toEqual({ reward: null, why })
  })

  test('is not scored if the run never answered', () => {
    const outcome = { kind: 'ended', reason: 'end_turn' } as const
    expect(scoreOf(ended(outcome, []), rule, search)).toEqual({ reward: null, why: 'there is no answer' })
    expect(scoreOf(ended(outcome), rule, search).reward).not.toBe(null)
  })
})

describe('the rewards of a group', () => {
  test('have a mean and a deviation; samples without a reward are ignored', () => {
    const rewards = groupRewards([1, 0, null, 0, 1])
    expect(rewards).toMatchObject({ scored: 4, passed: 2, mean: 0.5 })
    expect(rewards?.deviation).toBeCloseTo(Math.sqrt(1 / 3), 12)
    expect(groupRewards([null])).toBe(undefined)
    expect(groupRewards([1])?.deviation).toBe(0)
    expect(groupRewards([0.1, 0.1, 0.1])).toMatchObject({ mean: 0.1, deviation: 0 })
  })

  test('give the pass@k of drawing k samples', () => {
    const group = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(group, fc.integer({ min: 1, max: 8 }), (passes, k) => {
        const counted = { scored: passes.length, passed: passes.filter(Boolean).length }
        const draws = subsets(passes, k)
        const expected = draws.filter((draw) => draw.some(Boolean)).length / draws.length
        const found = passAt(k, counted)
        if (draws.length === 0) expect(found).toBe(undefined)
        else expect(found).toBeCloseTo(expected, 12)
      }),
    )
  })
})

function subsets<T>([first, ...rest]: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]]
  if (first === undefined) return []
  return [...subsets(rest, size - 1).map((chosen) => [first, ...chosen]), ...subsets(rest, size)]
}

test('countedRewards counts the paths of a rollout once for each reward, and trajectories without a group each', () => {
  const path = (index: number, reward: number | null, id = 'g') => ({ group: { id, index }, reward })
  const alone = { group: null, reward: 1 }
  const paths = [path(0, 1), path(0, 1), path(0, 0), path(0, null), path(1, 1), path(0, 1, 'other'), alone, alone]
  expect(countedRewards(paths)).toEqual([1, null, 0, null, 1, 1, 1, 1])
})
