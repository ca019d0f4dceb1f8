import { QueryClient } from '@tanstack/react-query'
import { act, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { PanelAction, RegisterPanelCommand } from '#components/inspector/selection/panel-commands.ts'
import type { BranchesStarted } from '#lib/api/forest/branch.ts'
import { ApiError } from '#lib/browser/api.ts'
import { startBranches } from '#lib/browser/library/branches.ts'
import { serversOptions } from '#lib/browser/queries.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import type { Insertion } from './branch-draft.ts'
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
  model: { ...sampleTrajectory.model, tools: [{ name: 'add', inputSchema: {} }] },
  vocab: { '1': 'p', '2': 'q', '3': 'a', '4': 'c', '5': 'b', '6': 'd' },
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

/** Shows the panel with a parent that keeps what is inserted, as the details pane does. */
function Panel(props: Omit<Parameters<typeof BranchPanel>[0], 'insertion' | 'onInsertion' | 'storedKey' | 'say'>) {
  const [insertion, setInsertion] = useState<Insertion>('nothing')
  return <BranchPanel {...props} storedKey="k" insertion={insertion} onInsertion={setInsertion} say={say} />
}

const say = vi.fn()

function show(index: number, on: Trajectory = trajectory) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  client.setQueryData(serversOptions().queryKey, { servers: [], defaultServer: 'built-in' } as never)
  const token = tokenAt(on, index)
  if (!token) throw new Error('there is such a token')
  const commands = new Map<string, PanelAction>()
  const offer: RegisterPanelCommand = (name, run) => {
    commands.set(name, run)
    return () => commands.delete(name)
  }
  render(<Panel trajectory={on} token={token} offer={offer} />, { wrapper: withQueries(client) })
  const run = (name: string, position?: number) => act(async () => commands.get(name)?.(position))
  return { commands, run, user: userEvent.setup(), panel: screen.getByRole('region', { name: 'Branch' }) }
}

const request = () => vi.mocked(startBranches).mock.lastCall?.[1]

test('An alternative that a key chooses is resampled as often as the card says, with its cost before the click', async () => {
  vi.mocked(startBranches).mockResolvedValue(STARTED)
  const { run, user, panel } = show(2)
  expect(panel.textContent).toContain('8 × 2 tokens ≈ 16 tokens')
  await run('alternative', 2)
  expect(say).toHaveBeenLastCalledWith('Alternative 2: "b"')
  expect(within(panel).getByRole('heading').textContent?.trim()).toBe('Branch after b')
  await user.clear(within(panel).getByLabelText('Resamples'))
  await user.type(within(panel).getByLabelText('Resamples'), '4')
  expect(panel.textContent).toContain('4 × 1 token ≈ 4 tokens2 shared, which the server can cache')
  await run('resample')
  expect(request()).toEqual({ at: 2, n: 4, force: { alternative: 5 } })
  await expect.poll(() => panel.textContent).toContain('The branch is stored. 2 tokens are shared.')
  const write = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
  await user.click(within(panel).getByRole('button', { name: 'Copy as cURL' }))
  expect(write.mock.lastCall?.[0]).toContain('/api/trajectories/k/branch')
  expect(write.mock.lastCall?.[0]).toContain('{"at":2,"force":{"alternative":5},"n":4}')
  await run('alternative', 2)
  expect(say).toHaveBeenLastCalledWith('No alternative is chosen.')
  await run('alternative', 3)
  expect(say).toHaveBeenLastCalledWith('The token has only 2 alternatives.')
})

test('Continue from here starts one branch, and the number of resamples has limits', async () => {
  vi.mocked(startBranches).mockResolvedValue(STARTED)
  const { run, user, panel } = show(2)
  await run('branch')
  expect(request()).toEqual({ at: 2, n: 1 })
  await user.click(within(panel).getByRole('button', { name: 'One resample more' }))
  expect(within(panel).getByRole('button', { name: /^Resample/ }).textContent).toBe('Resample × 9 R')
  await user.clear(within(panel).getByLabelText('Resamples'))
  await user.type(within(panel).getByLabelText('Resamples'), '65')
  await run('resample')
  expect(panel.textContent).toContain('The number is a whole number from 1 to 64')
})

