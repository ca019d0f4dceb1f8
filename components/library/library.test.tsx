import { act, render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { LabelChange } from '#lib/core/labels.ts'
import type { TrajectorySummary } from '#lib/core/library.ts'
import { HealthMarks, healthWords } from './health-marks.tsx'
import { LabelsForm } from './labels-form.tsx'
import { rangeText, titleText, whenText } from './row-texts.ts'
import { TrajectoryChoice } from './trajectory-choice.tsx'
import { type RowAction, TrajectoryTable } from './trajectory-table.tsx'

const row = (key: string, change: Partial<TrajectorySummary> = {}): TrajectorySummary => ({
  key,
  id: key,
  createdAt: '2026-01-01T00:00:00.000Z',
  addedAt: '2026-01-01T00:00:00.000Z',
  title: null,
  question: `question ${key}`,
  tags: [],
  note: null,
  reward: null,
  model: 'm',
  outcomeKind: 'ended',
  outcome: 'end_turn',
  source: 'rollout',
  importFormat: null,
  segments: 2,
  turns: 1,
  tokens: 1234,
  trained: 5,
  meanLogprob: null,
  toolCalls: 0,
  failedCalls: 0,
  group: null,
  rewardWhy: null,
  health: null,
  ...change,
})

const form = (labels: Partial<TrajectorySummary> = {}, onChange = vi.fn(async (_: LabelChange) => {})) => {
  render(<LabelsForm labels={row('a', labels)} question="q" knownTags={['known']} onChange={onChange} />)
  return { onChange, user: userEvent.setup() }
}

test('each label is saved by itself, when its field is left or with Enter, and only if it changed', async () => {
  const { onChange, user } = form({ title: 'old', reward: 1 })
  await user.type(screen.getByLabelText('Title'), ' and new ')
  await user.type(screen.getByLabelText('Note'), 'n')
  await user.tab()
  await user.clear(screen.getByLabelText('Reward'))
  await user.keyboard('{Enter}')
  await user.type(screen.getByLabelText('Tags'), 'a,b{Enter}')
  await user.click(screen.getByLabelText('Note'))
  await user.tab()
  expect(onChange.mock.calls.map(([change]) => change)).toEqual([
    { title: 'old and new' },
    { note: 'n' },
    { reward: null },
    { tags: ['a'] },
    { tags: ['b'] },
  ])
})

test('health is signs and numbers, with words; what was not checked has none', () => {
  const finding = (kind: 'mask' | 'drift', severity: 'error' | 'warning' | 'note', label: string, count = 1) => ({
    kind,
    severity,
    label,
    count,
  })
  const health = {
    findings: [
      finding('mask', 'error', 'the header is trained'),
      finding('mask', 'warning', 'odd'),
      finding('drift', 'warning', 'drift 3 spans', 3),
    ],
    unknown: ['weight versions: not told'],
  }
  render(<HealthMarks health={health} />)
  expect(screen.getByTitle('the header is trained').textContent).toBe('1the header is trained')
  expect(screen.getByTitle('odd').textContent).toBe('1odd')
  expect(screen.getByTitle('drift 3 spans').textContent).toBe('3drift 3 spans')
  expect([health, { findings: [], unknown: [] }, null].map(healthWords)).toEqual([
    'the header is trained, odd, drift 3 spans; weight versions: not told',
    'no problems found',
    'not checked yet',
  ])
})

test('a trajectory to choose says which sample it is, its reward, outcome, drift and time', async () => {
  const onChoose = vi.fn()
  const drift = { kind: 'drift', severity: 'note', label: 'drift 3 spans', count: 3 } as const
  const sample = { group: { id: 'g', index: 2 }, reward: 0, createdAt: '2025-03-04T05:06:00.000Z' }
  render(
    <>
      <TrajectoryChoice row={row('a', { ...sample, health: { findings: [drift], unknown: [] } })} onChoose={onChoose} />
      <TrajectoryChoice
        row={row('b', { outcomeKind: 'failed', outcome: 'context_length', health: { findings: [], unknown: [] } })}
        onChoose={onChoose}
      />
      <TrajectoryChoice
        row={row('c', { health: { findings: [], unknown: ['drift: no tokenizer'] } })}
        onChoose={onChoose}
      />
    </>,
  )
  const texts = screen.getAllByRole('button').map(({ textContent }) => textContent)
  expect(texts[0]).toMatch(/^question aSample 3reward 0end_turndrift 3 spans1,234 tokensm.*2025$/)
  expect(texts[1]).toMatch(/^question bcontext_lengthno drift1,234 tokens/)
  expect(texts[2]).not.toContain('drift')
  await userEvent.click(screen.getByRole('button', { name: /question b/ }))
  expect(onChoose).toHaveBeenCalledWith('b')
})

test('what is refused stays in its field, with the reason; Esc takes it back', async () => {
  const { user } = form(
    { title: 'kept' },
    vi.fn(async () => {
      throw new Error('not that')
    }),
  )
  const title = screen.getByLabelText('Title')
  await user.type(title, ' not{Enter}')
  expect(await screen.findByText('not that')).toBeDefined()
  expect([title.getAttribute('aria-invalid'), (title as HTMLInputElement).value]).toEqual(['true', 'kept not'])
  await user.type(title, '{Escape}')
  expect((title as HTMLInputElement).value).toBe('kept')
  expect(screen.queryByText('not that')).toBeNull()
})

test('Esc leaves a field that is being saved, and what is typed on meanwhile stays', async () => {
  let finish = () => {}
  const onChange = vi.fn(
    (_: LabelChange) =>
      new Promise<void>((resolve) => {
        finish = resolve
      }),
  )
  const left = vi.fn()
  render(
    <aside onKeyDown={({ key }) => key === 'Escape' && left()}>
      <LabelsForm labels={row('a')} question="q" knownTags={[]} onChange={onChange} />
    </aside>,
  )
  const user = userEvent.setup()
  const title = screen.getByLabelText('Title') as HTMLInputElement
  await user.type(title, 'a{Escape}')
  expect([left.mock.calls.length, title.value]).toEqual([0, ''])
  await user.type(title, 'a{Enter}{Escape}')
  expect([left.mock.calls.length, title.value]).toEqual([1, 'a'])
  await user.type(title, 'b')
  await act(async () => finish())
  expect([title.value, onChange.mock.calls]).toEqual(['ab', [[{ title: 'a' }]]])
})

test('a reward is a number or nothing', async () => {
  const { onChange, user } = form()
  for (const text of ['much', '1e999', '−0.5'])
    await user.type(screen.getByLabelText('Reward'), `{Control>}a{/Control}${text}{Enter}`)
  await waitFor(() => expect(onChange.mock.calls).toEqual([[{ reward: -0.5 }]]))
})

test('tags are taken away one by one, the last with Backspace, and not added twice', async () => {
  const { onChange, user } = form({ tags: ['a', 'b'] })
  await user.click(screen.getByRole('button', { name: 'Take away the tag a' }))
  await user.type(screen.getByLabelText('Tags'), '{Backspace}b{Enter}')
  expect(onChange.mock.calls).toEqual([[{ tags: ['b'] }], [{ tags: ['a'] }]])
})

test('rows are walked, chosen, edited, deleted and opened by keyboard; Tab stops once', async () => {
  const actions: RowAction[] = []
  const chosen: (readonly [readonly string[], boolean])[] = []
  render(
    <TrajectoryTable
      rows={['a', 'b', 'c'].map((key) => row(key))}
      sort={{ by: 'added', order: 'desc' }}
      onSort={() => {}}
      chosen={new Set(['b'])}
      onChoose={(...choice) => chosen.push(choice)}
      shown={undefined}
      onAction={(action) => actions.push(action)}
    />,
  )
  const user = userEvent.setup()
  screen.getByRole('link', { name: 'question a' }).focus()
  await user.keyboard('j x{ArrowDown}e{Home}{Delete}{Enter}')
  expect(actions.filter(({ kind }) => kind !== 'show')).toEqual([
    { kind: 'edit', key: 'c' },
    { kind: 'delete', key: 'a' },
    { kind: 'open', key: 'a' },
  ])
  expect(chosen).toEqual([
    [['b'], false],
    [['b'], false],
  ])
  expect(screen.getAllByRole('link').map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1])
})

