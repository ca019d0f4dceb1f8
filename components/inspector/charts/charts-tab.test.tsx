import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Inspection } from '../inspection.ts'
import { SegmentTable } from './segment-table.tsx'

/** jsdom has no matchMedia, which uPlot calls when it is loaded. */
vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener() {}, removeEventListener() {} }))
const { MismatchChart } = await import('./mismatch-chart.tsx')

const inspectionOf = (trajectory: TrajectoryView, onSelect = vi.fn()) =>
  ({ trajectory, view: {}, onSelect }) as unknown as Inspection

test('the segment table sorts by perplexity in both directions with unknown values last, and selects the first token of a segment', async () => {
  const onSelect = vi.fn()
  const response = sampleTrajectory.segments[1] as ResponseSegment
  const unlikely = { ...response, logprobs: response.ids.map(() => -3) }
  const trajectory = { ...sampleTrajectory, segments: [...sampleTrajectory.segments, unlikely] }
  render(<SegmentTable inspection={inspectionOf(trajectory, onSelect)} />)
  const user = userEvent.setup()
  const table = within(screen.getByRole('table'))
  const order = () =>
    table
      .getAllByRole('button')
      .map(({ textContent }) => textContent)
      .filter((text) => /^\d+$/.test(text))
      .join(' ')
  const seen: (string | null)[] = []
  for (let click = 0; click < 2; click++) {
    await user.click(table.getByRole('button', { name: /perplexity/ }))
    seen.push(table.getByRole('columnheader', { name: /perplexity/ }).getAttribute('aria-sort'), order())
  }
  expect(seen).toEqual(['descending', '4 1 0 2 3', 'ascending', '1 4 0 2 3'])
  await user.click(table.getByRole('button', { name: '1' }))
  expect(onSelect).toHaveBeenLastCalledWith({ anchor: 3, focus: 3 }, 'tokens')
})

test('the mismatch chart names the column that a file without further columns lacks', () => {
  const segments = sampleTrajectory.segments.map((segment) => ({ ...segment, columns: undefined }))
  const trajectory = { ...sampleTrajectory, segments } as unknown as TrajectoryView
  render(<MismatchChart inspection={inspectionOf(trajectory)} />)
  expect(screen.getByText(/This file has no other column.*trainerLogprobs/)).toBeDefined()
})

test('a language of the browser that is no locale is replaced before uPlot is loaded', async () => {
  vi.spyOn(navigator, 'language', 'get').mockReturnValue('C')
  vi.resetModules()
  await import('./valid-locale.ts')
  expect(() => new Intl.NumberFormat(navigator.language)).not.toThrow()
  Reflect.deleteProperty(navigator, 'language')
})
