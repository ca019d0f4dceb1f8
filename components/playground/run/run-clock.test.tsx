import { act, cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { RunClock } from './run-clock.tsx'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

const clock = (isRunning: boolean) => <RunClock trajectory={sample} isRunning={isRunning} note={undefined} />

test('The end of a run is announced once, and that of an earlier run is not', () => {
  vi.useFakeTimers()
  const { rerender } = render(clock(false))
  const status = screen.getByRole('status')
  expect(status.textContent).toBe('')
  rerender(clock(true))
  act(() => vi.advanceTimersByTime(200))
  expect(status.textContent).toBe('')
  rerender(clock(false))
  expect(status.textContent).toMatch(/^The run has ended: \w+, \d+ tokens\.$/)
})