test('the button that starts a branch by keyboard keeps the focus, and starts nothing more until the server answers', async () => {
  let answer = (_: BranchesStarted) => {}
  vi.mocked(startBranches).mockReset()
  vi.mocked(startBranches).mockImplementation(
    () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  )
  const { user, panel } = show(3)
  const button = within(panel).getByRole('button', { name: /^Cut here/ })
  button.focus()
  await user.keyboard('{Enter}{Enter}')
  expect(button).toHaveProperty('ariaDisabled', 'true')
  expect(button).toHaveProperty('disabled', false)
  expect(startBranches).toHaveBeenCalledOnce()
  await act(async () => answer(STARTED))
  expect(document.activeElement).toBe(button)
  await expect.poll(() => panel.textContent).toContain('The branch is stored.')
})

test('Cut here requests no samples, and a refused branch shows the reason with its advice', async () => {
  vi.mocked(startBranches).mockRejectedValue(
    new ApiError(409, 'RUNNING', 'the trajectory is running', 'Wait for its end.'),
  )
  const { run, panel } = show(3)
  await run('cut')
  expect(request()).toEqual({ at: 3, n: 0 })
  await expect.poll(() => panel.textContent).toMatch(/the trajectory is running/i)
  expect(panel.textContent).toContain('Wait for its end.')
})

test('Ids that are no numbers are refused at their field before any request, and a refused text at its field after it', async () => {
  vi.mocked(startBranches).mockClear()
  const { run, user, panel } = show(2)
  await run('force')
  await expect.poll(() => document.activeElement).toBe(within(panel).getByLabelText(/^Text/))
  await user.click(within(panel).getByRole('button', { name: 'Token ids' }))
  await user.type(within(panel).getByLabelText(/^Token ids, /), '1, a')
  await run('branch')
  expect(within(panel).getByLabelText(/^Token ids, /)).toHaveProperty('ariaInvalid', 'true')
  expect(startBranches).not.toHaveBeenCalled()
  vi.mocked(startBranches).mockRejectedValue(
    new ApiError(422, 'CANNOT_ENCODE', 'the text cannot be encoded', 'Type ids instead.', { field: 'force' }),
  )
  await user.click(within(panel).getByRole('button', { name: 'Text' }))
  await run('branch')
  expect(panel.textContent).toContain('The text cannot be encoded. Type ids instead.')
})

test('Changed sampling, server and rounds of tool calls are part of the request', async () => {
  vi.mocked(startBranches).mockResolvedValue(STARTED)
  const { run, user, panel } = show(2)
  await user.click(within(panel).getByRole('button', { name: 'Change the sampling' }))
  await user.type(within(panel).getByLabelText('Temperature'), '0.3')
  expect(panel.textContent).toContain('T 0.3')
  await user.click(within(panel).getByRole('button', { name: 'Change the server and tools' }))
  expect(within(panel).queryByLabelText('Temperature')).toBeNull()
  await user.type(within(panel).getByLabelText('Most rounds of tool calls'), '0')
  await run('branch')
  expect(request()).toEqual({ at: 2, n: 1, sampling: { temperature: 0.3 }, limits: { maxToolIterations: 0 } })
})

test('A token of a prompt edits its message, and the page says that the template is applied again', async () => {
  vi.mocked(startBranches)
    .mockClear()
    .mockResolvedValue({ ...STARTED, kind: 'message', shared: 0 })
  const { commands, run, user, panel } = show(1)
  expect([commands.has('alternative'), commands.has('cut')]).toEqual([false, false])
  const field = within(panel).getByLabelText('Text of the user message')
  await run('branch')
  expect(panel.textContent).toContain('The text is unchanged')
  await expect.poll(() => document.activeElement).toBe(field)
  expect(startBranches).not.toHaveBeenCalled()
  await user.clear(field)
  await user.type(field, 'Q')
  expect(panel.textContent).toContain('The chat template is applied again')
  await user.click(within(panel).getByRole('button', { name: /^Edit and continue/ }))
  expect(request()).toEqual({ at: 0, n: 1, edit: { message: 0, text: 'Q' } })
})

test('A running trajectory offers no branch, and says when it will', () => {
  const { commands, panel } = show(2, { ...trajectory, outcome: { kind: 'running' } })
  expect(panel.textContent).toContain('A branch can begin when the run has ended.')
  expect(commands.size).toBe(0)
})
