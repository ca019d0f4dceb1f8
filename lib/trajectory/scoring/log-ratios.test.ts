import { expect, test } from 'vitest'
import { RAW, withRatios } from '#testing/trainer-ratios.ts'
import type { ColumnMeaning, Trajectory } from '../format/trajectory.ts'
import { columnRoles, logprobColumns, logprobTitle } from '../tokens/column-roles.ts'
import { quantityNamed } from '../tokens/quantities.ts'
import {
  comparedLogprobs,
  ratioColumns,
  ratioComparison,
  ratioPairText,
  readRatioPair,
  segmentLogRatios,
} from './log-ratios.ts'

const ratiosIn = (trajectory: Trajectory, segment = 1) => {
  const of = trajectory.segments[segment]
  if (!of) throw new Error('no such segment')
  return Array.from(segmentLogRatios(trajectory, of), (value) => Number(Math.exp(value).toFixed(6)))
}
const sampledAt = (temperature: number) =>
  ({ server: 's', samplingParams: { temperature }, inputLength: 2, inputHash: 'x', streamed: false }) as const
const trainerMeaning = (change: Partial<ColumnMeaning>): Trajectory['columnMeanings'] => ({
  trainerLogprobs: { quantity: 'logprob', model: 'trainer', ...change },
})

test('The ratio of a token is its probability under the trainer divided by its probability when sampled', () => {
  expect(ratiosIn(withRatios([{ ratios: [2, 0.5, 1] }]))).toEqual([2, 0.5, 1])
  expect(ratioComparison(withRatios([{ ratios: [1] }]))).toEqual({
    columns: { kind: 'logprobs', numerator: 'trainerLogprobs', denominator: 'logprobs' },
    comparison: { kind: 'same', as: 'raw' },
    leftOut: [],
  })
})

test('A trajectory without a trainer’s logprobs has no comparison', () => {
  const plain = withRatios([{ ratios: [1], columns: { trainerLogprobs: [] } }], {
    trainerLogprobs: { quantity: 'other' },
  })
  expect(ratioColumns(plain)).toBeUndefined()
  expect(ratioComparison(plain)).toBeUndefined()
  expect(ratiosIn(plain)).toEqual([Number.NaN])
  expect(comparedLogprobs(plain, plain.segments[1] as Trajectory['segments'][number], 0)).toBeUndefined()
})

test('Ratios that the file gives are used if it has no trainer’s logprobs', () => {
  const given = withRatios([{ ratios: [1, 1], columns: { trainerLogprobs: [0, 0], w: [4, 0.5] } }], {
    trainerLogprobs: { quantity: 'other' },
    w: { quantity: 'importance_ratio' },
  })
  expect(ratiosIn(given)).toEqual([4, 0.5])
  expect(ratioComparison(given)?.comparison).toEqual({ kind: 'same', as: 'given' })
})

test('A ratio that the file does not give for a token is unknown, as a quantity too', () => {
  const given = withRatios([{ ratios: [1, 1], columns: { trainerLogprobs: [0, null], w: [4, null] } }], {
    trainerLogprobs: { quantity: 'other' },
    w: { quantity: 'importance_ratio' },
  })
  expect(ratiosIn(given)).toEqual([4, Number.NaN])
  const [, response] = given.segments
  if (!response) throw new Error('no response')
  const read = quantityNamed('ratio', given).reader(response, given)
  expect([read(0), read(1)]).toEqual([4, Number.NaN])
  const trainer = withRatios([{ ratios: [1, 1], columns: { trainerLogprobs: [-2, null] } }])
  const [, scored] = trainer.segments
  if (!scored) throw new Error('no response')
  const readTrainer = quantityNamed('trainer', trainer).reader(scored, trainer)
  expect([readTrainer(0), readTrainer(1)]).toEqual([-2, Number.NaN])
})

test('Columns with known names are compared if a file gives no meanings', () => {
  const { columnMeanings: _, ...named } = withRatios([{ ratios: [2] }])
  expect(ratiosIn(named)).toEqual([2])
})

