import { expect, test } from 'vitest'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { compareSides } from './compare-sides.ts'
import { packComparison, unpackComparison } from './sent-comparison.ts'
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

test('a comparison survives the transfer from the worker, and the given sides stay identical objects', () => {
  const given = { left: sample, right: shortened }
  const comparing = compareSides(recorded(sample), recorded(shortened))
  const received = unpackComparison(structuredClone(packComparison(comparing, given)), given)
  expect(received).toEqual(comparing)
  expect(received.ok && received.value.comparison.report.spans.length).toBeGreaterThan(0)
  expect(received.ok && received.value.left.trajectory).toBe(sample)
})

test('a reconstructed side is transferred with its ids', () => {
  const comparing = compareSides(recorded(sample), recorded(shortened))
  const given = { left: sample, right: sample }
  const received = unpackComparison(structuredClone(packComparison(comparing, given)), given)
  if (!received.ok) throw new Error(received.why)
  expect(ids(received.value.right.trajectory)).toEqual(ids(shortened))
  expect(received.value.right.trajectory.vocab).toEqual(sample.vocab)
})

test('a side that cannot be made is reported with its name', () => {
  const comparing = compareSides(recorded(sample), { ...recorded(sample), as: { kind: 'text' } })
  expect(comparing).toMatchObject({ ok: false, side: 'right', why: 'No tokenizer is chosen.' })
  expect(packComparison(comparing, { left: sample, right: sample })).toBe(comparing)
})
