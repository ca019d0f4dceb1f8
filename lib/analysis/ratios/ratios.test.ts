/** Tests the first jump, the causes and the outliers on trajectories whose ratios are given. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runToEnd } from '#lib/tasks/task.ts'
import type { ColumnMeaning, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { RAW, withRatios } from '#testing/trainer-ratios.ts'
import { likelyCause } from './causes.ts'
import { firstOutlier } from './jump.ts'
import { type Outlier, outlierRanges, outliersOf } from './outliers.ts'
import { ratioReport } from './report.ts'
import { firstRise } from './rise.ts'
import { DEFAULT_THRESHOLDS } from './thresholds.ts'

const reportOf = (trajectory: Trajectory, drift?: Int32Array) =>
  runToEnd(ratioReport({ drift }, pack(trajectory).trajectory, []))

/** Returns ratios near 1 whose |log ratio| is at most `spread`. */
const near = (count: number, spread: number, seed = 1): number[] => {
  const next = randomNumbers(seed)
  return Array.from({ length: count }, () => Math.exp((2 * next() - 1) * spread))
}

const causeAt = (trajectory: Trajectory, token: number, drift?: Int32Array) => likelyCause({ trajectory, drift }, token)
const request = (samplingParams: Readonly<Record<string, unknown>>) =>
  ({ server: 's', samplingParams, inputLength: 2, inputHash: 'x', streamed: false }) as const
const stop = { finish: { kind: 'stop' } } as const

test('The report has the ratios of trained tokens, their totals and the means of each segment', () => {
  const report = reportOf(withRatios([{ ratios: [2, 0.5], mask: [1, 0] }, { ratios: [4, 1] }]))
  expect(Array.from(report?.tokens ?? [])).toEqual([2, 6, 7])
  expect(report?.totals).toMatchObject({ tokens: 3, least: 1 })
  expect(report?.totals?.greatest).toBeCloseTo(4)
  expect(Array.from(report?.segmentMeans ?? [], (mean) => Number(Math.exp(mean).toFixed(3)))).toEqual([
    Number.NaN,
    2,
    Number.NaN,
    2,
  ])
  expect(report?.unknown).toBe(0)
  expect(reportOf(sample)).toBeUndefined()
})

test('A trained token without a logprob of the trainer has no ratio and is counted as unknown', () => {
  const report = reportOf(withRatios([{ ratios: [1, 1], columns: { trainerLogprobs: [null, -8] } }]))
  expect([report?.tokens.length, report?.unknown]).toEqual([1, 1])
})

test('The first jump is the weight version that changed near the estimated place, with the means before and after', () => {
  const trajectory = withRatios([
    { ratios: near(80, 0.02), weightVersions: [{ version: '41', start: 0, end: 80 }] },
    {
      ratios: [...near(40, 0.02, 2), ...near(60, 0.5, 3)],
      weightVersions: [
        { version: '41', start: 0, end: 40 },
        { version: '42', start: 40, end: 100 },
      ],
    },
  ])
  const jump = reportOf(trajectory)?.jump
  expect(jump).toMatchObject({ kind: 'level', token: 124, cause: { name: 'version', detail: '41 → 42' } })
  expect(jump?.before).toBeLessThan(0.02)
  expect(jump?.after).toBeGreaterThan(0.15)
})

test('The first jump after a drift span, and at a response with another temperature, names these causes', () => {
  const drifting = withRatios([{ ratios: [...near(50, 0.01), ...near(50, 0.6, 2)] }])
  expect(reportOf(drifting, Int32Array.from([49, 52]))?.jump).toMatchObject({ token: 52, cause: { name: 'drift' } })
  const hotter = withRatios([
    { ratios: near(50, 0.01), request: request({ temperature: 1 }) },
    { ratios: near(50, 0.6, 2), request: request({ temperature: 0.7 }) },
    { ratios: near(10, 0.6, 3) },
  ])
  expect(reportOf(hotter)?.jump).toMatchObject({
    token: 54,
    cause: { name: 'temperature', detail: 'T 1 → 0.7' },
  })
})

