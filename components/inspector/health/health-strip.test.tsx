import { render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { expect, test, vi } from 'vitest'
import type { Drift } from '#lib/analysis/health/drift.ts'
import { ApiError } from '#lib/browser/api.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ENCODED_AGAIN_LABEL, type Health } from '#lib/trajectory/health/health.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import type { Inspection } from '../inspection.ts'
import { HealthStrip } from './health-strip.tsx'

const good: Health = { findings: [], checks: [{ name: 'loss mask' }, { name: 'endings' }] }
const known = (...ranges: number[]): Drift => ({
  kind: 'known',
  ranges: Int32Array.from(ranges),
  trained: ranges.length / 2,
  otherBytes: 0,
  tokens: 2,
  others: 1,
})

const alignment = {
  kind: 'alignment',
  severity: 'warning',
  label: '9 padding tokens',
  message: 'They are padding.',
  count: 9,
  places: [],
} as const

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: ({ children, ...props }: { readonly children: ReactNode }) => <a {...props}>{children}</a>,
}))

const repairTrajectory = vi.hoisted(() =>
  vi.fn<(key: string, choice: { readonly name: string }) => Promise<Trajectory>>(),
)
vi.mock('#lib/browser/queries.ts', async (original) => ({
  ...(await original<typeof import('#lib/browser/queries.ts')>()),
  repairTrajectory,
}))

function show(
  answers: { readonly health?: Health | Error; readonly drift?: Drift | Error },
  trajectory: Trajectory = sample,
  storedKey?: string,
) {
  const run = vi.fn(
    async (name: 'health' | 'drift', _request: undefined, _options: { readonly tokenizers?: readonly string[] }) => {
      const answer = answers[name]
      if (answer instanceof Error) throw answer
      return answer ?? new Promise(() => {})
    },
  )
  const [onSelect, onMarks, say] = [vi.fn(), vi.fn(), vi.fn()]
  const inspection = { trajectory, run, onSelect, onMarks, say, marks: [], storedKey } as unknown as Inspection
  render(<HealthStrip inspection={inspection} />, { wrapper: withQueries() })
  return { run, onSelect, onMarks, user: userEvent.setup() }
}

test('the health strip reports that nothing was found, and how many checks were made', async () => {
  const { onMarks, run } = show({ health: good, drift: known() })
  expect(await screen.findByText('no findings · drift 0 spans · 3 checks')).toBeDefined()
  expect(screen.queryAllByRole('button')).toEqual([])
  await waitFor(() => expect(onMarks.mock.calls).toEqual([['drift', new Int32Array()]]))
  expect(run.mock.calls.find(([name]) => name === 'drift')?.[2].tokenizers).toEqual(['bytes'])
})

test('the health strip never reports zero drift if drift is unknown, and says why', async () => {
  const { user, onMarks } = show({ health: good, drift: new Error('the Hub has no model bytes') })
  await user.click(await screen.findByRole('button', { name: 'Drift unknown' }))
  expect(screen.getByText(/could not be checked: the Hub has no model bytes\./)).toBeDefined()
  expect(screen.getByRole('status').textContent).toBe('no findings · 2 checks')
  expect(onMarks).not.toHaveBeenCalled()
})

test('the health strip shows piece texts that contradict the tokenizer as an error, and never beside “no findings”', async () => {
  const example = { id: 7, file: 'a', tokenizer: 'b' }
  const drift: Drift = { ...known(), otherPieces: { ids: 1, example, tokens: Int32Array.of(2) } } as Drift
  const { user, onSelect } = show({ health: good, drift })
  await user.click(await screen.findByRole('button', { name: /Error:\s?1 id with another text/ }))
  expect(screen.getByText(/The file gives id 7 the text "a", and the tokenizer of its fingerprint "b"/)).toBeDefined()
  expect(onSelect).toHaveBeenCalledWith({ anchor: 2, focus: 2 }, 'tokens')
  expect(screen.getByRole('status').textContent).toBe('drift 0 spans · 3 checks')
})

test('the health strip loads no tokenizer if the server’s own was used', async () => {
  const model = { ...sample.model, tokenizer: { name: 'x', specialIds: [], source: 'server' as const } }
  const { run } = show({ health: good }, { ...sample, model })
  await screen.findByRole('button', { name: 'Drift unknown' })
  expect(run.mock.calls.map(([name]) => name)).toEqual(['health'])
})

