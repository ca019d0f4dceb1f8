import { act, render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { type ComponentProps, useState } from 'react'
import { expect, test, vi } from 'vitest'
import { rewardsText, rowRangeText, titleText } from '#components/shell/trajectory-rows/row-texts.ts'
import { TrajectoryChoice } from '#components/shell/trajectory-rows/trajectory-choice.tsx'
import { decimalText, rewardText } from '#components/token-view/numbers.ts'
import type { GroupSummary, TrajectorySummary } from '#lib/api/library.ts'
import type { LabelChange } from '#lib/trajectory/format/labels.ts'
import { CutSentence } from './cut-count.tsx'
import { EstimatesChoice } from './estimates-choice.tsx'
import { HealthMarks, healthWords } from './health-marks.tsx'
import { LabelsForm } from './labels-form.tsx'
import { groupKey, tableEntries } from './rows/table-entries.ts'
import { type RowAction, TrajectoryTable } from './rows/trajectory-table.tsx'
import { useListFocus } from './use-list-focus.ts'

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
  missing: [],
  isEncodedAgain: false,
  segments: 2,
  turns: 1,
  tokens: 1234,
  trained: 5,
  meanLogprob: null,
  toolCalls: 0,
  failedCalls: 0,
  group: null,
  fork: null,
  rewardWhy: null,
  health: null,
  ...change,
})

const form = (labels: Partial<TrajectorySummary> = {}, onChange = vi.fn(async (_: LabelChange) => {})) => {
  render(<LabelsForm labels={row('a', labels)} question="q" knownTags={['known']} onChange={onChange} />)
  return { onChange, user: userEvent.setup() }
}

test('each label is saved separately, when its field loses the focus or on Enter, and only if it changed', async () => {
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
    { addTags: ['a'] },
    { addTags: ['b'] },
  ])
})

test('health marks show icons, numbers and words, and report an unchecked trajectory in words only', () => {
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
    unknown: ['weight versions: unknown'],
  }
  render(<HealthMarks health={health} />)
  expect(screen.getByTitle('the header is trained').textContent).toBe('1the header is trained')
  expect(screen.getByTitle('odd').textContent).toBe('1odd')
  expect(screen.getByTitle('drift 3 spans').textContent).toBe('3drift 3 spans')
  expect([health, { findings: [], unknown: [] }, null].map(healthWords)).toEqual([
    'the header is trained, odd, drift 3 spans; weight versions: unknown',
    'no findings',
    'not checked yet',
  ])
})

