/** Tests the legend with its handles, the outliers, the facts and the badges of importance ratios through their user interface. */
import { fireEvent, render, renderHook, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { inspectTasks } from '#lib/analysis/tasks.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withRatios } from '#testing/trainer-ratios.ts'
import { toNextLargest } from '../commands/command-steps.ts'
import type { Inspection, InspectorView } from '../inspection.ts'
import { OutlierList } from './outlier-list.tsx'
import { RatioFacts } from './ratio-facts.tsx'
import { columnBadges, comparisonText, jumpText, ratioText } from './ratio-text.ts'
import { sendingCurl, sendingPython } from './sending-code.ts'
import { type RatiosState, useRatios, withDropped } from './use-ratios.ts'

const PlotLabel = ({ label }: { readonly label: string }) => <div role="img" aria-label={label} />

/** jsdom has no canvas, so the plot shows its label only. A journey shows the plot itself. */
vi.doMock('../charts/plot.tsx', () => ({ Plot: PlotLabel }))
const { RatioPanel } = await import('./ratio-panel.tsx')
vi.doUnmock('../charts/plot.tsx')

const trajectory = withRatios([
  { ratios: [1, 6, 0.1, 3], finish: { kind: 'stop' } },
  { ratios: [1, 2.5, 1, 0.2], finish: { kind: 'length' } },
])

const inspectionOf = (of: Trajectory, change: Partial<Inspection> = {}): Inspection =>
  ({
    trajectory: of,
    storedKey: 'key',
    view: { clip: undefined, selection: undefined },
    onView: vi.fn(),
    onSelect: vi.fn(),
    say: vi.fn(),
    marks: [],
    offer: () => () => {},
    run: async (_name: string, request: never) => runToEnd(inspectTasks.ratioReport(request, of, [])),
    colouring: colouringOf(of, 'ratio'),
    ...change,
  }) as unknown as Inspection

interface PageProps {
  readonly of: Trajectory
  readonly onState?: (state: RatiosState) => void
}

/** The parts of the inspector that show ratios, with the address as state. */
function Page({ of, onState }: PageProps) {
  const [view, setView] = useState({ clip: undefined, selection: undefined } as unknown as InspectorView)
  const change = (next: Partial<InspectorView>) => setView((known) => ({ ...known, ...next }))
  const inspection = inspectionOf(of, {
    view,
    onView: change,
    onSelect: (selection) => change({ selection }),
  })
  const state = useRatios(inspection)
  onState?.(state)
  const choose = (token: number) => change({ selection: { anchor: token, focus: token } })
  return (
    <>
      <RatioPanel inspection={inspection} state={state} />
      {state.kind === 'shown' && (
        <>
          <RatioFacts trajectory={of} ratios={state.ratios} onChoose={choose} />
          <OutlierList trajectory={of} ratios={state.ratios} selected={view.selection?.focus} onChoose={choose} />
        </>
      )}
    </>
  )
}

const counts = () => {
  const legend = document.querySelector('[data-legend="ratio"]')
  return [legend?.getAttribute('data-capped'), legend?.getAttribute('data-dropped')].map(Number)
}
const outliers = () => within(screen.getByRole('region', { name: 'Outliers' }))

test('Arrow keys move a threshold by 0.1, and the counts, the outliers and the dropped marks follow', async () => {
  let state: RatiosState = { kind: 'off' }
  render(<Page of={trajectory} onState={(next) => (state = next)} />)
  const high = await screen.findByRole('slider', { name: 'IcePop, upper bound' })
  expect(counts()).toEqual([3, 3])
  expect(Array.from(withDropped([], state)[0]?.ranges ?? [])).toEqual([3, 4, 4, 5, 11, 12])
  const user = userEvent.setup()
  high.focus()
  await user.keyboard('{PageUp}{PageUp}{ArrowRight}')
  expect(high.getAttribute('aria-valuenow')).toBe('6.1')
  expect(counts()).toEqual([3, 2])
  expect(outliers().getAllByRole('listitem')).toHaveLength(5)
  screen.getByRole('slider', { name: 'TIS cap' }).focus()
  await user.keyboard('{End}')
  expect(counts()).toEqual([0, 2])
  await user.click(screen.getByRole('button', { name: 'Reset thresholds' }))
  expect(counts()).toEqual([3, 3])
})

test('A key that moves no handle reaches the page, and Home and End lead to the ends of the range', async () => {
  render(<Page of={trajectory} />)
  const low = await screen.findByRole('slider', { name: 'IcePop, lower bound' })
  expect(fireEvent.keyDown(low, { key: 'd' })).toBe(true)
  fireEvent.keyDown(low, { key: 'End' })
  expect(low.getAttribute('aria-valuenow')).toBe('1')
  fireEvent.keyDown(low, { key: 'Home' })
  expect(low.getAttribute('aria-valuenow')).toBe('0.1')
})

test('The list of outliers begins with the farthest ratio, names causes, and its chips filter by cause', async () => {
  render(<Page of={trajectory} />)
  await screen.findByRole('region', { name: 'Outliers' })
  const rows = () =>
    outliers()
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent)
  expect(rows().map((text) => text?.match(/\d\.\d\d/)?.[0])).toEqual(['0.10', '6.00', '0.20', '3.00', '2.50'])
  const user = userEvent.setup()
  await user.click(outliers().getByRole('button', { name: 'truncation 1' }))
  expect(rows()).toHaveLength(1)
  await user.click(outliers().getByRole('button', { name: /^11/ }))
  expect(outliers().getByRole('button', { name: /^11/ }).getAttribute('aria-pressed')).toBe('true')
  await user.click(outliers().getByRole('button', { name: 'all 5' }))
  expect(rows()).toHaveLength(5)
})

