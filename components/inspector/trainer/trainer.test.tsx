/** Tests of the Trainer tab through its user interface. */
import { render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { MarkKind, TokenMarks } from '#components/token-view/token-marks.ts'
import { inspectTasks } from '#lib/analysis/tasks.ts'
import type { TrainerSheet } from '#lib/analysis/trainer/sheet.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Inspection, InspectorView } from '../inspection.ts'
import { TrainerTab } from './trainer-tab.tsx'

const view: InspectorView = {
  tab: 'trainer',
  colour: 'logprob',
  limit: undefined,
  selection: undefined,
  find: '',
  scatter: undefined,
  clip: undefined,
  pair: undefined,
  format: 'slime',
}

/** Runs the real tasks, unless a test provides others. */
const run = (async (name: 'trainerSheet', request: never) => {
  const steps = inspectTasks[name](request, sample, [])
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}) as unknown as Inspection['run']

interface Shown {
  readonly marks: readonly TokenMarks[]
  readonly selected: InspectorView['selection']
  readonly cut: TrainerCut | null
}

interface PageProps {
  readonly change: Partial<Inspection>
  readonly onShown: (shown: Shown) => void
}

function Page({ change, onShown }: PageProps) {
  const [state, setState] = useState(view)
  const [cut, setCut] = useState<TrainerCut | null>(null)
  const [marks, setMarks] = useState<readonly TokenMarks[]>([])
  onShown({ marks, selected: state.selection, cut })
  const inspection = {
    trajectory: sample,
    view: state,
    onView: (next) => setState((known) => ({ ...known, ...next })),
    onSelect: (selection) => setState((known) => ({ ...known, selection })),
    run,
    marks,
    trainerCut: cut,
    onTrainerCut: setCut,
    onMarks: (kind, ranges) =>
      setMarks((known) => [...known.filter((mark) => mark.kind !== kind), ...(ranges ? [{ kind, ranges }] : [])]),
    ...change,
  } satisfies Partial<Inspection> as Inspection
  return <TrainerTab inspection={inspection} />
}

function show(change: Partial<Inspection> = {}) {
  const user = userEvent.setup()
  const shown: { now: Shown } = { now: { marks: [], selected: undefined, cut: null } }
  const keep = (now: Shown) => {
    shown.now = now
  }
  render(<Page change={change} onShown={keep} />)
  return { shown, user }
}

const rowOf = (token: number) => screen.getByRole('grid').querySelector(`[data-token="${token}"]`) as HTMLElement

test('the Trainer tab shows the arrays of a format beside their tokens, and where they begin', async () => {
  const { user } = show()
  await screen.findByRole('grid')
  expect(rowOf(2).textContent).toContain('(0)')
  expect(within(rowOf(3)).getByText(/loss_mask begins; first trained of segment 1/)).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'strands-sglang' }))
  await waitFor(() => expect(screen.getByText('No cut: every array covers all tokens.')).toBeTruthy())
  expect(rowOf(2).textContent).not.toContain('(0)')
})

test('the Trainer tab selects the token of a row by click, keys and Shift', async () => {
  const { shown, user } = show()
  await user.click(within(await screen.findByRole('grid')).getByText('<think>'))
  expect(shown.now.selected).toEqual({ anchor: 3, focus: 3 })
  screen.getByRole('grid').focus()
  await user.keyboard('{ArrowDown}{Shift>}{ArrowDown}{/Shift}')
  expect(shown.now.selected).toEqual({ anchor: 4, focus: 5 })
  await user.keyboard('{End}')
  expect(shown.now.selected).toEqual({ anchor: 11, focus: 11 })
  expect(rowOf(11).getAttribute('aria-selected')).toBe('true')
  await user.keyboard('{Escape}')
  expect(shown.now.selected).toBeUndefined()
})

test('the Trainer tab marks edges and cuts of the shown format on the tokens until this is turned off', async () => {
  const { shown, user } = show()
  const ranges = (kind: MarkKind) => Array.from(shown.now.marks.find((mark) => mark.kind === kind)?.ranges ?? [])
  await user.click(await screen.findByLabelText('Show on tokens'))
  expect([ranges('edge'), ranges('cut')]).toEqual([
    [3, 4, 7, 8, 10, 11],
    [3, 4],
  ])
  await user.click(screen.getByRole('button', { name: 'Rollscope' }))
  await waitFor(() => expect(ranges('cut')).toEqual([3, 4, 8, 9, 10, 11]))
  await user.click(screen.getByLabelText('Show on tokens'))
  expect([ranges('edge'), ranges('cut')]).toEqual([[], []])
})