test('a click on a cell of a row puts the keys on that row', async () => {
  const actions: RowAction[] = []
  render(
    <TrajectoryTable
      rows={['a', 'b', 'c'].map((key) => row(key, { tokens: key.charCodeAt(0) }))}
      sort={{ by: 'added', order: 'desc' }}
      onSort={() => {}}
      chosen={new Set()}
      onChoose={() => {}}
      shown="b"
      onAction={(action) => actions.push(action)}
    />,
  )
  const user = userEvent.setup()
  await user.click(screen.getByRole('cell', { name: '98' }))
  expect(document.activeElement).toBe(screen.getByRole('link', { name: 'question b' }))
  await user.keyboard('{ArrowDown}')
  expect(document.activeElement).toBe(screen.getByRole('link', { name: 'question c' }))
  await user.click(screen.getByRole('cell', { name: '97' }))
  await user.keyboard('{Delete}')
  expect(actions.at(-1)).toEqual({ kind: 'delete', key: 'a' })
  // A control keeps the focus that it was given.
  await user.click(screen.getByLabelText('Choose question c'))
  expect(document.activeElement).toBe(screen.getByLabelText('Choose question c'))
})

test('a column is sorted best first, then the other way', async () => {
  const onSort = vi.fn()
  const { rerender } = render(<div />)
  for (const sort of [
    { by: 'added', order: 'desc' },
    { by: 'reward', order: 'desc' },
    { by: 'title', order: 'asc' },
  ] as const) {
    rerender(
      <TrajectoryTable
        rows={[row('a')]}
        sort={sort}
        onSort={onSort}
        chosen={new Set()}
        onChoose={() => {}}
        shown={undefined}
        onAction={() => {}}
      />,
    )
    await userEvent.click(within(screen.getByRole('table')).getByRole('button', { name: 'Reward' }))
    await userEvent.click(within(screen.getByRole('table')).getByRole('button', { name: 'Title' }))
  }
  expect(onSort.mock.calls.map(([{ by, order }]) => `${by} ${order}`)).toEqual([
    'reward desc',
    'title asc',
    'reward asc',
    'title asc',
    'reward desc',
    'title desc',
  ])
})

test('words for titles, times and ranges', () => {
  expect([titleText(row('a', { title: 'T' })), titleText(row('a')), titleText(row('a', { question: ' ' }))]).toEqual([
    'T',
    'question a',
    'without a question',
  ])
  expect([rangeText(0, 50, 3214), rangeText(50, 1, 51), rangeText(0, 0, 0)]).toEqual([
    '1–50 of 3,214',
    '51–51 of 51',
    'none',
  ])
  const now = new Date(2026, 5, 1, 12)
  expect(whenText('no time', now)).toBe('—')
  expect(whenText(new Date(2026, 5, 1, 9).toISOString(), now)).toMatch(/9/)
  expect(whenText(new Date(2025, 5, 1, 9).toISOString(), now)).toMatch(/2025/)
})
