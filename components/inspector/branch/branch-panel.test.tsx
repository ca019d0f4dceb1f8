import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { BranchesStarted } from '#lib/api/forest/branch.ts'
import { ApiError } from '#lib/browser/api.ts'
import { startBranches } from '#lib/browser/library/branches.ts'
import { serversOptions } from '#lib/browser/queries.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { BranchPanel } from './branch-panel.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: (props: { readonly href: string; readonly children?: string }) => <a {...props}>{props.children}</a>,
}))
vi.mock('#lib/browser/library/branches.ts', async (original) => ({
  ...(await original<typeof import('#lib/browser/library/branches.ts')>()),
  startBranches: vi.fn(),
  treeOptions: (key: string) => ({
    queryKey: ['tree', key],
    queryFn: async () => ({ leaves: [], counts: { tokens: 0, distinctTokens: 0 }, leftOut: 0 }),
  }),
}))

const trajectory: Trajectory = {
  ...sampleTrajectory,
  segments: [
    { kind: 'prompt', ids: [1, 2], messages: [{ role: 'user', content: 'q' }] },
    {
      kind: 'response',
      ids: [3, 4],
      thinks: [],
      toolCalls: [],
      topLogprobs: { k: 2, ids: [3, 5, 4, 6], logprobs: [-0.1, -2.4, -0.2, -1.9] },
    },
  ],
}

const STARTED: BranchesStarted = { keys: ['b'], kind: 'alternative', shared: 2, rollouts: [] }

function show(index: number, on: Trajectory = trajectory) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  client.setQueryData(serversOptions().queryKey, { servers: [], defaultServer: 'built-in' } as never)
  const token = tokenAt(on, index)
  if (!token) throw new Error('there is such a token')
  const commands = new Map<string, () => void>()
  const offer = (name: string, run: () => void) => {
    commands.set(name, run)
    return () => commands.delete(name)
  }
  render(
    <QueryClientProvider client={client}>
      <BranchPanel trajectory={on} token={token} storedKey="k" offer={offer} />
    </QueryClientProvider>,
  )
  return { commands, user: userEvent.setup(), panel: screen.getByRole('region', { name: 'Branch' }) }
}

const request = () => vi.mocked(startBranches).mock.lastCall?.[1]

test('An alternative of a sampled token starts the chosen number of branches', async () => {
  vi.mocked(startBranches).mockResolvedValue(STARTED)
  const { user, panel } = show(2)
  await user.click(within(panel).getAllByRole('radio')[2] as HTMLElement)
  await user.clear(within(panel).getByLabelText('Branches'))
  await user.type(within(panel).getByLabelText('Branches'), '4')
  await user.click(within(panel).getByRole('button', { name: 'Branch × 4' }))
  expect(request()).toEqual({ at: 2, n: 4, force: { alternative: 5 } })
  expect((await screen.findByRole('status')).textContent).toBe('The branch is stored. 2 tokens are shared.')
})

test('Cut here requests no samples, and a refused branch shows the reason with its advice', async () => {
  vi.mocked(startBranches).mockRejectedValue(
    new ApiError(409, 'RUNNING', 'the trajectory is running', 'Wait for its end.'),
  )
  const { user, panel } = show(3)
  await user.click(within(panel).getByRole('button', { name: 'Cut here' }))
  expect(request()).toEqual({ at: 3, n: 0 })
  await expect.poll(() => panel.textContent).toMatch(/the trajectory is running/i)
  expect(panel.textContent).toContain('Wait for its end.')
})

test('Ids that are no numbers are refused at their field, before any request', async () => {
  vi.mocked(startBranches).mockClear()
  const { user, panel } = show(2)
  await user.click(within(panel).getByRole('radio', { name: 'Insert token ids' }))
  await user.type(within(panel).getByLabelText(/^Token ids/), '1, a')
  await user.click(within(panel).getByRole('button', { name: 'Branch' }))
  expect(
    within(panel)
      .getByLabelText(/^Token ids/)
      .getAttribute('aria-invalid'),
  ).toBe('true')
  expect(startBranches).not.toHaveBeenCalled()
})

test('A token of a prompt edits its message, and the page says that the template is applied again', async () => {
  vi.mocked(startBranches).mockResolvedValue({ ...STARTED, kind: 'message', shared: 0 })
  const { user, panel } = show(1)
  const field = within(panel).getByLabelText('Text of the user message')
  await user.clear(field)
  await user.type(field, 'Q')
  expect(panel.textContent).toContain('The chat template is applied again')
  await user.click(within(panel).getByRole('button', { name: 'Edit and continue' }))
  expect(request()).toEqual({ at: 0, n: 1, edit: { message: 0, text: 'Q' } })
})

test('A running trajectory offers no branch, and says when it will', () => {
  const { commands, panel } = show(2, { ...trajectory, outcome: { kind: 'running' } })
  expect(panel.textContent).toContain('A branch can begin when the run has ended.')
  expect(commands.has('branch')).toBe(false)
})

test('The command for branches focuses the first field', () => {
  const { commands, panel } = show(2)
  commands.get('branch')?.()
  expect(document.activeElement).toBe(within(panel).getAllByRole('radio')[0])
})