test('the Trainer tab downloads the file and copies its arrays', async () => {
  const [onSave, say] = [vi.fn(), vi.fn()]
  const { user } = show({ onSave, say })
  await user.click(await screen.findByRole('button', { name: 'Download the file' }))
  await waitFor(() =>
    expect(onSave).toHaveBeenCalledWith(
      expect.stringContaining('"loss_mask"'),
      'trajectory-sample.slime.json',
      'application/json',
    ),
  )
  await user.click(screen.getByRole('button', { name: 'Copy loss_mask as Python' }))
  await waitFor(() => expect(say).toHaveBeenCalledWith('loss_mask copied'))
  expect(await navigator.clipboard.readText()).toBe('[1,1,1,1,1,0,0,1,0]')
})

test('the Trainer tab copies an array without the clipboard API, which pages over plain HTTP do not have', async () => {
  const say = vi.fn()
  const { user } = show({ say })
  vi.spyOn(navigator, 'clipboard', 'get').mockReturnValue(undefined as never)
  const setData = vi.fn()
  const copy = Object.assign(new Event('copy'), { clipboardData: { setData } })
  Object.defineProperty(document, 'execCommand', { configurable: true, value: () => window.dispatchEvent(copy) })
  onTestFinished(() => void Reflect.deleteProperty(document, 'execCommand'))
  await user.click(await screen.findByRole('button', { name: 'Copy loss_mask as Python' }))
  await waitFor(() => expect(say).toHaveBeenCalledWith('loss_mask copied'))
  expect(setData).toHaveBeenCalledWith('text/plain', '[1,1,1,1,1,0,0,1,0]')
})

test('the Trainer tab reports arrays that do not agree, and shows one of several samples', async () => {
  const [sheet] = [inspectTasks.trainerSheet({ format: 'slime' }, sample, [])]
  sheet.next()
  const made = sheet.next().value as TrainerSheet
  const [row] = made.rows
  if (!row) throw new Error('one row')
  const odd = { ...row, lengths: [{ name: 'response_length', stated: 7, expected: 9 }] }
  const { user } = show({ run: (async () => ({ ...made, rows: [row, odd] })) as unknown as Inspection['run'] })
  await user.selectOptions(await screen.findByLabelText('Sample'), '2 of 2')
  expect(screen.getByText('✗ 9 expected')).toBeTruthy()
})

test('marks of the Trainer tab follow the chosen sample', async () => {
  const [sheet] = [inspectTasks.trainerSheet({ format: 'slime' }, sample, [])]
  sheet.next()
  const made = sheet.next().value as TrainerSheet
  const rows = [made.rows[0], { ...made.rows[0], cutMarks: Int32Array.of(8, 9) }]
  const { shown, user } = show({ run: (async () => ({ ...made, rows })) as unknown as Inspection['run'] })
  const cuts = () => Array.from(shown.now.marks.find(({ kind }) => kind === 'cut')?.ranges ?? [])
  await user.selectOptions(await screen.findByLabelText('Sample'), '2 of 2')
  expect(cuts()).toEqual([])
  await user.click(screen.getByLabelText('Show on tokens'))
  expect(cuts()).toEqual([8, 9])
  await user.selectOptions(screen.getByLabelText('Sample'), '1 of 2')
  expect(cuts()).toEqual([3, 4])
})

test('the Trainer tab reports an error of the worker', async () => {
  show({ run: () => Promise.reject(new Error('the worker was lost')) })
  expect(await screen.findByText('the worker was lost')).toBeTruthy()
})

test('the Trainer tab stores the trainer’s maximum length and what happens to longer samples', async () => {
  const { shown, user } = show()
  const field = await screen.findByLabelText(/Trainer’s maximum length/)
  await user.type(field, '8,192')
  expect(shown.now.cut).toEqual({ tokens: 8192, overlong: 'cut' })
  await user.selectOptions(screen.getByLabelText('Longer samples'), 'are dropped')
  expect(shown.now.cut).toEqual({ tokens: 8192, overlong: 'drop' })
  await user.type(field, 'x')
  expect(field.getAttribute('aria-invalid')).toBe('true')
  expect(shown.now.cut).toEqual({ tokens: 8192, overlong: 'drop' })
  await user.tab()
  expect((field as HTMLInputElement).value).toBe('8192')
  await user.clear(field)
  expect(shown.now.cut).toBeNull()
})
