import { QueryClient } from '@tanstack/react-query'
import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { single } from '#components/token-view/selection.ts'
import type { ValueEstimate, ValueEstimates } from '#lib/api/forest/value.ts'
import { ApiError } from '#lib/browser/api.ts'
import { treeOptions } from '#lib/browser/library/branches.ts'
import {
  changeEstimate,
  startEstimate,
  valueEstimateOptions,
  valueEstimatesOptions,
} from '#lib/browser/library/values.ts'
import { serversOptions, trajectoryOptions } from '#lib/browser/queries.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import type { Inspection } from '../inspection.ts'
import { ValuePanel } from './value-panel.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: ({ children, ...props }: { readonly children: ReactNode }) => <a {...props}>{children}</a>,
}))
vi.mock('../charts/plot.tsx', () => ({
  Plot: ({ label, onChoose }: { readonly label: string; readonly onChoose: (index: number) => void }) => (
    <button type="button" aria-label={label} onClick={() => onChoose(1)} />
  ),
}))
vi.mock('#lib/browser/library/values.ts', async (original) => ({
  ...(await original<typeof import('#lib/browser/library/values.ts')>()),
  startEstimate: vi.fn(),
  changeEstimate: vi.fn(),
}))

const trajectory: Trajectory = {
  ...sampleTrajectory,
  segments: [
    { kind: 'prompt', ids: [1, 2], messages: [{ role: 'user', content: 'q' }] },
    { kind: 'response', ids: [3, 4, 5, 6], logprobs: [-1, -2, -3, -4], thinks: [], toolCalls: [] },
  ],
}
const reward = { kind: 'number', expected: 425 } as const

const pointAt = (at: number, passed: number): ValueEstimate['points'][number] => ({
  at,
  keys: [],
  groupId: `e-${at}`,
  rewarded: 8,
  truncated: 0,
  failed: 0,
  value: { mean: passed / 8, low: 0, high: 1, method: 'clopper-pearson' },
  spread: {
    answers: [{ text: '425', count: 8, reward: 1 }],
    distinctAnswers: 1,
    sampledTokens: { min: 3, mean: 4, max: 5 },
    toolCalls: { mean: 1.5, withCalls: 8, failed: 0 },
  },
})

const estimate: ValueEstimate = {
  id: 'e',
  key: 'k',
  createdAt: '2026-01-01T00:00:00.000Z',
  state: 'done',
  failure: null,
  n: 8,
  range: { tokens: [2, 4] },
  reward,
  server: null,
  cost: { positions: [2, 4], resamples: 16, tokens: 48 },
  progress: { ended: 16, resamples: 16, sampledTokens: 64 },
  points: [pointAt(2, 8), pointAt(4, 0)],
  confidence: { level: 0.95, correction: 'bonferroni', intervals: 2 },
  cliff: { from: 2, to: 4, before: 1, after: 0, drop: 1, p: 0.0001, test: 'fisher' },
  reading: 'cliff',
}

const onSelect = vi.fn()
/** The actions for keys that the panel registers. */
const offers = new Map<string, () => void>()
const offer = (name: string, run: () => void) => {
  offers.set(name, run)
  return () => offers.delete(name)
}
beforeEach(() => {
  onSelect.mockClear()
  offers.clear()
})

interface Shown {
  readonly on?: Trajectory
  readonly rule?: typeof reward | null
  /** Estimates of the trajectory from which the shown one was forked. */
  readonly inherited?: ValueEstimates['inherited']
}