test('A response without the trainer’s column is not compared, and others are', () => {
  const both = withRatios([{ ratios: [2] }, { ratios: [3] }])
  const segments = both.segments.map((segment, index) => (index === 1 ? { ...segment, columns: {} } : segment))
  const trajectory = { ...both, segments }
  const [, without, , compared] = segments
  if (!without || !compared) throw new Error('no responses')
  expect([ratiosIn(trajectory, 1), ratiosIn(trajectory, 3)]).toEqual([[Number.NaN], [3]])
  expect(comparedLogprobs(trajectory, without, 0)).toBeUndefined()
  expect(comparedLogprobs(trajectory, compared, 0)).toEqual({ numerator: -8 + Math.log(3), denominator: -8 })
})

test('Processed and raw logprobs have no ratio without a normaliser, and the reason counts their trained tokens', () => {
  const mixed = withRatios(
    [
      { ratios: [2, 2], request: sampledAt(0.7) },
      { ratios: [3], request: sampledAt(1) },
    ],
    trainerMeaning({ values: 'raw' }),
  )
  expect(ratiosIn(mixed)).toEqual([Number.NaN, Number.NaN])
  expect(ratiosIn(mixed, 3)).toEqual([3])
  const further = withRatios(
    [
      { ratios: [3], request: sampledAt(1) },
      { ratios: [2, 2], request: sampledAt(0.7) },
      { ratios: [2], request: sampledAt(0.7) },
    ],
    trainerMeaning({ values: 'raw' }),
  )
  expect(ratioComparison(further)).toMatchObject({
    comparison: { kind: 'same' },
    leftOut: [{ why: 'processed at T 0.7 and raw', tokens: 3 }],
  })
  expect(ratioComparison(mixed)).toMatchObject({
    comparison: { kind: 'same' },
    leftOut: [{ why: 'processed at T 0.7 and raw', tokens: 2 }],
  })
})

test('The normaliser of the trainer converts its raw logprobs to the temperature of the sampler, token by token', () => {
  const trajectory = withRatios(
    [
      {
        ratios: [1, 1],
        request: sampledAt(0.7),
        columns: { trainerLogprobs: [-0.51, -1], trainerNormaliser: [-0.3386, null] },
      },
    ],
    {
      ...trainerMeaning({ values: 'raw', normaliser: 'trainerNormaliser' }),
      trainerNormaliser: { quantity: 'normaliser', temperature: 0.7 },
    },
  )
  expect(ratioComparison(trajectory)?.comparison).toMatchObject({ kind: 'converted', as: 'T 0.7' })
  const [first, second] = ratiosIn(trajectory)
  expect(first).toBeCloseTo(Math.exp(-0.51 / 0.7 + 0.3386 + 8), 3)
  expect(second).toBeNaN()
  const segment = trajectory.segments[1] as Trajectory['segments'][number]
  expect(comparedLogprobs(trajectory, segment, 0)?.numerator).toBeCloseTo(-0.39, 4)
})

test('A column of unknown kind is compared with a caveat', () => {
  const unknown = withRatios([{ ratios: [2] }], {})
  expect(ratiosIn(unknown)).toEqual([2])
  expect(ratioComparison(unknown)?.comparison?.kind).toBe('assumed')
})

test('Rescored logprobs take the place of sampled ones that cannot be compared', () => {
  const rescored = withRatios(
    [{ ratios: [1], request: sampledAt(0.7), columns: { trainerLogprobs: [-2], prefill: [-3] } }],
    {
      ...trainerMeaning({ values: 'raw' }),
      prefill: { quantity: 'logprob', model: 'rollout', values: 'raw' },
    },
  )
  expect(ratioColumns(rescored)).toEqual({ kind: 'logprobs', numerator: 'trainerLogprobs', denominator: 'prefill' })
  expect(ratiosIn(rescored)).toEqual([Number(Math.E.toFixed(6))])
})

test('Rescored logprobs are compared if a file has no sampled ones', () => {
  const meanings = {
    ...trainerMeaning({ values: 'raw' }),
    prefill: { quantity: 'logprob', model: 'rollout', values: 'raw' },
  } as const
  const both = withRatios([{ ratios: [1], columns: { trainerLogprobs: [-2], prefill: [-3] } }], meanings)
  const segments = both.segments.map(({ logprobs: _, ...segment }) => segment)
  expect(ratiosIn({ ...both, segments })).toEqual([Number(Math.E.toFixed(6))])
  const neither = segments.map((segment) => ({ ...segment, columns: { trainerLogprobs: [-2] } }))
  expect(ratioComparison({ ...both, segments: neither })).toEqual({
    columns: { kind: 'logprobs', numerator: 'trainerLogprobs', denominator: 'logprobs' },
    comparison: undefined,
    leftOut: [],
  })
})

