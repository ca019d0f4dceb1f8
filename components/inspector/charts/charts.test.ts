import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { extentOf } from '#components/token-view/colour/scale.ts'
import { parseQuery } from '#lib/analysis/find/parse-query.ts'
import { klEstimates } from '#lib/analysis/ratios/totals.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { densityOf, isolatedCells, nearestPoint, pointSizes } from './density.ts'
import { padExtent } from './extent.ts'
import { binQuery, surpriseHistogram } from './histogram.ts'
import { logRatiosOf, mismatchOf, type Pairs, pairSeries, worstPairs } from './mismatch.ts'
import { largestIndices, movingMean, quantities, seriesNamed, type TokenSeries } from './series.ts'

const numbers = fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { maxLength: 120 })
const logprobs = fc.array(fc.double({ min: -40, max: 0, noNaN: true }), { maxLength: 200 })

describe('series of the charts', () => {
  test('contain the trained tokens with a known value, from JSON arrays and from packed columns', () => {
    for (const trajectory of [sample, pack(sample).trajectory]) {
      const { tokens, values, unknown } = seriesNamed(trajectory, 'logprob')
      expect([[...tokens], [...values], unknown]).toEqual([[3, 4, 6, 7], [-0.5, -0.25, -1, 0], 2])
      const column = seriesNamed(trajectory, 'column:entropy')
      expect([[...column.tokens], [...column.values]]).toEqual([[10], [0.5]])
    }
    expect(quantities(sample).map(({ name }) => name)).toEqual([
      'logprob',
      'probability',
      'entropy',
      'margin',
      'column:entropy',
    ])
  })

  test('the moving mean is the mean of the last values', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 20 }), (list, window) => {
        const means = movingMean(Float64Array.from(list), window)
        for (const [index, mean] of means.entries()) {
          const part = list.slice(Math.max(0, index + 1 - window), index + 1)
          expect(mean).toBeCloseTo(part.reduce((a, b) => a + b, 0) / part.length, 8)
        }
      }),
    )
  })

  test('the largest values are those that sorting gives', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 9 }), (list, count) => {
        const found = largestIndices(list.length, count, (index) => list[index] as number)
        expect(found.map((index) => list[index])).toEqual([...list].sort((a, b) => b - a).slice(0, count))
        expect(new Set(found).size).toBe(found.length)
      }),
    )
  })
})

describe('histogram of surprisal', () => {
  test('counts every token once, in the bin that contains it', () => {
    fc.assert(
      fc.property(logprobs, (list) => {
        const bins = surpriseHistogram(Float64Array.from(list))
        expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(list.length)
        expect(bins.length).toBeLessThanOrEqual(34)
        for (const [index, { from, to, count }] of bins.entries()) {
          if (index > 0) expect(from).toBe(bins[index - 1]?.to)
          const near = (low: number, high: number) => list.filter((value) => -value >= low && -value < high).length
          expect(count).toBeGreaterThanOrEqual(near(from + 1e-6, to - 1e-6))
          expect(count).toBeLessThanOrEqual(near(from - 1e-6, to + 1e-6))
        }
      }),
    )
    for (const tiny of [-0, -Number.MIN_VALUE, -8.4e-323, -1e-300])
      expect(surpriseHistogram(Float64Array.of(tiny, -0))).toEqual([{ from: 0, to: 0.1, count: 2 }])
  })

  test('a bin is a query that the find bar understands', () => {
    expect(binQuery({ from: 0, to: 0.5, count: 1 })).toBe('surprise<0.5 mask:1')
    expect(binQuery({ from: 0.5, to: 1, count: 1 })).toBe('surprise>=0.5 surprise<1 mask:1')
    expect(parseQuery(binQuery({ from: 0.5, to: 1, count: 1 }), [])).toMatchObject({ kind: 'query' })
  })
})

