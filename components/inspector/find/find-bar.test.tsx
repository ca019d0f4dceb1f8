import { act, fireEvent, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { MarkKind, TokenMarks } from '#components/token-view/token-marks.ts'
import { findTask } from '#lib/analysis/find/find.ts'
import type { RunInspection } from '#lib/analysis/tasks.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Inspection, InspectorView } from '../inspection.ts'
import { FindBar } from './find-bar.tsx'
import { currentHit, withCurrentHit } from './hit-steps.ts'

/** Renders the bar for a trajectory with its own address and marks; tasks of the worker run immediately. */
function Bar({
  trajectory = sampleTrajectory,
  find = '',
  run,
  onState,
}: {
  readonly trajectory?: TrajectoryView
  readonly find?: string
  readonly run: RunInspection
  readonly onState: (view: InspectorView, marks: readonly TokenMarks[]) => void
}) {
  const [view, setView] = useState({ find, selection: undefined } as InspectorView)
  const [marks, setMarks] = useState<readonly TokenMarks[]>([])
  const [recent, setRecent] = useState<readonly string[]>([])
  onState(view, withCurrentHit(marks, currentHit(marks, view.selection)))
  const inspection = {
    trajectory,
    view,
    run,
    marks,
    onView: (change: Partial<InspectorView>) => setView((known) => ({ ...known, ...change })),
    onSelect: (selection: InspectorView['selection']) => setView((known) => ({ ...known, selection })),
    onMarks: (kind: MarkKind, ranges: Int32Array) =>
      setMarks((known) => [...known.filter((mark) => mark.kind !== kind), { kind, ranges }]),
    offer: () => () => undefined,
    say: () => undefined,
    grid: { current: null },
    inSight: undefined,
  } as unknown as Inspection
  return <FindBar inspection={inspection} recent={recent} onRecent={setRecent} />
}

function setUp(find = '', run?: RunInspection, trajectory?: TrajectoryView) {
  const state: { view: InspectorView | undefined; marks: readonly TokenMarks[] } = { view: undefined, marks: [] }
  const onState = (view: InspectorView, marks: readonly TokenMarks[]) => Object.assign(state, { view, marks })
  const searched = vi.fn((query: string) => runToEnd(findTask({ query }, trajectory ?? sampleTrajectory)))
  const search = run ?? ((async (_name: string, { query }: { query: string }) => searched(query)) as RunInspection)
  const bar = (shown: TrajectoryView) => <Bar trajectory={shown} find={find} run={search} onState={onState} />
  const { rerender } = render(bar(trajectory ?? sampleTrajectory))
  return { state, searched, showAgain: (shown: TrajectoryView) => rerender(bar(shown)) }
}

const rangesOf = (marks: readonly TokenMarks[], kind: MarkKind) =>
  Array.from(marks.find((mark) => mark.kind === kind)?.ranges ?? [])

test('the find bar marks and counts the hits, and Enter steps through them and continues from the first', async () => {
  const user = userEvent.setup()
  const { state } = setUp()
  await user.type(screen.getByLabelText('Find'), 'hi')
  expect(await screen.findByText('3 hits')).toBeTruthy()
  expect(state.view?.find).toBe('hi')
  expect(rangesOf(state.marks, 'hit')).toEqual([1, 2, 3, 4, 10, 11])
  for (const [count, token] of [
    ['1 of 3', 1],
    ['2 of 3', 3],
    ['3 of 3', 10],
    ['1 of 3', 1],
  ] as const) {
    await user.keyboard('{Enter}')
    expect(await screen.findByText(count)).toBeTruthy()
    expect(state.view?.selection).toEqual({ anchor: token, focus: token })
    expect(rangesOf(state.marks, 'current')).toEqual([token, token + 1])
  }
  await user.keyboard('{Shift>}{Enter}{/Shift}')
  expect(await screen.findByText('3 of 3')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Clear' }))
  expect(document.activeElement).toBe(screen.getByLabelText('Find'))
  await waitFor(() => expect(rangesOf(state.marks, 'hit')).toEqual([]))
  expect(rangesOf(state.marks, 'current')).toEqual([])
  expect(state.view?.find).toBe('')
})

test('the find bar searches immediately on Enter, and steps when the result has arrived', async () => {
  const user = userEvent.setup()
  const { state, searched } = setUp()
  await user.type(screen.getByLabelText('Find'), 'hi{Enter}')
  expect(await screen.findByText('1 of 3')).toBeTruthy()
  expect(state.view?.selection).toEqual({ anchor: 1, focus: 1 })
  expect(searched.mock.calls).toEqual([['hi']])
})

test('the find bar shows where a query is invalid, and why', async () => {
  const user = userEvent.setup()
  setUp('mask:1 lgprob<1')
  expect(await screen.findByText('invalid query')).toBeTruthy()
  await user.click(screen.getByLabelText('Find'))
  expect(screen.getByText('lgprob').tagName).toBe('MARK')
  expect(screen.getByText('Tokens have no “lgprob”. Did you mean logprob?')).toBeTruthy()
  expect(screen.getByLabelText('Find').getAttribute('aria-invalid')).toBe('true')
})

test('the find bar suggests the tool that was meant if the trajectory does not call the named one', async () => {
  setUp('tool:ad')
  expect(await screen.findByText('no hits')).toBeTruthy()
  expect(screen.getByText('No tool “ad” here. Did you mean add?')).toBeTruthy()
})

test('the find bar searches for an example chosen in the help, and gets the focus', async () => {
  // jsdom has no popovers.
  const hidePopover = vi.fn()
  Object.defineProperty(HTMLElement.prototype, 'hidePopover', { configurable: true, value: hidePopover })
  onTestFinished(() => void Reflect.deleteProperty(HTMLElement.prototype, 'hidePopover'))
  const user = userEvent.setup()
  setUp()
  const [, help] = screen.getAllByLabelText('Search help')
  if (!help) throw new Error('the help has no panel')
  fireEvent(help, Object.assign(new Event('beforetoggle'), { newState: 'open' }))
  await user.click(await screen.findByText('tool:add'))
  expect(await screen.findByText('1 hit')).toBeTruthy()
  expect(hidePopover).toHaveBeenCalledOnce()
  expect((screen.getByLabelText('Find') as HTMLInputElement).value).toBe('tool:add')
  expect(document.activeElement).toBe(screen.getByLabelText('Find'))
})

test('the find bar says that the worker was stopped', async () => {
  setUp('/(a+)+$/', (() => Promise.reject(new Error('stopped after 3 s'))) as unknown as RunInspection)
  expect(await screen.findByText('stopped')).toBeTruthy()
  expect(screen.getByText('stopped after 3 s')).toBeTruthy()
})

test('the find bar searches a run once, and again on request', async () => {
  const user = userEvent.setup()
  const live = { ...sampleTrajectory, live: { runningCalls: {} } } as TrajectoryView
  const { searched, showAgain } = setUp('hi', undefined, live)
  expect(await screen.findByText('3 hits')).toBeTruthy()
  await act(async () => showAgain({ ...live }))
  await act(async () => showAgain({ ...live }))
  expect(searched).toHaveBeenCalledTimes(1)
  expect(screen.getByText('3, then it grew')).toBeTruthy()
  await user.click(screen.getByLabelText('Find'))
  await user.keyboard('{Enter}')
  expect(await screen.findByText('1 of 3')).toBeTruthy()
  expect(searched).toHaveBeenCalledTimes(2)
})

test('the find bar recalls recent queries with the arrow keys', async () => {
  const user = userEvent.setup()
  setUp()
  const field = screen.getByLabelText('Find') as HTMLInputElement
  await user.type(field, 'hi{Enter}')
  await user.clear(field)
  await user.type(field, 'mask:1{Enter}')
  await user.clear(field)
  await user.keyboard('{ArrowUp}{ArrowUp}')
  expect(field.value).toBe('hi')
  await user.keyboard('{ArrowDown}')
  expect(field.value).toBe('mask:1')
})
