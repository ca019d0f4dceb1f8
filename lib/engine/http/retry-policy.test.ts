import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EngineError, type EngineErrorCode, retryAfterMs } from './errors.ts'
import { createRetries, LONGEST_WAIT_MS, RETRY_POLICY } from './retry-policy.ts'

const failing = (code: EngineErrorCode, retryAfterMs?: number) => new EngineError(code, 'x', { retryAfterMs })
const clockAndRandom = { nowMs: () => 0, random: () => 0.5 }
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('retry delays double with a spread of a quarter, and Retry-After is respected up to half a minute', () => {
  const retryAfter = fc.option(fc.integer({ min: 1, max: 1e12 }), { nil: undefined })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), share, retryAfter, (repetition, random, retryAfterMs) => {
      const delay = createRetries(RETRY_POLICY, { ...clockAndRandom, random: () => random }).delayMs(
        failing('UPSTREAM_BUSY', retryAfterMs),
        repetition,
      ) as number
      expect(delay).toBeLessThanOrEqual(LONGEST_WAIT_MS)
      if (retryAfterMs !== undefined) expect(delay).toBeGreaterThanOrEqual(Math.min(retryAfterMs, LONGEST_WAIT_MS))
      else expect(Math.abs(delay / (500 * 2 ** (repetition - 1)) - 1)).toBeLessThanOrEqual(0.25)
    }),
  )
})

test('a call is retried at most three times, and only after transient failures', () => {
  const passing = [
    'CONNECT_REFUSED',
    'CONNECT_TIMEOUT',
    'CONNECTION_RESET',
    'TOO_MANY_FILES',
    'UPSTREAM_BUSY',
    'UPSTREAM_ERROR',
  ] as const
  for (const code of passing) {
    const retries = createRetries(RETRY_POLICY, clockAndRandom)
    expect([1, 2, 3, 4].map((n) => retries.delayMs(failing(code), n))).toEqual([500, 1000, 2000, undefined])
  }
  const lasting = [
    'UPSTREAM_AUTH',
    'UPSTREAM_REJECTED',
    'CONTEXT_LENGTH',
    'UPSTREAM_TRUNCATED',
    'DNS_FAILED',
    'TLS_FAILED',
    'CIRCUIT_OPEN',
  ] as const
  for (const code of lasting)
    expect(createRetries(RETRY_POLICY, clockAndRandom).delayMs(failing(code), 1)).toBeUndefined()
  expect(createRetries(RETRY_POLICY, clockAndRandom).delayMs(new Error('stopped'), 1)).toBeUndefined()
})

test('retries stay within a fifth of all calls, a tenth of the seconds and ten, in whatever order calls fail', () => {
  const step = fc.record({ passedMs: fc.nat(20_000), calls: fc.nat(20), failures: fc.nat(40) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let nowMs = 0
      const retries = createRetries(RETRY_POLICY, { ...clockAndRandom, nowMs: () => nowMs })
      let calls = 0
      let repetitions = 0
      for (const { passedMs, calls: more, failures } of steps) {
        nowMs += passedMs
        calls += more
        for (let i = 0; i < more; i++) retries.begin()
        for (let i = 0; i < failures; i++)
          if (retries.delayMs(failing('UPSTREAM_ERROR'), 1) !== undefined) repetitions++
        expect(repetitions).toBeLessThanOrEqual(10 + 0.2 * calls + 0.1 * (nowMs / 1000) + 1e-6)
      }
    }),
  )
})

test('a spent retry budget refills', () => {
  let nowMs = 0
  const retries = createRetries(RETRY_POLICY, { ...clockAndRandom, nowMs: () => nowMs })
  const repeated = () => retries.delayMs(failing('CONNECT_REFUSED'), 1) !== undefined
  expect(Array.from({ length: 12 }, repeated).filter(Boolean)).toHaveLength(10)
  nowMs += 10_000
  expect([repeated(), repeated()]).toEqual([true, false])
  for (let i = 0; i < 5; i++) retries.begin()
  expect(repeated()).toBe(true)
})

test.each([
  ['7', 7000],
  [' 0.5 ', 500],
  ['Wed, 18 Nov 2026 10:00:05 GMT', 5000],
  ['Wednesday, 18-Nov-26 10:00:05 GMT', 5000],
  ['Wed Nov 18 10:00:05 2026', undefined],
  ['0', undefined],
  ['-5', undefined],
  ['1e9', undefined],
  ['Infinity', undefined],
  ['Wed, 18 Nov 2026 09:00:00 GMT', undefined],
  ['2099', 2_099_000],
  ['soon', undefined],
  ['Monday', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j is read', (header, ms) => {
  expect(retryAfterMs(header, new Date('2026-11-18T10:00:00Z'))).toEqual(ms)
})

test('no Retry-After header throws or gives a negative delay', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (header) => {
      const ms = retryAfterMs(header, new Date(0))
      if (ms !== undefined) expect(ms).toBeGreaterThan(0)
    }),
  )
})