test('a trajectory choice shows the sample number, reward, outcome, drift and time', async () => {
  const onChoose = vi.fn()
  const drift = { kind: 'drift', severity: 'note', label: 'drift 3 spans', count: 3 } as const
  const sample = { group: { id: 'g', index: 2 }, reward: 0, addedAt: '2025-03-04T05:06:00.000Z' }
  render(
    <>
      <TrajectoryChoice row={row('a', { ...sample, health: { findings: [drift], unknown: [] } })} onChoose={onChoose} />
      <TrajectoryChoice
        row={row('b', {
          tokens: 1,
          outcomeKind: 'failed',
          outcome: 'context_length',
          health: { findings: [], unknown: [] },
        })}
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
  expect(texts[1]).toMatch(/^question bcontext_lengthno drift1 tokenm/)
  expect(texts[2]).not.toContain('drift')
  expect(screen.getAllByText('m')[0]?.classList).toContain('truncate')
  await userEvent.click(screen.getByRole('button', { name: /question b/ }))
  expect(onChoose).toHaveBeenCalledWith('b')
})

test('a rejected label stays in its field with the reason, and Esc reverts it', async () => {
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

test('Esc leaves a label field that is being saved, and text typed meanwhile stays', async () => {
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

test('A label that another page has changed since it is being edited is replaced only by a second save', async () => {
  const onChange = vi.fn(async (_: LabelChange) => {})
  const formOf = (title: string) => (
    <LabelsForm labels={row('a', { title })} question="q" knownTags={[]} onChange={onChange} />
  )
  const { rerender } = render(formOf('old'))
  const user = userEvent.setup()
  const title = screen.getByLabelText('Title') as HTMLInputElement
  await user.type(title, ' mine')
  rerender(formOf('theirs'))
  await user.type(title, '{Enter}')
  expect(screen.getByText('Another page has changed it to “theirs”. Save again to replace that.')).toBeTruthy()
  expect([title.value, onChange.mock.calls]).toEqual(['old mine', []])
  await user.type(title, '{Enter}')
  expect(onChange.mock.calls).toEqual([[{ title: 'old mine' }]])
})

test('the reward field accepts only a finite number', async () => {
  const { onChange, user } = form()
  for (const text of ['much', '1e999', '−0.5'])
    await user.type(screen.getByLabelText('Reward'), `{Control>}a{/Control}${text}{Enter}`)
  await waitFor(() => expect(onChange.mock.calls).toEqual([[{ reward: -0.5 }]]))
})

test('tags are removed by button or Backspace, and not added twice', async () => {
  const { onChange, user } = form({ tags: ['a', 'b'] })
  await user.click(screen.getByRole('button', { name: 'Remove the tag a' }))
  await user.type(screen.getByLabelText('Tags'), '{Backspace}b{Enter}')
  expect(onChange.mock.calls).toEqual([[{ removeTags: ['a'] }], [{ removeTags: ['b'] }]])
})

test('A tag field keeps a tag that is typed while the tag before it is being saved', async () => {
  const saves: (() => void)[] = []
  const onChange = vi.fn((_: LabelChange) => new Promise<void>((resolve) => saves.push(resolve)))
  const { user } = form({}, onChange)
  const field = screen.getByLabelText('Tags') as HTMLInputElement
  await user.type(field, 'good, tag two')
  await act(async () => saves[0]?.())
  expect([field.value, onChange.mock.calls]).toEqual([' tag two', [[{ addTags: ['good'] }]]])
})

test('A tag field saves tags one after the other, so that none of them is lost', async () => {
  const saves: (() => void)[] = []
  const onChange = vi.fn((_: LabelChange) => new Promise<void>((resolve) => saves.push(resolve)))
  const { user } = form({ tags: ['old'] }, onChange)
  await user.type(screen.getByLabelText('Tags'), 'a,b,')
  expect(onChange).toHaveBeenCalledTimes(1)
  await act(async () => saves[0]?.())
  await act(async () => saves[1]?.())
  expect(onChange.mock.calls).toEqual([[{ addTags: ['a'] }], [{ addTags: ['b'] }]])
})

test('A tag field changes its own tags only: a tag that another page adds meanwhile is shown and stays', async () => {
  const saves: (() => void)[] = []
  const onChange = vi.fn((_: LabelChange) => new Promise<void>((resolve) => saves.push(resolve)))
  const formOf = (tags: readonly string[]) => (
    <LabelsForm labels={row('a', { tags: [...tags] })} question="q" knownTags={[]} onChange={onChange} />
  )
  const { rerender } = render(formOf(['old']))
  const user = userEvent.setup()
  await user.type(screen.getByLabelText('Tags'), 'mine{Enter}')
  rerender(formOf(['old', 'theirs']))
  const removals = screen
    .getAllByRole('button', { name: /^Remove the tag/ })
    .map(({ ariaLabel, title }) => ariaLabel ?? title)
  expect(removals).toHaveLength(3)
  await user.click(screen.getByRole('button', { name: 'Remove the tag old' }))
  await act(async () => saves[0]?.())
  expect(onChange.mock.calls).toEqual([[{ addTags: ['mine'] }], [{ removeTags: ['old'] }]])
})

test('Tags that are changed while an earlier save fails are saved together with its tags', async () => {
  const saves: { resolve(): void; reject(reason: Error): void }[] = []
  const onChange = vi.fn((_: LabelChange) => new Promise<void>((resolve, reject) => saves.push({ resolve, reject })))
  const { user } = form({ tags: ['old'] }, onChange)
  await user.type(screen.getByLabelText('Tags'), 'a,b,c,')
  await user.click(screen.getByRole('button', { name: 'Remove the tag a' }))
  await act(async () => saves[0]?.reject(new Error('not that')))
  await act(async () => saves[1]?.resolve())
  expect(onChange.mock.calls).toEqual([[{ addTags: ['a'] }], [{ addTags: ['b', 'c'], removeTags: ['a'] }]])
})

test('Pasted tags are separated by their commas', async () => {
  const { onChange, user } = form({ tags: ['p2'] })
  await user.click(screen.getByLabelText('Tags'))
  await user.paste('p1, p2,p3,p1')
  await user.keyboard('{Enter}')
  expect(onChange.mock.calls).toEqual([[{ addTags: ['p1', 'p3'] }]])
})

test('A tag that cannot be saved returns to its field with the reason, unless another one was typed', async () => {
  const failures: ((reason: Error) => void)[] = []
  const onChange = vi.fn((_: LabelChange) => new Promise<void>((_, reject) => failures.push(reject)))
  const { user } = form({}, onChange)
  const field = screen.getByLabelText('Tags') as HTMLInputElement
  await user.type(field, 'a{Enter}')
  expect(field.value).toBe('')
  await act(async () => failures[0]?.(new Error('not that')))
  expect([field.value, screen.getByText('not that').textContent]).toEqual(['a', 'not that'])
  await user.type(field, '{Enter}b')
  await act(async () => failures[1]?.(new Error('not that')))
  expect(field.value).toBe('a, b')
})

/** Renders a table without groups, whose actions do nothing. */
const renderTable = (rows: readonly TrajectorySummary[], props: Partial<ComponentProps<typeof TrajectoryTable>> = {}) =>
  render(
    <TrajectoryTable
      entries={tableEntries(rows, [], new Map())}
      sort={{ by: 'added', order: 'desc' }}
      onSort={() => {}}
      selected={new Set()}
      onSelect={() => {}}
      shown={undefined}
      onAction={() => {}}
      {...props}
    />,
  )

test('library rows are focused, selected, edited, deleted and opened by keyboard, and Tab stops in one row only', async () => {
  const actions: RowAction[] = []
  const chosen: (readonly [readonly string[], boolean])[] = []
  renderTable(
    ['a', 'b', 'c'].map((key) => row(key)),
    {
      selected: new Set(['b']),
      onSelect: (...choice) => chosen.push(choice),
      onAction: (action) => actions.push(action),
    },
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
  const links = screen.getAllByRole<HTMLAnchorElement>('link', { name: 'Open in inspector' })
  expect(links.map(({ tabIndex, pathname }) => [tabIndex, pathname])).toEqual([
    [0, '/t/a'],
    [-1, '/t/b'],
    [-1, '/t/c'],
  ])
})

test('a library page that begins with a row scrolls to it and focuses it when the list is loaded, and only once', () => {
  const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView')
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
    return this.matches('[data-title]') ? new DOMRect(0, 2000, 10, 10) : new DOMRect(0, 0, 10, 30)
  })
  const { rerender } = render(<FocusedList shown="b" keys={[]} />)
  expect(scrolled).not.toHaveBeenCalled()
  rerender(<FocusedList shown="b" keys={['a', 'b', 'c']} />)
  expect(scrolled.mock.contexts).toEqual([screen.getByRole('link', { name: 'question b' })])
  expect(document.activeElement).toBe(screen.getByRole('link', { name: 'question b' }))
  rerender(<FocusedList shown="c" keys={['a', 'b', 'c']} />)
  rerender(<FocusedList shown="b" keys={['a', 'b', 'c']} />)
  expect(scrolled).toHaveBeenCalledOnce()
})

test('a library page that begins without a row does not scroll when a row is selected', () => {
  const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView')
  const { rerender } = render(<FocusedList shown={undefined} keys={['a', 'b']} />)
  rerender(<FocusedList shown="b" keys={['a', 'b']} />)
  expect(scrolled).not.toHaveBeenCalled()
  expect(document.activeElement).toBe(document.body)
})

/** Shows the rows of `keys` as the page of the library does. */
function FocusedList({ shown, keys }: { readonly shown: string | undefined; readonly keys: readonly string[] }) {
  const focus = useListFocus(shown)
  return (
    <section ref={focus.list}>
      <TrajectoryTable
        entries={tableEntries(
          keys.map((key) => row(key)),
          [],
          new Map(),
        )}
        sort={{ by: 'added', order: 'desc' }}
        onSort={() => {}}
        selected={new Set()}
        onSelect={() => {}}
        shown={shown}
        onAction={() => {}}
      />
    </section>
  )
}

test('a library row that is not checked yet has a placeholder for its health, and a checked or running one does not', () => {
  const { container } = renderTable([
    row('new'),
    row('good', { health: { findings: [], unknown: [] } }),
    row('runs', { outcomeKind: 'running' }),
  ])
  const waiting = container.querySelectorAll('[title="Health: not checked yet"]')
  expect(Array.from(waiting, (sign) => sign.closest('tr')?.dataset.key)).toEqual(['new'])
})

test('An empty element of a library row takes no space from the title', () => {
  const { container } = renderTable([row('good', { health: { findings: [], unknown: [] } })])
  const spaces = [...container.querySelectorAll('[data-key="good"] [data-title] ~ span:empty')]
  expect(spaces.length).toBeGreaterThan(0)
  expect(spaces.filter(({ classList }) => !classList.contains('empty:hidden'))).toEqual([])
})

test('a library row begins a title from right to left at its right end, which a cut keeps', () => {
  renderTable([row('a', { title: 'مرحبا', tags: ['عربي'] })])
  expect(screen.getByText('مرحبا').dir).toBe('auto')
  for (const tag of screen.getAllByText('عربي')) expect(tag.dir).toBe('auto')
})

test('a library row shows unknown calls differently from none', () => {
  renderTable([row('a'), row('b', { toolCalls: null, failedCalls: null })])
  expect(screen.getAllByTitle('Unknown: the file has only ids').map((cell) => cell.textContent)).toEqual(['?'])
})

test('a library row names what its file lacks: the first as a badge, all of it for screen readers', () => {
  const missing = ['logprobs', 'special_tokens'] as const
  renderTable([row('a', { missing, isEncodedAgain: true }), row('b', { missing: ['ids'] })])
  // Each is there twice: for wide and for narrow windows.
  expect(screen.getAllByText('Re-encoded +2')).toHaveLength(2)
  expect(screen.getAllByText('Re-encoded, No logprobs, No special tokens')).toHaveLength(2)
  expect(screen.getAllByText('No token ids')).toHaveLength(4)
})

test('a click on a cell of a library row moves the focus to that row', async () => {
  const actions: RowAction[] = []
  renderTable(
    ['a', 'b', 'c'].map((key) => row(key, { tokens: key.charCodeAt(0) })),
    { shown: 'b', onAction: (action) => actions.push(action) },
  )
  const user = userEvent.setup()
  await user.click(screen.getByRole('cell', { name: '98' }))
  expect(document.activeElement).toBe(screen.getByRole('link', { name: 'question b' }))
  await user.keyboard('{ArrowDown}')
  expect(document.activeElement).toBe(screen.getByRole('link', { name: 'question c' }))
  await user.click(screen.getByRole('cell', { name: '97' }))
  await user.keyboard('{Delete}')
  expect(actions.at(-1)).toEqual({ kind: 'delete', key: 'a' })
  // A clicked control keeps the focus.
  await user.click(screen.getByLabelText('Select question c'))
  expect(document.activeElement).toBe(screen.getByLabelText('Select question c'))
})

test('the link to the samples of a group opens their address after that of the row is written', async () => {
  const actions: RowAction[] = []
  renderTable([row('a', { group: { id: 'g', index: 1 } })], { onAction: (action) => actions.push(action) })
  const link = screen.getByRole('link', { name: 'sample 2' })
  await userEvent.click(link)
  expect(actions).toEqual([
    { kind: 'show', key: 'a' },
    { kind: 'open', key: 'a', href: link.getAttribute('href') },
  ])
})

const groupOf = (id: string, keys: readonly string[], change: Partial<GroupSummary> = {}): GroupSummary => ({
  id,
  keys,
  matching: keys.length,
  running: 0,
  rewards: { known: keys.length, mean: 0.5, min: 0, max: 1 },
  isFlat: false,
  ...change,
})

/** A table whose groups can be expanded. */
function Groups({
  onAction,
  onChoose,
}: {
  readonly onAction: (action: RowAction) => void
  readonly onChoose: (keys: readonly string[], isChosen: boolean) => void
}) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [shown, setShown] = useState<string>()
  const sample = (key: string, id: string, index: number) => row(key, { group: { id, index } })
  const samples = new Map([
    ['g', [sample('g0', 'g', 0), sample('g1', 'g', 1)]],
    ['h', undefined],
  ])
  const groups = [
    groupOf('g', ['g0', 'g1'], { matching: 1 }),
    groupOf('h', ['h0', 'h1', 'h2'], { isFlat: true, rewards: { known: 3, mean: 1, min: 1, max: 1 } }),
    groupOf('single', ['s']),
  ]
  const rows = [sample('g0', 'g', 0), sample('h0', 'h', 0), sample('s', 'single', 0), row('alone')]
  return (
    <TrajectoryTable
      entries={tableEntries(rows, groups, new Map([...open].map((id) => [id, samples.get(id)])))}
      sort={{ by: 'added', order: 'desc' }}
      onSort={() => {}}
      selected={new Set(['g0'])}
      onSelect={onChoose}
      shown={shown}
      onAction={(action) => {
        onAction(action)
        const id = action.key.trim()
        if (action.kind === 'show') setShown(action.key)
        if (action.kind === 'unfold') setOpen(new Set([...open, id]))
        if (action.kind === 'fold') setOpen(open.difference(new Set([id])))
      }}
    />
  )
}

test('a group is one row, which the right arrow expands and enters, and the left arrow leaves and collapses', async () => {
  const [onAction, onChoose] = [vi.fn(), vi.fn()]
  render(<Groups onAction={onAction} onChoose={onChoose} />)
  const user = userEvent.setup()
  const titles = () =>
    Array.from(document.querySelectorAll('tr[data-key]'), (found) => (found as HTMLElement).dataset.key)
  const group = screen.getByRole('button', { name: 'question g0' })
  expect(titles()).toEqual([groupKey('g'), groupKey('h'), 's', 'alone'])
  expect(group.getAttribute('aria-expanded')).toBe('false')
  expect(screen.getByText('2 samples · 1 match · reward 0.5 mean, 0 to 1')).toBeTruthy()
  group.focus()
  await user.keyboard('{ArrowLeft}{ArrowRight}')
  expect(titles()).toEqual([groupKey('g'), 'g0', 'g1', groupKey('h'), 's', 'alone'])
  expect(group.getAttribute('aria-expanded')).toBe('true')
  await user.keyboard('{ArrowRight}{ArrowDown}')
  expect(document.activeElement).toBe(screen.getByRole('link', { name: 'question g1' }))
  await user.keyboard('{ArrowRight}{ArrowLeft}')
  expect(document.activeElement).toBe(group)
  await user.keyboard('{ArrowLeft}')
  expect(titles()).toHaveLength(4)
  await user.click(group)
  await user.keyboard('{Enter}')
  expect(titles()).toHaveLength(4)
  await user.keyboard('j{ArrowRight}')
  expect(screen.getByText('3 samples · reward 1 · loading…')).toBeTruthy()
})

test('a group of branches names the token from which they were sampled', () => {
  const fork = { from: 'parent', token: 1211, kind: 'sampled_again' } as const
  const sample = row('b0', { group: { id: 'b', index: 0 }, fork })
  render(
    <TrajectoryTable
      entries={tableEntries([sample], [groupOf('b', ['b0', 'b1'])], new Map())}
      sort={{ by: 'added', order: 'desc' }}
      onSort={() => {}}
      selected={new Set()}
      onSelect={() => {}}
      shown={undefined}
      onAction={() => {}}
    />,
  )
  expect(screen.getByRole('button', { name: 'question b0 from token 1,211' })).toBeTruthy()
})

test('the library says how many samples of value estimates it hides, shows them on request, and is silent if there are none', async () => {
  const onEstimates = vi.fn()
  const show = (hiddenSamples: number | undefined) => (
    <EstimatesChoice hiddenSamples={hiddenSamples} onEstimates={onEstimates} />
  )
  const { rerender } = render(show(1080))
  const choice = () => screen.queryByRole<HTMLSelectElement>('combobox', { name: 'Samples of value estimates' })
  expect(choice()?.selectedOptions[0]?.text).toBe('Value samples: 1,080 hidden')
  await userEvent.selectOptions(choice() as HTMLElement, 'Value samples: shown')
  expect(onEstimates).toHaveBeenLastCalledWith('shown')
  rerender(show(undefined))
  await userEvent.selectOptions(choice() as HTMLElement, 'Value samples: hidden')
  expect(onEstimates).toHaveBeenLastCalledWith('hidden')
  rerender(show(0))
  expect(choice()).toBe(null)
})

test('a group is selected and deleted as a whole, and marked if all its rewards are equal', async () => {
  const [onAction, onChoose] = [vi.fn(), vi.fn()]
  render(<Groups onAction={onAction} onChoose={onChoose} />)
  const user = userEvent.setup()
  const box = screen.getByLabelText<HTMLInputElement>('Select all 2 samples of question g0')
  expect([box.checked, box.indeterminate]).toEqual([false, true])
  await user.click(box)
  screen.getByRole('button', { name: 'question h0' }).focus()
  await user.keyboard('xe{Delete}')
  expect(onChoose.mock.calls).toEqual([
    [['g0', 'g1'], true],
    [['h0', 'h1', 'h2'], true],
  ])
  expect(onAction.mock.calls.map(([{ kind, key }]) => [kind, key])).toEqual([
    ['show', groupKey('g')],
    ['show', groupKey('h')],
    ['delete', groupKey('h')],
  ])
  expect(screen.getAllByText('no gradient')).toHaveLength(1)
  expect(screen.getByText('no gradient').title).toBe(
    'All 3 rewards are 1: every advantage in GRPO is 0, and the group gives no gradient.',
  )
  await user.click(screen.getByLabelText('Select all on this page'))
  expect(onChoose.mock.lastCall).toEqual([['g0', 'g1', 'h0', 'h1', 'h2', 's', 'alone'], true])
})

test('the trainer’s cut is summarized in sentences, with the number of unchecked trajectories', () => {
  const count = { samples: 10, longer: 3, losing: 2, lost: 1500, trained: 30_000, unknown: 1 }
  const { container, rerender } = render(<CutSentence count={count} cut={{ tokens: 8192, overlong: 'cut' }} />)
  expect(container.textContent?.replaceAll(/\s/g, ' ')).toBe(
    '3 of 10 trajectories are longer than 8,192 tokens.1,500 of 30,000 trained tokens (5 %) in 2 trajectories are lost after that position.1 was stored by an older version and is counted when checked.',
  )
  rerender(
    <CutSentence
      count={{ ...count, longer: 1, losing: 0, lost: 0, unknown: 0 }}
      cut={{ tokens: 8192, overlong: 'drop' }}
    />,
  )
  expect(container.textContent).toBe('1 of 10 trajectories is longer than 8,192 tokens.No trained token is lost.')
})

test('the rewards of a group are one number if they are equal, and state how many are known', () => {
  const rewards = (change: Partial<GroupSummary>) => rewardsText(groupOf('g', ['a', 'b', 'c'], change))
  expect([
    rewards({ rewards: null }),
    rewards({ rewards: { known: 2, mean: 0.25, min: 0, max: 0.5 } }),
    rewards({ rewards: { known: 1, mean: -1, min: -1, max: -1 } }),
  ]).toEqual(['', 'reward 0.25 mean, 0 to 0.5, 2 known', 'reward −1, 1 known'])
})

test('a reward of any size has at most eight characters', () => {
  const texts = [
    [null, '—'],
    [5 / 6, '0.833'],
    [-2 / 3, '−0.667'],
    [1, '1'],
    [0, '0'],
    [0.00012345, '0.00012'],
    [-1e-7, '−1e−7'],
    [-7716.103, '−7716.1'],
    [12345.25, '12345.3'],
    [-123456.789, '−123457'],
    [-12_345_678.9, '−1.23e7'],
    [1e21, '1.00e21'],
  ] as const
  expect(texts.map(([reward]) => [reward, rewardText(reward)])).toEqual(texts)
  expect([1e21 / 7, -1e6, 999_999.4].map((mean) => decimalText(mean))).toEqual(['1.43e20', '−1.00e6', '999999.400'])
})

test('a click on a column sorts the best first, and the second click reverses the order', async () => {
  const onSort = vi.fn()
  const { rerender } = render(<div />)
  for (const sort of [
    { by: 'added', order: 'desc' },
    { by: 'reward', order: 'desc' },
    { by: 'title', order: 'asc' },
  ] as const) {
    rerender(
      <TrajectoryTable
        entries={tableEntries([row('a')], [], new Map())}
        sort={sort}
        onSort={onSort}
        selected={new Set()}
        onSelect={() => {}}
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

test('titles and ranges of library rows are written as text', () => {
  expect([titleText(row('a', { title: 'T' })), titleText(row('a')), titleText(row('a', { question: ' ' }))]).toEqual([
    'T',
    'question a',
    'without a question',
  ])
  expect([rowRangeText(0, 50, 3214), rowRangeText(50, 1, 51), rowRangeText(0, 0, 0)]).toEqual([
    '1–50 of 3,214',
    '51–51 of 51',
    'none',
  ])
})

test('A row whose health is not checked yet says so, and shows no bare ellipsis', () => {
  renderTable([row('new'), row('live', { outcomeKind: 'running' })])
  const [unchecked, live] = screen.getAllByRole('row').slice(1)
  expect(unchecked?.textContent).toContain('Health: not checked yet')
  expect(live?.textContent).not.toContain('not checked')
  expect(document.body.textContent).not.toContain('…')
})
