import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { bestFirst, distribution, drawToken, type LogitFilter, logprobOf } from './distribution.ts'
import { createRandom } from './random.ts'

const rows = fc
  .array(fc.float({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 300 })
  .map((logits) => Float32Array.from(logits))
/** Rows with many equal values, in which the winner of a tie must not depend on luck. */
const coarse = rows.map((row) => row.map((logit) => Math.round(logit / 8)))
const temperatures = fc.constantFrom(0.2, 1, 3)
const ALL: LogitFilter = { topK: Number.POSITIVE_INFINITY, topP: 1, minP: 0 }

const idsOf = (row: Float32Array) => Array.from(row, (_, id) => id)
const sorted = (row: Float32Array) => idsOf(row).sort((a, b) => (row[b] as number) - (row[a] as number) || a - b)

test('The best alternatives are the beginning of the sorted vocabulary', () => {
  fc.assert(
    fc.property(fc.oneof(rows, coarse), fc.nat(350), (row, count) => {
      expect(bestFirst(row, count)).toEqual(sorted(row).slice(0, count))
    }),
  )
})

describe('A distribution', () => {
  test('adds up to one at any temperature, and keeps the ratios of the logits', () => {
    fc.assert(
      fc.property(rows, temperatures, (row, temperature) => {
        const of = distribution(row, temperature)
        const logprobs = idsOf(row).map((id) => logprobOf(of, id))
        expect(logprobs.reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 4)
        const [first, last] = [row[0] as number, row.at(-1) as number]
        expect((logprobs[0] as number) - (logprobs.at(-1) as number)).toBeCloseTo((first - last) / temperature, 3)
      }),
    )
  })

  test('shows an impossible token as the smallest float, as SGLang does', () => {
    const of = distribution(Float32Array.of(1, Number.NEGATIVE_INFINITY))
    expect([logprobOf(of, 0), logprobOf(of, 1)]).toEqual([0, -3.4028234663852886e38])
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('of %s is refused', (odd) => {
    expect(() => distribution(Float32Array.of(0, odd))).toThrow('not numbers')
  })
})

describe('A draw', () => {
  const filters = fc.record({
    topK: fc.constantFrom(1, 2, 10, 100, Number.POSITIVE_INFINITY),
    topP: fc.constantFrom(0.001, 0.5, 0.95, 1),
    minP: fc.constantFrom(0, 0.1, 1),
  })

  /** Returns the allowed ids by the definition, over the whole sorted vocabulary. */
  const allowed = (row: Float32Array, temperature: number, { topK, topP, minP }: LogitFilter): number[] => {
    const of = distribution(row, temperature)
    const shares = sorted(row).map((id) => ({ id, share: Math.exp(logprobOf(of, id)) }))
    return shares
      .slice(0, topK)
      .filter(({ share }, index) => {
        const before = shares.slice(0, index).reduce((sum, other) => sum + other.share, 0)
        // Logprobs are rounded to 32 bits, so either answer is right at the edge.
        return before <= topP + 1e-5 && share >= minP * (shares[0]?.share ?? 0) * (1 - 1e-5)
      })
      .map(({ id }) => id)
  }

  const seeds = fc.integer()

  test('stays within the filter', () => {
    fc.assert(
      fc.property(fc.oneof(rows, coarse), temperatures, filters, seeds, (row, temperature, filter, seed) => {
        const of = distribution(row, temperature)
        expect(allowed(row, temperature, filter)).toContain(drawToken(of, filter, createRandom(seed)))
      }),
      { numRuns: runs(300) },
    )
  })

  test('with the same seed gives the same token if logits differ only by rounding', () => {
    const uniform = createRandom(1)
    const row = Float32Array.from({ length: 1000 }, () => 4 * uniform())
    const rounded = row.map((logit) => logit * (1 + 1e-6 * (uniform() - 0.5)))
    const drawn = (from: Float32Array, seed: number) => drawToken(distribution(from), ALL, createRandom(seed))
    for (let seed = 0; seed < 500; seed++) expect(drawn(rounded, seed)).toBe(drawn(row, seed))
  })

  test('returns each token as often as its probability says', () => {
    const draws = 20_000
    const row = Float32Array.of(0, 2, -1, 1)
    const counted = (filter: LogitFilter) => {
      const uniform = createRandom(5)
      const drawn = Array.from({ length: draws }, () => drawToken(distribution(row), filter, uniform))
      return idsOf(row).map((id) => drawn.filter((other) => other === id).length / draws)
    }
    const shares = idsOf(row).map((id) => Math.exp(logprobOf(distribution(row), id)))
    const two = (shares[1] as number) + (shares[3] as number)
    // The tolerance is four standard deviations; the seed is fixed.
    const tolerance = 4 * Math.sqrt(0.25 / draws)
    counted(ALL).forEach((share, id) => {
      expect(Math.abs(share - (shares[id] as number))).toBeLessThan(tolerance)
    })
    counted({ ...ALL, topK: 2 }).forEach((share, id) => {
      expect(Math.abs(share - (id === 1 || id === 3 ? (shares[id] as number) / two : 0))).toBeLessThan(tolerance)
    })
  })
})