test('The first jump at a call that resumed a response at another temperature names it', () => {
  const resumed = withRatios([
    {
      ratios: [...near(50, 0.01), ...near(50, 0.6, 2)],
      request: request({ temperature: 1 }),
      resumed: [{ at: 50, request: request({ temperature: 0.7 }) }],
    },
  ])
  expect(reportOf(resumed)?.jump).toMatchObject({ token: 52, cause: { name: 'temperature', detail: 'T 1 → 0.7' } })
})

test('A jump without a recorded event near it has no cause, and single outliers are no jump', () => {
  const plain = withRatios([{ ratios: [...near(50, 0.01), ...near(50, 0.6, 2)] }])
  expect(reportOf(plain)?.jump).toMatchObject({ cause: { name: 'none' } })
  const outliers = withRatios([{ ratios: near(200, 0.02).map((ratio, index) => (index % 90 === 50 ? 6 : ratio)) }])
  expect(reportOf(outliers)?.jump).toBeUndefined()
})

// Reading the versions of all tokens for each outlier would take minutes.
test('Outliers of many responses, and of versions in a column, are explained in linear time', () => {
  const far = (count: number) => Array.from({ length: count }, (_, index) => (index % 4 === 0 ? 9 : 1))
  const versions = Array.from({ length: 8000 }, (_, index) => Math.floor(index / 500))
  const version = { version: '1', start: 0, end: 40 }
  for (const records of [
    Array.from({ length: 5000 }, () => ({ ratios: far(40), weightVersions: [version] })),
    Array.from({ length: 20 }, () => ({ ratios: far(8000), columns: { weight_versions: versions } })),
  ]) {
    const { trajectory } = pack(withRatios(records))
    const report = runToEnd(ratioReport({ drift: undefined }, trajectory, []))
    const { outliers } = report ? outliersOf(report, DEFAULT_THRESHOLDS, { trajectory, drift: undefined }) : {}
    expect(outliers).toHaveLength((report?.tokens.length ?? 0) / 4)
  }
})

test('firstRise finds the first of two rises, and none in short, equal or falling series', () => {
  const level = (count: number, value: number, seed: number) =>
    near(count, value, seed).map((ratio) => Math.abs(Math.log(ratio)))
  const twice = [...level(60, 0.01, 1), ...level(60, 0.2, 2), ...level(60, 2, 3)]
  expect(firstRise(Float64Array.from(twice))?.index).toBeGreaterThan(50)
  expect(firstRise(Float64Array.from(twice))?.index).toBeLessThan(70)
  expect(firstRise(Float64Array.from(twice.toReversed()))).toBeUndefined()
  expect(firstRise(new Float64Array(100).fill(0.3))).toBeUndefined()
  expect(firstRise(Float64Array.from(twice.slice(50, 70)))).toBeUndefined()
  expect(firstRise(Float64Array.from([...level(50, 0.001, 1), ...level(50, 0.01, 2)]))).toBeUndefined()
})

test('firstRise splits where a slow comparison of all pairs finds the largest difference', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 40, maxLength: 60 }),
      fc.integer({ min: 20, max: 24 }),
      (noise, at) => {
        const values = noise.map((value, index) => (index < at ? value / 100 : 1 + value))
        const pairs = (split: number) => {
          let sum = 0
          for (let before = 0; before < split; before++)
            for (let after = split; after < values.length; after++)
              sum += Math.sign((values[after] ?? 0) - (values[before] ?? 0))
          return sum
        }
        const splits = values.map((_, split) => split).slice(16, values.length - 15)
        const best = splits.reduce((most, split) => (pairs(split) > pairs(most) ? split : most))
        // Within the part before the rise, the values differ too little to be a rise.
        expect(firstRise(Float64Array.from(values))?.index).toBe(best)
      },
    ),
  )
})

test('The last token of a response that ended with a stop token is named as such', () => {
  const ended = withRatios([{ ratios: [1, 0.2], ...stop }])
  expect(causeAt(ended, 3)).toEqual({ name: 'stop', detail: 'last token of the response' })
  expect(causeAt(ended, 2).name).toBe('none')
  const unscored = withRatios([{ ratios: [1, 1], columns: { trainerLogprobs: [-8, 0] }, ...stop }])
  expect(causeAt(unscored, 3).detail).toBe('the trainer logprob is 0: not scored')
})