function show(shown: ValueEstimate | undefined, { on = trajectory, rule = reward, inherited = [] }: Shown = {}) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } } })
  const { id, createdAt, state, n } = shown ?? estimate
  const own = shown && inherited.length === 0
  const estimates = own ? [{ id, createdAt, state, range: { tokens: [2, 4] }, n, positions: 2 }] : []
  client.setQueryData(valueEstimatesOptions('k').queryKey, { estimates, inherited, reward: rule } as never)
  if (shown) client.setQueryData(valueEstimateOptions('e').queryKey, shown)
  const leaves = [
    { row: { key: shown?.key ?? 'k', reward: 0 }, fork: null },
    {
      row: { key: 'b', reward: 1 },
      fork: { from: 0, token: 4, kind: 'forced', inserted: { text: 'find', instead: 'ls' } },
    },
  ]
  client.setQueryData(treeOptions('k').queryKey, { leaves, nodes: [], leftOut: 0 } as never)
  client.setQueryData(serversOptions().queryKey, { servers: [{ name: 'sglang-b' }] } as never)
  const inspection = { trajectory: on, view: { selection: single(3) }, onSelect, offer } as unknown as Inspection
  render(<ValuePanel inspection={inspection} storedKey="k" onClose={() => {}} />, { wrapper: withQueries(client) })
  return { client, user: userEvent.setup(), panel: screen.getByRole('region', { name: 'Value' }) }
}

test('Without an estimate, the panel shows the form with its cost, and starts what it says', async () => {
  vi.mocked(startEstimate).mockResolvedValue(estimate)
  const { user, panel } = show(undefined)
  expect(panel.textContent).toContain('No value yet')
  expect(panel.textContent).toContain('4 tokens × 8 samples ≈ 80 tokens')
  expect(document.activeElement).toBe(within(panel).getByRole('button', { name: 'Estimate the value' }))
  await user.selectOptions(within(panel).getByLabelText('Sample again from'), 'this token, 3')
  await user.clear(within(panel).getByLabelText('Samples at each token'))
  await user.type(within(panel).getByLabelText('Samples at each token'), '4')
  expect(panel.textContent).toContain('1 token × 4 samples ≈ 12 tokens')
  await user.selectOptions(within(panel).getByLabelText('Server'), 'sglang-b')
  await user.click(within(panel).getByRole('button', { name: 'Estimate the value' }))
  expect(vi.mocked(startEstimate).mock.lastCall?.slice(0, 2)).toEqual([
    'k',
    { range: { tokens: [3] }, n: 4, reward, server: 'sglang-b' },
  ])
  expect(document.activeElement?.closest('[aria-label="Value"]')).toBe(panel)
})

test('Without a rule, the form asks for one; a refused estimate shows the reason with its advice', async () => {
  vi.mocked(startEstimate).mockRejectedValue(
    new ApiError(422, 'GREEDY', 'all samples are the same', 'Send a temperature.'),
  )
  const { user, panel } = show(undefined, { rule: null })
  const button = within(panel).getByRole('button', { name: 'Estimate the value' }) as HTMLButtonElement
  expect(button.disabled).toBe(true)
  expect(document.activeElement).toBe(within(panel).getByLabelText('Expected'))
  await user.type(within(panel).getByLabelText('Expected'), '425')
  await user.click(button)
  await expect.poll(() => panel.textContent).toMatch(/all samples are the same/i)
  expect(panel.textContent).toContain('Send a temperature.')
})

test('A field of the reward shows its error only after it was left, or after Enter', async () => {
  const { user, panel } = show(undefined, { rule: null })
  const expected = () => within(panel).getByLabelText('Expected')
  expect(document.activeElement).toBe(expected())
  expect(panel.textContent).not.toContain('needs a number')
  await user.type(expected(), '4x')
  expect(expected().getAttribute('aria-invalid')).toBe(null)
  await user.tab()
  expect(panel.textContent).toContain('needs a number')
  expect(expected().getAttribute('aria-invalid')).toBe('true')
  await user.selectOptions(within(panel).getByLabelText('Reward'), 'The answer matches')
  expect(panel.textContent).not.toContain('needs a regular expression')
  await user.type(within(panel).getByLabelText('Regular expression'), '{Enter}')
  expect(panel.textContent).toContain('needs a regular expression')
})

