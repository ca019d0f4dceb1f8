import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { ComparedSides } from '#lib/analysis/compare/compare-sides.ts'
import type { SegmentEncoding } from '#lib/analysis/compare/shown-side.ts'
import { compareTrajectories } from '#lib/trajectory/drift/compare.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { SegmentEncodings } from './segment-encodings.tsx'

function compared(perSegment: readonly SegmentEncoding[] | undefined): ComparedSides {
  const recorded = { trajectory: sampleTrajectory, caveats: [] }
  return {
    left: recorded,
    right: { ...recorded, ...(perSegment && { perSegment }) },
    comparison: compareTrajectories(sampleTrajectory, sampleTrajectory),
  }
}

const prompt: SegmentEncoding = { kind: 'prompt', tokens: 2000, alone: 2000, drifted: 0 }

test('SegmentsAlone counts and names segments that have different tokens if they are encoded alone', () => {
  const response: SegmentEncoding = { kind: 'response', tokens: 51, alone: 48, drifted: 6 }
  render(<SegmentEncodings compared={compared([prompt, response, { ...response, drifted: 1200 }])} />)
  screen.getByText('right, each segment encoded by itself: 1,206 tokens differ in 2 of 3 segments')
  screen.getByText('segment 2, response: 6 of its 51 tokens differ; by itself it has 48')
})

test('SegmentsAlone says when no segment has different tokens', () => {
  render(<SegmentEncodings compared={compared([prompt, prompt])} />)
  screen.getByText('right, each segment encoded by itself: no token differs')
})

test('SegmentsAlone ends a long list with the number of further segments', () => {
  render(<SegmentEncodings compared={compared(Array(130).fill({ ...prompt, drifted: 1 }))} />)
  expect(screen.getAllByRole('listitem', { hidden: true }).at(-1)?.textContent).toBe('and 30 more')
})

test('SegmentsAlone is empty for a side that is not made from text', () => {
  const { container } = render(<SegmentEncodings compared={compared(undefined)} />)
  expect(container.textContent).toBe('')
})