test('A token in a drift span or in the four tokens after it has the cause drift', () => {
  const trajectory = withRatios([{ ratios: near(20, 0.1) }])
  const drift = Int32Array.from([5, 7, 15, 16])
  expect([4, 5, 6, 7, 10, 11, 15, 19].map((token) => causeAt(trajectory, token, drift).name)).toEqual([
    'none',
    'drift',
    'drift',
    'drift',
    'drift',
    'none',
    'drift',
    'drift',
  ])
  expect(causeAt(trajectory, 8, drift).detail).toContain('up to token 6')
  expect(causeAt(trajectory, 8).name).toBe('none')
})

test('A token of other weights than the trainer’s has the cause weight version', () => {
  const versions = [
    { version: '41', start: 0, end: 2 },
    { version: '42', start: 2, end: 4 },
  ]
  const changed = withRatios([{ ratios: [1, 1, 3, 3], weightVersions: versions }])
  expect([2, 3, 4, 5].map((token) => causeAt(changed, token).detail)).toEqual([
    'nothing recorded explains it',
    'nothing recorded explains it',
    '41 → 42',
    '41 → 42',
  ])
  const compared = withRatios([
    { ratios: [3, 3, 1, 1], weightVersions: versions, columns: { trainerVersion: [42, 42, 42, 42] } },
  ])
  expect([2, 5].map((token) => causeAt(compared, token))).toEqual([
    { name: 'version', detail: 'sampled 41, trainer 42' },
    { name: 'none', detail: 'nothing recorded explains it' },
  ])
})

test('Weight versions that a column has are as good as those of the server', () => {
  const columns = { weightVersion: [7, 7, null, 8] }
  const trajectory = withRatios([{ ratios: [1, 1, 1, 3], columns }])
  expect(causeAt(trajectory, 5)).toEqual({ name: 'version', detail: '7 → 8' })
  expect(causeAt(trajectory, 4).name).toBe('none')
})

test('The last token of a truncated response has the cause truncation', () => {
  const cut = withRatios([{ ratios: [1, 4], finish: { kind: 'length' } }])
  expect(causeAt(cut, 3)).toEqual({
    name: 'truncation',
    detail: 'last token of a response that ended with “length”',
  })
  expect(causeAt(withRatios([{ ratios: [1, 4] }]), 3).name).toBe('none')
})

const trainerKind = (change: Partial<ColumnMeaning>): Trajectory['columnMeanings'] => ({
  trainerLogprobs: { quantity: 'logprob', model: 'trainer', ...change },
})

test('Ratios of unknown kinds at another temperature than 1 have the cause temperature', () => {
  const at = (temperature: number, meanings: Trajectory['columnMeanings']) =>
    causeAt(withRatios([{ ratios: [3, 1], request: request({ temperature }) }], meanings), 2).name
  expect([at(0.7, trainerKind({})), at(1, trainerKind({})), at(0, trainerKind({}))]).toEqual([
    'temperature',
    'none',
    'none',
  ])
  expect(at(0.7, trainerKind({ values: 'processed', temperature: 0.7 }))).toBe('none')
})

test('The cause of a token is that of the call that sampled it', () => {
  const at = (token: number, params: Readonly<Record<string, unknown>>, meanings: Trajectory['columnMeanings']) =>
    causeAt(
      withRatios(
        [{ ratios: [0.9, 0.9, 1], request: request({}), resumed: [{ at: 1, request: request(params) }] }],
        meanings,
      ),
      token,
    ).name
  const vllm = { logprobs: { quantity: 'logprob', values: 'raw', engine: 'vllm' } } as const
  const unknown = { ...trainerKind({}), ...vllm }
  expect([2, 3].map((token) => at(token, { temperature: 0.7 }, unknown))).toEqual(['none', 'temperature'])
  expect([2, 3].map((token) => at(token, { top_p: 0.8 }, { ...RAW, ...vllm }))).toEqual(['none', 'nucleus'])
})