test('Segments without a trained token are not compared', () => {
  const masked = withRatios([
    { ratios: [2], mask: [0] },
    { ratios: [], mask: [] },
  ])
  expect(ratioComparison(masked)?.comparison).toBeUndefined()
  expect(ratiosIn(masked)).toEqual([Number.NaN])
})

test('Columns have a role by their meaning, or by a name that trainers use if they have none', () => {
  const named = withRatios(
    [{ ratios: [1], columns: { old_log_probs: [-1], advantages: [2], values: [0], note: [1], entropy: [0.5] } }],
    { trainerLogprobs: { quantity: 'logprob', model: 'teacher' }, values: { quantity: 'other' } },
  )
  expect(columnRoles(named)).toEqual({ trainer: 'old_log_probs', advantage: 'advantages', entropy: 'entropy' })
  expect(quantityNamed('entropy', named)).toMatchObject({ isApproximate: false, source: ['entropy'] })
  expect(quantityNamed('entropy', withRatios([], RAW))).toMatchObject({ isApproximate: true })
})

/** Returns a trajectory with logprobs of the sampler, the trainer and a reference, and a column that is no logprob. */
const three = (): Trajectory =>
  withRatios([{ ratios: [2, 4], columns: { ref_log_prob: [-9, -10], advantage: [1, 1], spare: [0, 0] } }], {
    ...RAW,
    ref_log_prob: { quantity: 'logprob', model: 'reference', values: 'raw' },
    spare: { quantity: 'logprob' },
  })

test('The columns that can be compared are the logprobs of a trajectory, each with the title of its model', () => {
  const trajectory = three()
  const columns = logprobColumns(trajectory)
  expect(columns).toEqual(['logprobs', 'trainerLogprobs', 'ref_log_prob', 'spare'])
  expect(columns.map((column) => logprobTitle(trajectory, column))).toEqual([
    'rollout',
    'trainer',
    'reference',
    'spare',
  ])
  const { columnMeanings: _, ...named } = three()
  expect(logprobColumns(named)).toEqual(['logprobs', 'trainerLogprobs', 'ref_log_prob'])
  const bare = { ...named, segments: named.segments.map(({ logprobs: _, ...segment }) => segment) } as Trajectory
  expect(logprobColumns(bare)).toEqual(['trainerLogprobs', 'ref_log_prob'])
})

test('The columns that the user chose are compared, and again the usual ones without a choice', () => {
  const trajectory = three()
  const [, response] = trajectory.segments
  if (!response) throw new Error('no response')
  const chosen = { ...trajectory, ratioPair: { numerator: 'trainerLogprobs', denominator: 'ref_log_prob' } }
  const ratios = (of: typeof chosen | Trajectory) => Array.from(segmentLogRatios(of, response), Math.exp)
  expect(ratios(chosen)[0]).toBeCloseTo(2 * Math.E, 10)
  expect(ratioComparison(chosen)?.columns).toEqual({ kind: 'logprobs', ...chosen.ratioPair })
  expect(ratios(trajectory)[0]).toBeCloseTo(2, 10)
  expect(comparedLogprobs(chosen, response, 1)).toEqual({ numerator: -8 + Math.log(4), denominator: -10 })
})

test.each([
  ['trainerLogprobs', 'trainerLogprobs'],
  ['trainerLogprobs', 'advantage'],
  ['nothing', 'logprobs'],
])('A chosen pair of %s and %s is no comparison, so the usual columns are compared', (numerator, denominator) => {
  expect(ratioColumns({ ...three(), ratioPair: { numerator, denominator } })).toEqual({
    kind: 'logprobs',
    numerator: 'trainerLogprobs',
    denominator: 'logprobs',
  })
})

test('A pair of columns is read back from an address, and a text that is no pair is ignored', () => {
  for (const pair of [
    { numerator: 'trainerLogprobs', denominator: 'logprobs' },
    { numerator: 'a/b c', denominator: 'ü%' },
  ])
    expect(readRatioPair(ratioPairText(pair))).toEqual(pair)
  for (const text of ['', 'a', 'a/', '/b', 'a/b/c', '%/b']) expect(readRatioPair(text)).toBeUndefined()
})
