import { render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { describe, expect, test, vi } from 'vitest'
import { drawn, scorer } from '#lib/analysis/rescore/test-model.ts'
import { packExperts } from '#lib/trajectory/experts/routed-experts.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Score } from '#lib/trajectory/scoring/gathered.ts'
import type { Inspection } from '../inspection.ts'
import { VerifyPanel } from './verify-panel.tsx'

const GREEDY = { temperature: 0 }

function show(
  trajectory: Trajectory,
  score: Score = scorer(),
  servers: readonly string[] = ['s', 't'],
  refusals: Readonly<Record<string, string>> = {},
  expertServers: readonly string[] = [],
) {
  const [onSelect, onView, onColumns] = [vi.fn(), vi.fn(), vi.fn()]
  const inspection = { trajectory, onSelect, onView, offer: () => () => {} } as unknown as Inspection
  render(
    <VerifyPanel
      inspection={inspection}
      scorer={{ servers, defaultServer: 't', whyNot: (name) => refusals[name], expertServers, score }}
      onColumns={onColumns}
    />,
  )
  const panel = screen.getByRole('region', { name: 'Verify on server' })
  return { panel, onSelect, onView, onColumns, user: userEvent.setup() }
}
const scoreAgain = () => userEvent.click(screen.getByRole('button', { name: 'Rescore' }))
const ended = (panel: HTMLElement, how: string) => waitFor(() => expect(panel.dataset.verify).toBe(how))

test('the verify panel scores on the recorded server, names the outliers, and colours the tokens by the scores', async () => {
  const trajectory = drawn('c a|b|c|a', { sampling: GREEDY })
  const [prompt, response] = trajectory.segments as [Trajectory['segments'][number], Trajectory['segments'][number]]
  const logprobs = response.logprobs?.map((value, index) => (index === 1 ? -9 : (value ?? null))) ?? []
  const { panel, user, onSelect, onView, onColumns } = show({
    ...trajectory,
    model: { ...trajectory.model, name: 'another' },
    segments: [prompt, { ...response, logprobs }] as Trajectory['segments'],
  })
  expect(within(panel).getByRole('option', { name: 's (recorded)', selected: true })).toBeDefined()
  await scoreAgain()
  await ended(panel, 'scored')
  expect(panel.querySelector('[data-floor]')?.parentElement?.textContent).toContain('over 4 trained tokens')
  expect(panel.textContent).toContain('bigrams; recorded: another')
  expect(onColumns).toHaveBeenCalledWith([
    { name: 'verified', values: expect.any(Float64Array), meaning: expect.objectContaining({ values: 'raw' }) },
  ])
  await user.click(within(panel).getByRole('button', { name: /^2 b/ }))
  expect(onSelect).toHaveBeenCalledWith({ anchor: 2, focus: 2 }, 'tokens')
  await user.click(within(panel).getByRole('button', { name: 'Colour tokens by the scores' }))
  expect(onView).toHaveBeenCalledWith({ colour: 'column:verified', tab: 'tokens' })
})

test('the verify panel announces the beginning and the end of scoring, and not its progress', async () => {
  const held = Promise.withResolvers<void>()
  const score: Score = async function* (request, signal) {
    for await (const line of scorer()(request, signal)) {
      yield line
      if (line.kind === 'scores') await held.promise
    }
  }
  const { panel } = show(drawn('c a|b|c|a', { sampling: GREEDY }), score)
  const status = within(panel).getByRole('status')
  await scoreAgain()
  await waitFor(() => expect(panel.textContent).toMatch(/[1-9] of 4 tokens scored…/))
  expect(
    within(panel)
      .getAllByRole('status')
      .map(({ textContent }) => textContent),
  ).toEqual(['Scoring 4 tokens…'])
  held.resolve()
  await ended(panel, 'scored')
  expect(status.textContent).toBe('Scored on s.')
})

test('the verify panel gives no noise floor for tokens that were sampled at another temperature', async () => {
  const { panel } = show(drawn('c a|b', { sampling: { temperature: 0.7 } }))
  await scoreAgain()
  await ended(panel, 'scored')
  expect(panel.textContent).toContain('No noise floor')
  expect(panel.textContent).toContain('Not comparable: sampled at temperature 0.7.')
})

test('the verify panel ignores scores that arrive after the scoring was cancelled, and can score again', async () => {
  const held = Promise.withResolvers<void>()
  // This server does not notice that the request was aborted.
  const score: Score = async function* (request) {
    await held.promise
    yield* scorer()(request, new AbortController().signal)
  }
  const { panel, user, onColumns } = show(drawn('c a|b', { sampling: GREEDY }), score)
  await scoreAgain()
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(panel.dataset.verify).toBe('idle')
  held.resolve()
  await scoreAgain()
  await ended(panel, 'scored')
  expect(onColumns).toHaveBeenCalledTimes(1)
})

test('the verify panel shows the error of a server that fails, with its hint', async () => {
  const { panel } = show(drawn('c a|b', { sampling: GREEDY }), scorer([], { failAfter: 0 }))
  await scoreAgain()
  await ended(panel, 'failed')
  expect(screen.getByRole('alert').textContent).toContain('The server crashed')
  expect(screen.getByRole('alert').textContent).toContain('try again')
})

test('the verify panel requests no scores if no logprobs were recorded', async () => {
  const score = vi.fn(scorer())
  const { panel } = show(drawn('c a|b'), score, ['t'])
  await scoreAgain()
  await ended(panel, 'failed')
  expect(screen.getByRole('alert').textContent).toContain('No logprobs are recorded')
  expect(score).not.toHaveBeenCalled()
})

test('the verify panel disables rescoring on a server that cannot score, with the reason, until another one is chosen', async () => {
  const why = 'llama.cpp returns no logprobs of prompts.'
  const { panel, user } = show(drawn('c a|b', { sampling: GREEDY }), scorer(), ['s', 't'], { s: why })
  const button = within(panel).getByRole<HTMLButtonElement>('button', { name: 'Rescore' })
  expect(button.disabled).toBe(true)
  expect(within(panel).getByText(why)).toBeDefined()
  await user.selectOptions(within(panel).getByRole('combobox', { name: 'Server' }), 't')
  expect(button.disabled).toBe(false)
  expect(within(panel).queryByText(why)).toBeNull()
})

describe('the verify panel of a run with routed experts', () => {
  const trajectory = drawn('c a|b|c|a', { sampling: GREEDY })
  const rows = trajectory.segments.flatMap(({ ids }) => ids).length - 1
  const experts = (changed = -1) =>
    packExperts({
      start: 0,
      perToken: 2,
      perLayer: 2,
      entries: Int32Array.from({ length: 2 * rows }, (_, at) => (at === changed ? 9 : at % 2)),
    })
  const routed: Trajectory = {
    ...trajectory,
    segments: trajectory.segments.map((segment) =>
      segment.kind === 'response' ? { ...segment, routedExperts: experts() } : segment,
    ),
  }
  /** Scores as usual, and returns experts of which one entry differs. */
  const score: Score = async function* (request, signal) {
    for await (const line of scorer()(request, signal))
      yield line.kind === 'scores' && request.routedExperts ? { ...line, routedExperts: experts(2) } : line
  }

  test('compares them over all tokens, and colours the tokens by their agreement', async () => {
    const { panel, user, onView, onColumns } = show(routed, score, ['s', 't'], {}, ['s'])
    await scoreAgain()
    await ended(panel, 'scored')
    expect(Number(panel.querySelector<HTMLElement>('[data-experts]')?.dataset.experts)).toBeCloseTo(1 - 0.5 / rows)
    expect(panel.textContent).toContain(`${rows - 1} of ${rows}`)
    const [columns] = onColumns.mock.calls[0] as [readonly { readonly name: string; readonly values: Float64Array }[]]
    expect(columns.map(({ name }) => name)).toEqual(['verified', 'expertAgreement'])
    expect(Array.from(columns[1]?.values ?? [])).toEqual([1, 0.5, ...Array(rows - 2).fill(1), Number.NaN])
    await user.click(within(panel).getByRole('button', { name: 'Colour tokens by their experts' }))
    expect(onView).toHaveBeenCalledWith({ colour: 'experts', tab: 'tokens' })
  })

  test('says that a server returns none, and compares the logprobs', async () => {
    const { panel, onColumns } = show(routed, score, ['s', 't'], {}, [])
    expect(panel.textContent).toContain('s returns no routed experts, so only logprobs are compared.')
    await scoreAgain()
    await ended(panel, 'scored')
    expect(panel.querySelector('[data-experts]')).toBeNull()
    expect(onColumns).toHaveBeenCalledWith([expect.objectContaining({ name: 'verified' })])
  })
})
