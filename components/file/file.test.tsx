import { fireEvent, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { expect, test, vi } from 'vitest'
import type { RowSort } from '#lib/browser/file-index/listed-rows.ts'
import type { FileSampleRow, ListedSample } from '#lib/browser/file-index/sample-row.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { filterOfQuery, listQuery } from './address.ts'
import { RowsTable } from './rows-table.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: ({ children, ...props }: { readonly children: ReactNode }) => <a {...props}>{children}</a>,
}))

const sample = (index: number, change: Partial<ListedSample> = {}): FileSampleRow => ({
  start: index,
  end: index + 1,
  line: index + 1,
  item: undefined,
  within: 0,
  ok: true,
  id: `id-${index}`,
  title: null,
  question: `question ${index}`,
  reward: index / 4,
  group: null,
  outcomeKind: 'ended',
  outcome: 'end_turn',
  turns: 1,
  tokens: 1000 + index,
  trained: 5,
  ...change,
})
const broken: FileSampleRow = {
  start: 9,
  end: 10,
  line: 3,
  item: undefined,
  within: 0,
  ok: false,
  message: 'line 3: expected JSON',
  hint: 'Write it again.',
}
const ROWS = [sample(0), sample(1), broken, sample(3)]

function table(change: Partial<Parameters<typeof RowsTable>[0]> = {}) {
  const onSelect = vi.fn((_: ReadonlySet<number>) => {})
  const onSort = vi.fn((_: RowSort) => {})
  const onOpen = vi.fn((_: number) => {})
  const props = {
    rows: ROWS,
    listed: [0, 1, 2, 3],
    sort: { by: 'place', order: 'asc' } as const,
    selected: new Set<number>(),
    opened: undefined,
    hrefOf: (index: number) => `/file/${index}`,
    onSelect,
    onSort,
    onOpen,
    ...change,
  }
  const { container, rerender } = render(<RowsTable {...props} />, { wrapper: withQueries() })
  const list = (listed: readonly number[]) => rerender(<RowsTable {...props} listed={listed} />)
  return { container, list, onSelect, onSort, onOpen, user: userEvent.setup() }
}

const rowOf = (name: string) => screen.getByRole('row', { name: new RegExp(name) })

test('The list of a file links to each sample, with its place, id, outcome, sizes and reward', () => {
  table()
  const row = rowOf('question 1')
  expect(within(row).getByRole('link', { name: 'question 1' }).getAttribute('href')).toBe('/file/1')
  expect(row.textContent).toMatch(/line 2 · end_turn · 1,001 tokens · id-1.*0\.25/)
})

test('A broken record is a row with its reason, without a link, that cannot be selected', async () => {
  const { onSelect, user } = table()
  const row = rowOf('expected JSON')
  expect(within(row).queryByRole('link')).toBeNull()
  expect(row.textContent).toContain('Write it again.')
  expect(within(row).getByRole<HTMLInputElement>('checkbox').disabled).toBe(true)
  await user.click(screen.getByLabelText('Select all listed'))
  expect(onSelect.mock.calls).toEqual([[new Set([0, 1, 3])]])
})

test('A heading of the list sorts in its direction, then in the other, then in the order of the file', async () => {
  const { onSort, user } = table()
  await user.click(screen.getByRole('button', { name: 'Reward' }))
  expect(onSort.mock.lastCall).toEqual([{ by: 'reward', order: 'desc' }])
})

test.each<[RowSort, RowSort]>([
  [
    { by: 'reward', order: 'desc' },
    { by: 'reward', order: 'asc' },
  ],
  [
    { by: 'reward', order: 'asc' },
    { by: 'place', order: 'asc' },
  ],
])('The heading of a list sorted by %o sorts by %o next', async (sort, next) => {
  const { onSort, user } = table({ sort })
  await user.click(screen.getByRole('button', { name: 'Reward' }))
  expect(onSort.mock.lastCall).toEqual([next])
})

test('Arrow keys move between the rows of a list, and X selects one', async () => {
  const { onSelect, user } = table()
  await user.click(screen.getByLabelText('Select line 1'))
  onSelect.mockClear()
  await user.keyboard('{ArrowDown}')
  expect(document.activeElement?.textContent).toBe('question 1')
  await user.keyboard('x')
  expect(onSelect.mock.lastCall).toEqual([new Set([1])])
  await user.keyboard('{ArrowDown}x')
  expect(document.activeElement?.textContent).toBe('line 3: expected JSON')
  expect(onSelect).toHaveBeenCalledTimes(1)
  await user.keyboard('{End}')
  expect(document.activeElement?.textContent).toBe('question 3')
  await user.keyboard('{Home}')
  expect(document.activeElement?.textContent).toBe('question 0')
})

test('A key acts on the row that has the focus, although rows before it were indexed meanwhile', async () => {
  const { list, onSelect, user } = table({ listed: [0, 1] })
  screen.getByRole('link', { name: 'question 0' }).focus()
  list([3, 0, 1])
  await user.keyboard('x')
  expect(onSelect.mock.lastCall).toEqual([new Set([0])])
  await user.keyboard('{ArrowDown}')
  expect(document.activeElement?.textContent).toBe('question 1')
})

test('A list of 40,000 samples mounts only the visible rows, and reports them all', () => {
  const rows = Array.from({ length: 40_000 }, (_, index) => sample(index))
  table({ rows, listed: rows.map((_, index) => index) })
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('40001')
  expect(screen.getAllByRole('row').length).toBeLessThan(60)
})

test('A list of 800 samples begins at the sample that was opened last, which has the focus', () => {
  const rows = Array.from({ length: 800 }, (_, index) => sample(index))
  const { container } = table({ rows, listed: rows.map((_, index) => index), opened: 246 })
  // jsdom does not report that an element was scrolled by a script.
  fireEvent.scroll(container.querySelector('[data-rows]') as Element)
  expect(document.activeElement?.textContent).toBe('question 246')
})

test('A click on a sample of a list reports it, so that the address of the list keeps it, and Ctrl and a click do not', async () => {
  const { onOpen, user } = table()
  await user.click(screen.getByRole('link', { name: 'question 1' }))
  expect(onOpen.mock.calls).toEqual([[1]])
  await user.keyboard('{Control>}')
  await user.click(screen.getByRole('link', { name: 'question 3' }))
  expect(onOpen).toHaveBeenCalledTimes(1)
})

test('The address of a list has its filter and its order, and nothing for the whole file', () => {
  const filter = { q: 'two words', outcome: 'length', sort: { by: 'reward', order: 'asc' } } as const
  expect(filterOfQuery(listQuery(filter))).toEqual(filter)
  expect(listQuery({ q: '', outcome: '', sort: { by: 'place', order: 'asc' } })).toBe('')
  expect(filterOfQuery('sort=nothing&order=up')).toEqual({ q: '', outcome: '', sort: { by: 'place', order: 'asc' } })
})