test('The facts show totals and corrections, and the interval of the geometric mean can be changed', async () => {
  render(<Page of={trajectory} />)
  const facts = within(await screen.findByRole('region', { name: 'Trainer and rollout' }))
  expect(facts.getByText('KL k3').closest('dt')?.nextSibling?.textContent).toMatch(/^\d\.\d{4}$/)
  expect(facts.getByText('TIS caps').closest('dt')?.nextSibling?.textContent).toBe('3 · 37.5 %')
  expect(facts.getByText('sample dropped')).toBeDefined()
  fireEvent.change(facts.getByLabelText('Smallest geometric mean'), { target: { value: '0.5' } })
  fireEvent.change(facts.getByLabelText('Largest geometric mean'), { target: { value: '2' } })
  expect(facts.getByText('sample kept')).toBeDefined()
  const number = (label: string) => facts.getByLabelText<HTMLInputElement>(label).valueAsNumber
  fireEvent.change(facts.getByLabelText('Smallest geometric mean, slider'), { target: { value: '2.001' } })
  fireEvent.change(facts.getByLabelText('Largest geometric mean, slider'), { target: { value: '-1' } })
  expect(number('Smallest geometric mean')).toBeCloseTo(0.99, 3)
  expect(number('Largest geometric mean')).toBeCloseTo(1.1, 3)
  expect(facts.getByText('sample dropped')).toBeDefined()
  await userEvent.setup().click(facts.getByRole('button', { name: /^3 response/ }))
})

test('The page says what is compared, and the first outlier if the level does not change', async () => {
  render(<Page of={trajectory} />)
  await screen.findByText('first outlier, token 3: no cause found')
  expect(screen.getByRole('img', { name: /^Importance ratio of 8 trained tokens/ })).toBeDefined()
  expect(screen.getByText(/same kind/)).toBeDefined()
  const compared = within(screen.getByRole('region', { name: 'Compared columns' }))
  const kind = compared.getByRole('button', { name: 'raw, vllm' })
  expect(kind.closest('[title]')?.textContent).toBe('rolloutraw, vllm')
  expect(compared.queryByText(/^Column /)).toBeNull()
  await userEvent.setup().click(kind)
  expect(compared.getByText(/^Column /)).toBeDefined()
})

test('Columns that cannot be compared are refused with the reason, and a column of unknown kind has a caveat', async () => {
  const request = { server: 's', samplingParams: { temperature: 0.7 }, inputLength: 2, inputHash: 'x', streamed: false }
  const mixed = withRatios([{ ratios: [2], request }], {
    trainerLogprobs: { quantity: 'logprob', model: 'trainer', values: 'raw' },
  })
  const { unmount } = render(<Page of={mixed} />)
  await screen.findByText('Not comparable: processed at T 0.7 and raw. Send the normaliser, or rescore.')
  expect(screen.queryByRole('slider')).toBeNull()
  unmount()
  render(<Page of={withRatios([{ ratios: [2] }], {})} />)
  await screen.findByText(/^caveat: the file does not say whether the .* logprobs are raw or processed/)
})

test('A trajectory without a trainer shows the code that sends its logprobs, with the first trained ids', async () => {
  render(<Page of={sample} />)
  await screen.findByRole('heading', { name: 'No trainer logprobs in this trajectory' })
  const body = /body = (.*)/.exec(sendingPython('a/b', sample))?.[1] ?? ''
  expect(JSON.parse(body).columns.trainerLogprobs).toMatchObject({ start: 3, ids: [9, 5, 6] })
  expect(sendingCurl('a/b', sample)).toContain('/api/trajectories/a%2Fb/columns')
  expect(sendingPython('x', { ...sample, segments: [] })).toContain('"ids":[]')
})

test('A failed task is reported, and another colour shows no ratios', async () => {
  const failing = inspectionOf(trajectory, { run: (async () => Promise.reject(new Error('broken'))) as never })
  const { result } = renderHook(() => useRatios(failing))
  await waitFor(() => expect(result.current.kind).toBe('failed'))
  render(<RatioPanel inspection={failing} state={result.current} />)
  expect(screen.getByText('broken')).toBeDefined()
  const off = inspectionOf(trajectory, { colouring: colouringOf(trajectory, 'mask') })
  expect(renderHook(() => useRatios(off)).result.current).toEqual({ kind: 'off' })
  expect(withDropped([], { kind: 'off' })).toEqual([])
})

