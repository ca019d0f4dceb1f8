import { act, renderHook } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { useInspectionParts } from './use-inspection-parts.ts'

type ParentInspection = Parameters<typeof useInspectionParts>[0]

/** Renders the parts for a trajectory; `rerender` shows another one. */
const show = () =>
  renderHook(
    ({ trajectory }: { readonly trajectory: TrajectoryView }) =>
      useInspectionParts({ trajectory, view: { selection: undefined } } as unknown as ParentInspection, {
        onShowTokens: () => {},
      }),
    { initialProps: { trajectory: sample as TrajectoryView } },
  )

test('marks of drift are not shown on another trajectory until its drift is known; hits of a search are kept', () => {
  const { result, rerender } = show()
  const kinds = () => result.current.inspection.marks.map(({ kind }) => kind)
  act(() => {
    result.current.inspection.onMarks('hit', Int32Array.of(0, 1))
    result.current.inspection.onMarks('drift', Int32Array.of(2, 3))
  })
  expect(kinds()).toEqual(['hit', 'drift'])
  const grown = { ...sample }
  rerender({ trajectory: grown })
  expect(kinds()).toEqual(['hit'])
  act(() => result.current.inspection.onMarks('drift', Int32Array.of(4, 5)))
  expect(kinds()).toEqual(['hit', 'drift'])
  rerender({ trajectory: grown })
  expect(kinds()).toEqual(['hit', 'drift'])
})

test('marks without known ranges are removed', () => {
  const { result } = show()
  act(() => result.current.inspection.onMarks('drift', Int32Array.of(2, 3)))
  act(() => result.current.inspection.onMarks('drift', undefined))
  expect(result.current.inspection.marks).toEqual([])
})

test('the tokens of notes are marked', () => {
  const { result, rerender } = show()
  expect(result.current.inspection.marks).toEqual([])
  const note = { id: '1', start: 1, end: 4, text: 'x' }
  rerender({ trajectory: { ...sample, notes: [{ ...note, id: '2', start: 3, end: 6 }, note] } })
  expect(result.current.inspection.marks).toEqual([{ kind: 'note', ranges: Int32Array.of(1, 6) }])
})