test('A drop is the first line, and selects its token; the table has every position; a drop of several tokens is narrowed down', async () => {
  const { user, panel } = show(estimate)
  const drop = within(panel).getByRole('button', { name: /^−1 between token 2.* and token 4/ })
  await user.click(drop)
  expect(onSelect).toHaveBeenLastCalledWith(single(2), 'tokens')
  onSelect.mockClear()
  offers.get('main-finding')?.()
  expect(onSelect).toHaveBeenLastCalledWith(single(2), 'tokens')
  expect(panel.textContent).toContain('1 [0–1] → 0 [0–1], p = 1.0e−4 after Holm’s correction (Fisher’s exact test)')
  await user.click(within(panel).getByRole('button', { name: /^Mean reward of 8 samples at 2 tokens/ }))
  expect(onSelect).toHaveBeenLastCalledWith(single(4))
  const branch = within(panel).getByRole('link', { name: 'find for ls at 4: reward 1, 1 sample' })
  expect(branch.getAttribute('href')).toBe('/t/b?at=4')
  const rows = within(within(panel).getByRole('table', { hidden: true })).getAllByRole('row', { hidden: true })
  expect(rows.map(({ textContent }) => textContent)).toEqual([
    'tokentextmean rewardintervalsamplesanswerstokenstool calls',
    expect.stringMatching(/1\.00\[0–1\]8 of 8“425” × 841\.5$/),
    expect.stringMatching(/0\.00\[0–1\]8 of 8“425” × 841\.5$/),
  ])
  await user.click(within(panel).getByRole('button', { name: /^Narrow it down/ }))
  // The chart makes room for the form, which would be cut off below it.
  expect(within(panel).queryByRole('button', { name: /^Mean reward of/ })).toBe(null)
  await user.click(within(panel).getByRole('button', { name: 'Estimate the value' }))
  expect(vi.mocked(startEstimate).mock.lastCall?.[1]).toMatchObject({ range: { every: 1, from: 2, to: 5 } })
})

test('Without a significant drop the first line says that no token decided, and a single position shows its answers', () => {
  const { panel } = show({ ...estimate, cliff: null, reading: 'exploratory' })
  const line = within(panel).getByText('No token decided').parentElement?.textContent
  expect(line).toContain('exploratory: no drop between neighbouring tokens is significant')
  expect(line).toContain('Means from 0 to 1')
  document.body.innerHTML = ''
  const single = show({ ...estimate, cliff: null, reading: 'single', points: [pointAt(3, 8)] })
  expect(single.panel.textContent).toContain('of 8 samples: “425” × 8')
})

test('The form for a drop is still valid when the shown estimate no longer has the drop', async () => {
  const { client, user, panel } = show(estimate)
  await user.click(within(panel).getByRole('button', { name: /^Narrow it down/ }))
  const positions = () => within(panel).getByLabelText<HTMLSelectElement>('Sample again from').value
  expect(positions()).toBe('drop')
  const narrowed = { ...estimate, cliff: { from: 2, to: 3, before: 1, after: 0, drop: 1, p: 0.001, test: 'fisher' } }
  client.setQueryData(valueEstimateOptions('e').queryKey, narrowed as ValueEstimate)
  await expect.poll(positions).toBe('surprising')
  expect(within(panel).getByRole('button', { name: 'Estimate the value' })).toHaveProperty('disabled', false)
})

test('An estimate on another server names it', () => {
  const { panel } = show({ ...estimate, server: 'sglang-b' })
  expect(panel.textContent).toContain('64 tokens used on sglang-b')
})

test('A running estimate is cancelled, and one that failed says why and is resumed', async () => {
  vi.mocked(changeEstimate).mockResolvedValue()
  const progress = { ended: 3, resamples: 16, sampledTokens: 12 }
  const running = { ...estimate, state: 'running', cliff: null, reading: 'incomplete', progress } as const
  const { user, panel } = show(running)
  expect(panel.textContent).toContain('12 tokens used')
  await user.click(within(panel).getByRole('button', { name: 'Cancel, 3 of 16' }))
  expect(vi.mocked(changeEstimate).mock.lastCall?.slice(0, 2)).toEqual(['e', 'cancel'])
  document.body.innerHTML = ''
  const failed = show({ ...running, state: 'failed', failure: { code: 'X', message: 'the server is gone' } })
  expect(failed.panel.textContent).toContain('The estimate stopped: the server is gone')
  await user.click(within(failed.panel).getByRole('button', { name: 'Resume, 13 left' }))
  expect(vi.mocked(changeEstimate).mock.lastCall?.slice(0, 2)).toEqual(['e', 'resume'])
})