test('the health strip shows the positions of a finding one after the other, and its remedy', async () => {
  const finding = {
    kind: 'malformed-call',
    severity: 'warning',
    label: '2 malformed calls',
    message: 'They could not be read.',
    remedy: 'Look at them.',
    count: 2,
    places: [
      { start: 3, end: 6 },
      { start: 8, end: 9 },
    ],
  } as const
  const { user, onSelect, onMarks } = show({ health: { ...good, findings: [finding] }, drift: known(4, 5) })
  const chip = await screen.findByRole('button', { name: /Warning:\s?2 malformed calls/ })
  await user.click(chip)
  expect(screen.getByText('Look at them.')).toBeDefined()
  await user.click(chip)
  await user.click(screen.getByRole('button', { name: 'Next place' }))
  await user.click(screen.getByRole('button', { name: 'Previous place' }))
  expect(onSelect.mock.calls).toEqual(
    [
      { anchor: 3, focus: 5 },
      { anchor: 8, focus: 8 },
      { anchor: 3, focus: 5 },
      { anchor: 8, focus: 8 },
    ].map((selection) => [selection, 'tokens']),
  )
  await user.keyboard('{Escape}')
  expect(screen.queryByText('Look at them.')).toBeNull()
  await user.click(screen.getByRole('button', { name: /Note:\s?drift 1 span/ }))
  expect(onSelect).toHaveBeenLastCalledWith({ anchor: 4, focus: 4 }, 'tokens')
  await waitFor(() => expect(onMarks).toHaveBeenCalledWith('drift', Int32Array.of(4, 5)))
})

test('the health strip repairs a stored trajectory by the button of a finding, and shows why it could not', async () => {
  const finding = {
    kind: 'placeholder',
    severity: 'error',
    label: 'logprobs are all 0',
    message: 'They are placeholders.',
    count: 4,
    places: [],
    repair: { name: 'zero-logprobs-trained', title: 'Make them unknown' },
  } as const
  const health = { ...good, findings: [finding] }
  const { user } = show({ health, drift: known() }, sample, 'key')
  const chip = await screen.findByRole('button', { name: /logprobs are all 0/ })
  await user.click(chip)
  repairTrajectory.mockRejectedValueOnce(new ApiError(409, 'RUNNING', 'it is running'))
  await user.click(screen.getByRole('button', { name: 'Make them unknown' }))
  expect((await screen.findByRole('alert')).textContent).toBe('it is running')
  repairTrajectory.mockResolvedValueOnce(sample)
  await user.click(screen.getByRole('button', { name: 'Make them unknown' }))
  await waitFor(() => expect(screen.queryByText('They are placeholders.')).toBeNull())
  expect(document.activeElement).toBe(screen.getByRole('region', { name: 'Health' }))
  expect(repairTrajectory.mock.calls.at(-1)).toEqual(['key', { name: 'zero-logprobs-trained' }])
})

test('the health strip offers no repair of a trajectory that is not stored', async () => {
  const finding = { ...alignment, repair: { name: 'trailing-padding', title: 'Remove the padding at the end' } }
  const { user } = show({ health: { ...good, findings: [finding] }, drift: known() })
  await user.click(await screen.findByRole('button', { name: /9 padding tokens/ }))
  expect(screen.getByText('They are padding.')).toBeDefined()
  expect(screen.queryByRole('button', { name: 'Remove the padding at the end' })).toBeNull()
})

test('the health strip reports a failed check, and waits for a run to end', async () => {
  show({ health: new Error('the worker failed'), drift: known() })
  expect(await screen.findByTitle('It could not be checked: the worker failed')).toBeDefined()
  const { run } = show({ health: good }, { ...sample, outcome: { kind: 'running' } })
  await waitFor(() => expect(screen.getByText('Health is checked when the run has ended.')).toBeDefined())
  expect(run).not.toHaveBeenCalled()
})

test('A prompt that was encoded again is compared with the trajectory from which it was forked', async () => {
  const finding = { ...alignment, severity: 'error', label: ENCODED_AGAIN_LABEL, count: 1 } as const
  const forkedFrom = { trajectory: 'parent', token: 2, kind: 'rendered_again' } as const
  const health: Health = { findings: [finding], checks: [] }
  const { user } = show({ health, drift: known() }, { ...sample, forkedFrom }, 'child')
  await user.click(await screen.findByRole('button', { name: /does not continue/ }))
  expect(screen.getByRole('link', { name: 'Show in Compare' }).getAttribute('href')).toMatch(
    /^\/compare\?left=parent.+right=child/,
  )
})