describe('comparison of two values', () => {
  const series = (entries: readonly (readonly [number, number])[]): TokenSeries => ({
    name: 'x',
    title: 'x',
    unit: '',
    tokens: Float64Array.from(entries, ([token]) => token),
    values: Float64Array.from(entries, ([, value]) => value),
    unknown: 0,
  })
  const pairs = (list: readonly (readonly [number, number])[]): Pairs => ({
    tokens: Float64Array.from(list, (_, index) => index),
    x: Float64Array.from(list, ([x]) => x),
    y: Float64Array.from(list, ([, y]) => y),
  })
  const pairList = fc.array(
    fc.tuple(fc.double({ min: -9, max: 0, noNaN: true }), fc.double({ min: -9, max: 0, noNaN: true })),
    {
      minLength: 1,
      maxLength: 60,
    },
  )

  test('pairs are the tokens that have both values', () => {
    const { tokens, x, y } = pairSeries(
      series([
        [1, 10],
        [3, 30],
        [4, 40],
      ]),
      series([
        [0, 0],
        [3, 33],
        [4, 44],
        [9, 99],
      ]),
    )
    expect([[...tokens], [...x], [...y]]).toEqual([
      [3, 4],
      [30, 40],
      [33, 44],
    ])
  })

  test('differences, correlation, k1 and k3 follow their definitions', () => {
    const list = [
      [-1, -1.5],
      [-2, -1],
      [-0.5, -0.5],
    ] as const
    const mean = (of: (x: number, y: number) => number) => list.reduce((sum, [x, y]) => sum + of(x, y), 0) / 3
    const found = mismatchOf(pairs(list))
    expect(found).toMatchObject({ count: 3, largestAbsolute: 1 })
    expect(found?.meanDifference).toBeCloseTo(
      mean((x, y) => y - x),
      12,
    )
    expect(found?.meanAbsolute).toBeCloseTo(
      mean((x, y) => Math.abs(y - x)),
      12,
    )
    const [mx, my] = [mean((x) => x), mean((_, y) => y)]
    const covariance = mean((x, y) => (x - mx) * (y - my))
    const spread = Math.sqrt(mean((x) => (x - mx) ** 2) * mean((_, y) => (y - my) ** 2))
    expect(found?.correlation).toBeCloseTo(covariance / spread, 12)
    expect(klEstimates(logRatiosOf(pairs(list)))?.k1).toBeCloseTo(
      mean((x, y) => x - y),
      12,
    )
    expect(klEstimates(logRatiosOf(pairs(list)))?.k3).toBeCloseTo(
      mean((x, y) => Math.exp(y - x) - 1 - (y - x)),
      12,
    )
    expect([...worstPairs(pairs(list), 2)]).toEqual([1, 0])
  })

  test('equal values do not differ, and a value that does not vary has no correlation', () => {
    fc.assert(
      fc.property(pairList, (list) => {
        const same = pairs(list.map(([x]) => [x, x]))
        expect(mismatchOf(same)).toMatchObject({ meanAbsolute: 0, largestAbsolute: 0 })
      }),
    )
    expect(
      mismatchOf(
        pairs([
          [-1, -2],
          [-1, -3],
        ]),
      )?.correlation,
    ).toBeNull()
    expect(mismatchOf(pairs([]))).toBeUndefined()
  })
})

describe('points of a plot', () => {
  test('every point in the frame is counted once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: -5, max: 5, noNaN: true }), fc.double({ min: -5, max: 5, noNaN: true })), {
          minLength: 1,
        }),
        (list) => {
          const [x, y] = [Float64Array.from(list, ([a]) => a), Float64Array.from(list, ([, b]) => b)]
          const [horizontal, vertical] = [padExtent(extentOf(x)), padExtent(extentOf(y))]
          const frame = { minX: horizontal.min, maxX: horizontal.max, minY: vertical.min, maxY: vertical.max }
          const { counts, most } = densityOf(x, y, frame, 7, 5)
          expect(counts.reduce((a, b) => a + b, 0)).toBe(list.length)
          expect(most).toBe(Math.max(...counts))
          expect(densityOf(x, y, { ...frame, minX: 6, maxX: 7 }, 7, 5).most).toBe(0)
        },
      ),
    )
  })

  test('a few points far from the others are outliers, and points of a crowd are not', () => {
    const crowd = Array.from({ length: 40 }, (_, index) => ({ x: 10 + (index % 8), y: 10 + Math.floor(index / 8) }))
    const alone = [
      { x: 80, y: 40 },
      { x: 81, y: 41 },
      { x: 40, y: 2 },
    ]
    const points = [...crowd, ...alone]
    const density = densityOf(
      Float64Array.from(points, ({ x }) => x),
      Float64Array.from(points, ({ y }) => y),
      { minX: 0, maxX: 100, minY: 0, maxY: 50 },
      100,
      50,
    )
    const places = isolatedCells(density).map((cell) => ({ x: cell % 100, y: 50 - Math.floor(cell / 100) }))
    expect(places).toHaveLength(3)
    expect(places).toEqual(
      expect.arrayContaining([
        { x: 80, y: 40 },
        { x: 81, y: 41 },
        { x: 40, y: 2 },
      ]),
    )
  })

  test.each([0.67, 1, 1.1, 1.25, 1.5, 2, 3])('an outlier is 6 CSS pixels wide at %f pixels per CSS pixel', (ratio) => {
    const { cell, outlier } = pointSizes(ratio)
    expect(outlier / ratio).toBeCloseTo(6)
    expect(outlier).toBeGreaterThan(2 * cell - 1)
    expect(Number.isInteger(cell)).toBe(true)
  })

  test('outliers agree with counting around every point', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(11), fc.nat(8)), { maxLength: 40 }), (list) => {
        const counts = new Uint32Array(12 * 9)
        for (const [column, row] of list) counts[row * 12 + column] = (counts[row * 12 + column] as number) + 1
        const near = (column: number, row: number) =>
          list.filter(([x, y]) => Math.abs(x - column) <= 3 && Math.abs(y - row) <= 3).length
        const cells = new Set(list.filter(([x, y]) => near(x, y) <= 3).map(([x, y]) => y * 12 + x))
        expect(isolatedCells({ columns: 12, rows: 9, counts, most: 0 })).toEqual([...cells].sort((a, b) => a - b))
      }),
    )
  })

  test('the nearest point within reach is found', () => {
    const [x, y] = [Float64Array.of(0, 10, 20), Float64Array.of(0, 1, 2)]
    const near = (at: { x: number; y: number }) => nearestPoint(x, y, at, { x: 2, y: 0.5 })
    expect([near({ x: 11, y: 1.1 }), near({ x: 13, y: 1 }), near({ x: 20, y: 2 })]).toEqual([1, -1, 2])
  })
})