test('A trajectory that is running, or was run over a chat endpoint, has no form', () => {
  const { panel } = show(undefined, { on: { ...trajectory, outcome: { kind: 'running' } } })
  expect(panel.textContent).toContain('The value can be estimated when the run has ended.')
  expect(within(panel).queryByRole('form')).toBe(null)
  document.body.innerHTML = ''
  const chat = { kind: 'rollout', application: 'test', endpoint: 'chat' } as const
  expect(show(undefined, { on: { ...trajectory, provenance: chat } }).panel.textContent).toContain(
    'cannot continue from tokens',
  )
})

/** The estimate as one of the trajectory from which the shown one was forked. */
function inheritedAt(shared: number, positions: number): ValueEstimates['inherited'] {
  const { id, createdAt, state, range, n } = estimate
  return [{ id, createdAt, state, range, n, key: 'main', fork: null, shared, positions }]
}
const ofMain = { ...estimate, key: 'main' }

test('A branch without an estimate shows that of its trajectory up to the fork, and links to a drop after it', async () => {
  const { client, panel } = show(ofMain, { inherited: inheritedAt(3, 1) })
  client.setQueryData(trajectoryOptions('main').queryKey, { ...trajectory, vocab: { 3: 'ls' } } as never)
  expect(within(panel).getByRole('heading').textContent).toBe('Value of main')
  expect(panel.textContent).toContain('1 of 2 positions, up to the fork at token 3')
  expect(within(panel).getByRole('button', { name: /^Mean reward of 8 samples at 1 token\./ })).toBeTruthy()
  const drop = await within(panel).findByRole('link', { name: '−1 between token 2 "ls" and token 4 of main' })
  expect(drop.getAttribute('href')).toBe('/t/main?at=2')
  expect(panel.textContent).toContain('This branch leaves main at token 3.')
  expect(offers.has('main-finding')).toBe(false)
  expect(within(panel).getByRole('table', { hidden: true }).textContent).not.toContain('0.00')
  expect(within(panel).queryByRole('list', { name: 'Rewards of branches with inserted tokens' })).toBe(null)
  expect(within(panel).queryByRole('button', { name: /Resume|Narrow it down/ })).toBe(null)
  expect(within(panel).getByRole('button', { name: 'New estimate…' })).toBeTruthy()
})

test('A drop before the fork is the first line of the branch too, with the branches at shared tokens as rings', async () => {
  const { user, panel } = show(ofMain, { inherited: inheritedAt(4, 2) })
  await user.click(within(panel).getByRole('button', { name: /^−1 between token 2.* and token 4/ }))
  expect(onSelect).toHaveBeenLastCalledWith(single(2), 'tokens')
  expect(within(panel).getByRole('link', { name: 'find for ls at 4: reward 1, 1 sample' })).toBeTruthy()
})

test('Estimates of other trajectories of the tree are named in the choice, and the first with a curve is shown', () => {
  const [main] = inheritedAt(4, 2)
  const others = main ? [{ ...main, id: 'f', key: 'b', fork: 1211, positions: 1 }, main] : []
  const { panel } = show(ofMain, { inherited: others })
  expect(within(panel).getByRole('heading').textContent).toBe('Value of main')
  const options = within(within(panel).getByRole('combobox', { name: 'Shown estimate' })).getAllByRole('option')
  expect(options.map(({ textContent }) => textContent?.replace(/, [^,]*$/, ''))).toEqual([
    'the branch at 1,211: 2 tokens, × 8',
    'main: 2 tokens, × 8',
  ])
})
