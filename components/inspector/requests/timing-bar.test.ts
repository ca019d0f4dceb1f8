import { expect, test } from 'vitest'
import { phasesOf } from './timing-bar.tsx'

const startedAt = '2026-01-01T00:00:00.000Z'
const phases = (...given: Parameters<typeof phasesOf>) => phasesOf(...given).map(({ ms }) => ms)

test('the phases of a call add up to its duration, and scoring is part of the time to the first token', () => {
  expect(phases({ startedAt, elapsedMs: 10 }, undefined)).toEqual([10])
  expect(phases({ startedAt, elapsedMs: 10, firstTokenMs: 4 }, undefined)).toEqual([4, 6])
  expect(phases({ startedAt, elapsedMs: 10, firstTokenMs: 4 }, { rid: 's', elapsedMs: 3 })).toEqual([3, 1, 6])
  // The measured times of two calls may be slightly inconsistent.
  expect(phases({ startedAt, elapsedMs: 10, firstTokenMs: 4 }, { rid: 's', elapsedMs: 4.5 })).toEqual([4, 0, 6])
})
