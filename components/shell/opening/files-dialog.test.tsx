import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ReactNode } from 'react'
import { expect, test, vi } from 'vitest'
import type { FilesOpening, OpeningFile, OpeningState } from '#lib/browser/files/opened-files.ts'
import { FilesDialog } from './files-dialog.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({
  Link: ({ children, ...props }: { readonly children: ReactNode }) => <a {...props}>{children}</a>,
}))

const imported = (
  [first, ...others]: readonly [string, ...string[]],
  existing: number,
  failed: readonly string[] = [],
): OpeningFile['result'] => ({
  kind: 'stored',
  imported: {
    format: 'slime',
    trajectories: [first, ...others],
    existing,
    first: { id: '', createdAt: '' },
    failed: {
      count: failed.length,
      first: failed.map((message) => ({ message, path: '', expected: '', found: '', hint: '' })),
    },
    lacked: [],
  },
})

const large = new File([], 'large.jsonl')
const FINISHED: OpeningState = {
  status: 'finished',
  files: [
    { path: 'dump/a.jsonl', result: imported(['k 1', 'k 2'], 1, ['line 3: expected JSON, found "x"']) },
    { path: 'dump/b.json', result: imported(['k'], 1) },
    { path: 'dump/large.jsonl', result: { kind: 'large', file: large } },
    { path: 'dump/note.txt', result: { kind: 'failed', message: 'expected JSON, found "#"', hint: 'Convert it.' } },
  ],
  skipped: [{ path: 'dump/.DS_Store', reason: 'its name begins with a dot, so it is hidden' }],
}

function dialog(state: OpeningState) {
  const cancel = vi.fn()
  const opening: FilesOpening = { subscribe: () => () => {}, state: () => state, cancel, ended: Promise.resolve() }
  const onList = vi.fn()
  const onClose = vi.fn()
  render(<FilesDialog opening={opening} onList={onList} onClose={onClose} />)
  return { cancel, onList, onClose, user: userEvent.setup() }
}

const rowOf = (path: string) => {
  const row = screen.getByText(path).closest('li')
  if (!row) throw new Error(`there is no row of ${path}`)
  return within(row)
}

test('The dialog of several files says what became of each, and links to what is stored', async () => {
  const { onList, onClose, user } = dialog(FINISHED)
  expect(screen.getByRole('status').textContent).toBe('2 files opened, 1 to list, 1 not opened, 1 skipped.')
  expect(rowOf('dump/a.jsonl').getByRole('link', { name: '2 trajectories' }).getAttribute('href')).toBe(
    '/t/k%201?opened=2',
  )
  expect(rowOf('dump/a.jsonl').getByText(/1 of them in the library before/)).toBeTruthy()
  expect(rowOf('dump/a.jsonl').getByText('line 3: expected JSON, found "x"')).toBeTruthy()
  expect(rowOf('dump/b.json').getByRole('link', { name: '1 trajectory' }).getAttribute('href')).toBe('/t/k')
  expect(rowOf('dump/note.txt').getByText('Not opened: expected JSON, found "#"')).toBeTruthy()
  expect(rowOf('dump/note.txt').getByText('Convert it.')).toBeTruthy()
  expect(rowOf('dump/.DS_Store').getByText('Skipped: its name begins with a dot, so it is hidden.')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'List samples' }))
  expect(onList.mock.calls).toEqual([[large]])
  await user.click(screen.getByRole('link', { name: 'Open library' }))
  expect(onClose).toHaveBeenCalledOnce()
})

test('The dialog of several files shows the progress without links, and can be cancelled', async () => {
  const [a, b, ...others] = FINISHED.files
  if (!a || !b) throw new Error('there are files')
  const reading = { path: 'dump/b.json', result: { kind: 'reading' } } as const
  const waiting = others.map(({ path }) => ({ path, result: { kind: 'waiting' } as const }))
  const { cancel, user } = dialog({ status: 'opening', files: [a, reading, ...waiting], skipped: [] })
  expect(screen.getByRole('status').textContent).toBe('Opening 2 of 4…')
  expect(screen.getByRole('progressbar', { name: 'Opened files' }).getAttribute('value')).toBe('1')
  expect(screen.queryByRole('link')).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(cancel).toHaveBeenCalledOnce()
})

test('The dialog of several files says that it was stopped, and how many files were not read', () => {
  dialog({ status: 'cancelled', files: [{ path: 'a.json', result: { kind: 'unread' } }], skipped: [] })
  expect(screen.getByRole('status').textContent).toBe('The opening was stopped: 0 files opened, 1 not read.')
  expect(rowOf('a.json').getByText('Not read.')).toBeTruthy()
  expect(screen.queryByRole('link', { name: 'Open library' })).toBeNull()
})

test('Files of the same name from several folders have a row each', () => {
  const errors = vi.spyOn(console, 'error')
  const result = { kind: 'failed', message: 'expected JSON', hint: undefined } as const
  const path = 'rollouts.jsonl'
  dialog({
    status: 'finished',
    files: [
      { path, result: imported(['k'], 0) },
      { path, result },
    ],
    skipped: [
      { path, reason: 'its name begins with a dot' },
      { path, reason: 'it is in more than 9 folders' },
    ],
  })
  expect(screen.getAllByRole('listitem')).toHaveLength(4)
  expect(errors).not.toHaveBeenCalled()
  errors.mockRestore()
})