test('The key for the next largest value goes from the farthest ratio to the next, and begins again at the end', () => {
  const visited: (number | undefined)[] = []
  let selection: InspectorView['selection']
  for (let press = 0; press < 10; press++) {
    const inspection = inspectionOf(trajectory, {
      view: { selection } as InspectorView,
      onSelect: (next) => {
        selection = next
      },
    })
    toNextLargest(inspection)
    visited.push(selection?.focus)
  }
  expect(visited).toEqual([4, 3, 11, 5, 9, 2, 8, 10, undefined, 4])
  // A token that the user selected begins a new walk.
  const onSelect = vi.fn()
  toNextLargest(inspectionOf(trajectory, { view: { selection: { anchor: 9, focus: 9 } } as InspectorView, onSelect }))
  expect(onSelect).toHaveBeenCalledWith({ anchor: 4, focus: 4 }, 'tokens')
  const say = vi.fn()
  toNextLargest(inspectionOf(sample, { say, colouring: colouringOf(sample, 'ratio') }))
  expect(say).toHaveBeenCalledWith('No trained token has a value to compare: importance ratio.')
})

test('Texts of ratios, findings and comparisons are short and complete', () => {
  expect([ratioText(6.816), ratioText(0.0001), ratioText(54321)]).toEqual(['6.82', '1.0e−4', '5.4e+4'])
  const cause = { name: 'version', detail: '41 → 42' } as const
  expect(jumpText({ kind: 'level', token: 1204, before: 0.03, after: 0.19, cause })).toEqual({
    finding: 'from token 1,204: weight version 41 → 42',
    numbers: 'mean |log ratio| 0.03 → 0.19',
  })
  expect(comparisonText(undefined).text).toContain('no trained token has both')
  expect(comparisonText({ kind: 'same', as: 'given' })).toEqual({ tone: 'good', text: 'ratios of the file' })
  const given = { columns: { kind: 'given', column: 'w' }, comparison: undefined, leftOut: [] } as const
  expect(columnBadges(trajectory, given)).toEqual([
    { side: 'given', column: 'w', name: 'ratio', text: 'given by the file', title: 'Column w' },
  ])
})

const RAW_LOGPROB = { quantity: 'logprob', values: 'raw' } as const

test('The columns that are compared are a choice if a trajectory has more than one pair, and choosing one of the other side swaps them', async () => {
  const three = withRatios([{ ratios: [2, 4], columns: { ref: [-8, -8], old_log_probs: [-8, -8] } }], {
    trainerLogprobs: { ...RAW_LOGPROB, model: 'trainer' },
    logprobs: { ...RAW_LOGPROB, model: 'rollout' },
    ref: { ...RAW_LOGPROB, model: 'reference' },
    old_log_probs: { ...RAW_LOGPROB, model: 'trainer' },
  })
  const onView = vi.fn()
  const inspection = inspectionOf(three, { onView })
  const { result } = renderHook(() => useRatios(inspection))
  await waitFor(() => expect(result.current.kind).toBe('shown'))
  render(<RatioPanel inspection={inspection} state={result.current} />)
  const user = userEvent.setup()
  const compared = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Logprobs that are compared' })
  expect([compared.value, ...Array.from(compared.options, ({ text }) => text)]).toEqual([
    'trainerLogprobs',
    'rollout',
    'trainer (trainerLogprobs)',
    'reference',
    'trainer (old_log_probs)',
  ])
  await user.selectOptions(compared, 'ref')
  expect(onView).toHaveBeenLastCalledWith({ pair: 'ref/logprobs' })
  await user.selectOptions(compared, 'logprobs')
  expect(onView).toHaveBeenLastCalledWith({ pair: 'logprobs/trainerLogprobs' })
  const other = screen.getByRole('combobox', { name: 'Logprobs that they are compared with' })
  await user.selectOptions(other, 'trainerLogprobs')
  expect(onView).toHaveBeenLastCalledWith({ pair: 'logprobs/trainerLogprobs' })
  await user.selectOptions(other, 'ref')
  expect(onView).toHaveBeenLastCalledWith({ pair: 'trainerLogprobs/ref' })
})

test('Outliers near each other are folded into the farthest one, and unfold by a button', async () => {
  const near = withRatios([{ ratios: [1, 9, 0.1, 1, 7, 1] }])
  render(<Page of={near} />)
  const list = within(await screen.findByRole('region', { name: 'Outliers' }))
  expect(list.getAllByRole('button', { pressed: false }).map(({ textContent }) => textContent)).toHaveLength(2)
  const more = list.getByRole('button', { name: '▸ 2 more in 3–6' })
  await userEvent.click(more)
  expect(more.getAttribute('aria-expanded')).toBe('true')
  expect(list.getByRole('button', { name: /^6/ })).toBeDefined()
})
