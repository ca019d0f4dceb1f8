import { QueryClient } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { BranchesStarted } from '#lib/api/forest/branch.ts'
import { ApiError } from '#lib/browser/api.ts'
import { startBranches } from '#lib/browser/library/branches.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { ResumeBranch } from './resume-branch.tsx'

const go = vi.hoisted(() => vi.fn())
vi.mock('#components/shell/navigation.tsx', () => ({ useNavigation: () => ({ go }) }))
vi.mock('#lib/browser/library/branches.ts', () => ({ startBranches: vi.fn() }))

const stopped: Trajectory = {
  ...sampleTrajectory,
  segments: [
    { kind: 'prompt', ids: [1], messages: [] },
    { kind: 'response', ids: [3], thinks: [], toolCalls: [], finish: { kind: 'cancelled' } },
  ],
  outcome: { kind: 'ended', reason: 'interrupted' },
}

const client = new QueryClient()
const show = (trajectory: Trajectory) =>
  render(<ResumeBranch trajectory={trajectory} storedKey="k" />, { wrapper: withQueries(client) })

test('A response that the model ended cannot be resumed', () => {
  const { container } = show({ ...stopped, outcome: { kind: 'running' } })
  expect(container.textContent).toBe('')
})

test('An interrupted response is resumed in a branch, which opens, and a refusal is shown', async () => {
  vi.mocked(startBranches)
    .mockRejectedValueOnce(new ApiError(409, 'RUNNING', 'It is running', 'Wait for its end.'))
    .mockResolvedValueOnce({ keys: ['new'], kind: 'continued', shared: 12, rollouts: ['r'] })
  show(stopped)
  const button = screen.getByRole('button', { name: 'Resume as branch' })
  await userEvent.click(button)
  expect((await screen.findByRole('alert')).textContent).toBe('It is running. Wait for its end.')
  expect(go).not.toHaveBeenCalled()
  await userEvent.click(button)
  expect(vi.mocked(startBranches).mock.lastCall?.slice(0, 2)).toEqual(['k', { at: 2, n: 1 }])
  expect(go).toHaveBeenCalledWith('/t/new')
})

test('The button Resume as branch keeps the focus while the branch starts', async () => {
  const starting = Promise.withResolvers<BranchesStarted>()
  vi.mocked(startBranches).mockReset()
  vi.mocked(startBranches).mockReturnValue(starting.promise)
  show(stopped)
  const button = screen.getByRole('button', { name: 'Resume as branch' })
  button.focus()
  await userEvent.keyboard('{Enter}{Enter}')
  expect(button).toHaveProperty('ariaDisabled', 'true')
  expect(button).toHaveProperty('disabled', false)
  expect(startBranches).toHaveBeenCalledOnce()
  await act(async () => starting.resolve({ keys: ['new'], kind: 'continued', shared: 12, rollouts: ['r'] }))
  expect(document.activeElement).toBe(button)
})
