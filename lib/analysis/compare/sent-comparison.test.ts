import { expect, test } from 'vitest'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { compareSides } from './compare-sides.ts'
import { receivedComparing, sentComparing } from './sent-comparison.ts'
import type { LoadedSide } from './shown-side.ts'

const recorded = (trajectory: TrajectoryView): LoadedSide => ({
  as: { kind: 'recorded' },
  trajectory,
  tokenizer: undefined,
  template: undefined,
})

const shortened: TrajectoryView = {
  ...sample,
  segments: sample.segments.map((segment) => ({ ...segment, ids: Array.from(segment.ids).toReversed() })),
}

test('what the worker sends is what it found, and the given sides are the very ones', () => {
  const given = { left: sample, right: shortened }
  const comparing = compareSides(recorded(sample), recorded(shortened))
  const received = receivedComparing(structuredClone(sentComparing(comparing, given)), given)
  expect(received).toEqual(comparing)
  expect(received.ok && received.value.comparison.report.spans.length).toBeGreaterThan(0)
  expect(received.ok && received.value.left.trajectory).toBe(sample)
})

test('a side that was made goes over with its ids', () => {
  const comparing = compareSides(recorded(sample), recorded(shortened))
  const given = { left: sample, right: sample }
  const received = receivedComparing(structuredClone(sentComparing(comparing, given)), given)
  if (!received.ok) throw new Error(received.why)
  expect(ids(received.value.right.trajectory)).toEqual(ids(shortened))
  expect(received.value.right.trajectory.vocab).toEqual(sample.vocab)
})

test('what cannot be made is told with its side', () => {
  const comparing = compareSides(recorded(sample), { ...recorded(sample), as: { kind: 'text' } })
  expect(comparing).toMatchObject({ ok: false, side: 'right', why: 'No tokenizer was given.' })
  expect(sentComparing(comparing, { left: sample, right: sample })).toBe(comparing)
})