test('Top-p explains only ratios between top_p and 1, and only of engines that report logprobs after it', () => {
  const at = (ratio: number, params: Readonly<Record<string, unknown>>, engine = 'vllm') =>
    causeAt(
      withRatios([{ ratios: [ratio, 1], request: request(params) }], {
        ...RAW,
        logprobs: { quantity: 'logprob', values: 'raw', engine },
      }),
      2,
    ).name
  expect([at(0.9, { top_p: 0.8 }), at(0.7, { top_p: 0.8 }), at(1.2, { top_p: 0.8 })]).toEqual([
    'nucleus',
    'none',
    'none',
  ])
  expect([at(0.3, { top_k: 5 }), at(0.3, { min_p: 0.1 }), at(0.3, { top_p: 1, top_k: -1 })]).toEqual([
    'nucleus',
    'nucleus',
    'none',
  ])
  expect(at(0.9, { top_p: 0.8 }, 'SGLang')).toBe('none')
  const own = withRatios([{ ratios: [0.9, 1], request: request({ top_p: 0.8 }) }], trainerKind({ values: 'raw' }))
  expect(causeAt(own, 2).name).toBe('none')
  expect(causeAt(own, 99).name).toBe('none')
})

test('Outliers are sorted by |log ratio| with one cause each, and causes by their count', () => {
  const trajectory = withRatios([{ ratios: [1, 3, 0.1, 1, 6], ...stop }])
  const report = reportOf(trajectory)
  if (!report) throw new Error('it has a trainer')
  const evidence = { trajectory, drift: Int32Array.from([3, 5]) }
  const { outliers, causes } = outliersOf(report, DEFAULT_THRESHOLDS, evidence)
  expect(outliers.map(({ token, fate, cause }) => [token, fate, cause.name])).toEqual([
    [4, 'dropped', 'drift'],
    [6, 'dropped', 'stop'],
    [3, 'capped', 'drift'],
  ])
  expect(causes).toEqual([
    { name: 'drift', count: 2 },
    { name: 'stop', count: 1 },
  ])
  expect(firstOutlier(report, DEFAULT_THRESHOLDS, evidence)).toMatchObject({ token: 3, cause: { name: 'drift' } })
  expect(firstOutlier(report, { ...DEFAULT_THRESHOLDS, low: 0.1, high: 10, cap: 10 }, evidence)).toBeUndefined()
})

test('Three outliers near each other with one cause are a range, listed at the place of its farthest outlier', () => {
  const outlier = (token: number, logRatio: number, name: Outlier['cause']['name'] = 'none'): Outlier => ({
    token,
    logRatio,
    fate: 'dropped',
    cause: { name, detail: '' },
  })
  const list = [
    ...[outlier(30, 5), outlier(8, -4), outlier(0, 3), outlier(16, 2), outlier(21, 1, 'drift'), outlier(39, 0.9)],
    ...[outlier(40, 0.8, 'stop'), outlier(48, 0.7, 'stop'), outlier(57, 0.6, 'stop')],
  ]
  expect(
    outlierRanges(list).map(({ farthest, others, first, last }) => [
      farthest.token,
      others.map(({ token }) => token),
      first,
      last,
    ]),
  ).toEqual([
    [30, [], 30, 30],
    [8, [0, 16], 0, 16],
    [21, [], 21, 21],
    [39, [], 39, 39],
    [40, [], 40, 40],
    [48, [], 48, 48],
    [57, [], 57, 57],
  ])
  expect(outlierRanges([])).toEqual([])
})

test('Ranges contain every outlier once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(200), { maxLength: 40 }), (tokens) => {
      const list = tokens.map(
        (token): Outlier => ({
          token,
          logRatio: token,
          fate: 'capped',
          cause: { name: token % 5 === 0 ? 'drift' : 'none', detail: '' },
        }),
      )
      const ranges = outlierRanges(list)
      const members = ranges.flatMap(({ farthest, others }) => [farthest, ...others])
      expect(members.map(({ token }) => token).sort((a, b) => a - b)).toEqual(tokens.toSorted((a, b) => a - b))
      expect(ranges.map(({ farthest }) => list.indexOf(farthest))).toEqual(
        ranges.map(({ farthest }) => list.indexOf(farthest)).sort((a, b) => a - b),
      )
      for (const { farthest, others, first, last } of ranges) {
        const all = [farthest, ...others].map(({ token }) => token)
        expect([Math.min(...all), Math.max(...all)]).toEqual([first, last])
      }
    }),
  )
})
