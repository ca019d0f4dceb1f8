import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, cleanup, render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Selection } from '#components/token-view/selection.ts'
import { ApiError } from '#lib/browser/api.ts'
import type { Library } from '#lib/browser/library/use-library.ts'
import { changedLabels, labelsOf, withLabels } from '#lib/trajectory/format/labels.ts'
import { MAX_TOKEN_NOTES } from '#lib/trajectory/format/token-notes.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { PanelAction } from '../selection/panel-commands.ts'
import { NoteDialog } from './note-dialog.tsx'
import { NoteList } from './note-list.tsx'
import { useTokenNotes } from './use-token-notes.ts'

const label = vi.fn<Library['label']>()
vi.mock('#lib/browser/library/use-library.ts', () => ({ useLibrary: () => ({ label }) }))

const onShow = vi.fn()
const say = vi.fn()
const link = vi.fn(() => 'http://here/?at=0-2')
let command: PanelAction | undefined
/** Why labels cannot be stored; undefined if they can. */
let failure: ApiError | undefined
beforeEach(() => {
  vi.resetAllMocks()
  link.mockReturnValue('http://here/?at=0-2')
  command = undefined
  failure = undefined
})

const offer = (_name: string, run: PanelAction) => {
  command = run
  return () => {
    command = undefined
  }
}

/** Shows the list and the dialog as the inspector does; a stored change of the labels changes the trajectory. */
function Notes({
  first,
  selection,
  isStored,
}: {
  first: Trajectory
  selection: Selection | undefined
  isStored: boolean
}) {
  const [trajectory, setTrajectory] = useState(first)
  label.mockImplementation(async (_key, change) => {
    if (failure) throw failure
    setTrajectory((known) => withLabels(known, changedLabels(labelsOf(known), change)))
  })
  const notes = useTokenNotes(
    { trajectory, storedKey: isStored ? 'k' : undefined, view: { selection }, offer, say },
    link,
  )
  return (
    <>
      <NoteList notes={notes.notes} selection={selection} onShow={onShow} actions={notes.actions} />
      {notes.draft && <NoteDialog {...notes} draft={notes.draft} trajectory={trajectory} />}
    </>
  )
}

function show(notes: Trajectory['notes'], selection?: Selection, isStored = true) {
  const first = notes ? { ...sample, notes } : sample
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Notes first={first} selection={selection} isStored={isStored} />
    </QueryClientProvider>,
  )
  return userEvent.setup()
}

const two = [
  { id: '2', start: 5, end: 6, text: 'second' },
  { id: '1', start: 0, end: 3, text: 'first' },
]

test('A note is written on the selected tokens, with their text quoted, and is stored with a new id', async () => {
  const user = show(two, { anchor: 4, focus: 3 })
  await user.click(screen.getByRole('button', { name: 'Write a note…' }))
  const dialog = screen.getByRole('dialog', { name: 'Note on tokens 3 to 4' })
  expect(dialog.textContent).toContain('<think>')
  expect(within(dialog).queryByRole('button', { name: 'Delete note' })).toBeNull()
  expect(within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Save note' }).disabled).toBe(true)
  await user.type(within(dialog).getByLabelText('Note'), 'the mistake{Control>}{Enter}{/Control}')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  const added = { id: '3', start: 3, end: 5, text: 'the mistake' }
  expect(label).toHaveBeenCalledWith('k', { notes: [two[1], added, two[0]] })
  expect(say).toHaveBeenCalledWith('The note is saved.')
  const items = screen.getAllByRole('listitem').map(({ textContent }) => textContent)
  expect(items).toEqual(['Tokens 0 to 2first', 'Tokens 3 to 4the mistake', 'Token 5second'])
})

test('The command opens the note on exactly the selected tokens, where it is changed or deleted', async () => {
  const user = show(two, { anchor: 0, focus: 2 })
  await waitFor(() => expect(command).toBeDefined())
  act(() => command?.())
  const field = await screen.findByLabelText<HTMLTextAreaElement>('Note')
  expect(field.value).toBe('first')
  await user.clear(field)
  await user.type(field, 'changed')
  await user.click(screen.getByRole('button', { name: 'Save note' }))
  expect(label).toHaveBeenLastCalledWith('k', { notes: [{ ...two[1], text: 'changed' }, two[0]] })
  await user.click(screen.getByRole('button', { name: 'Edit the note on token 5' }))
  await user.click(screen.getByRole('button', { name: 'Delete note' }))
  expect(label).toHaveBeenLastCalledWith('k', { notes: [{ ...two[1], text: 'changed' }] })
  await user.click(screen.getByRole('button', { name: 'Edit the note on tokens 0 to 2' }))
  await user.click(screen.getByRole('button', { name: 'Delete note' }))
  expect(label).toHaveBeenLastCalledWith('k', { notes: null })
  expect(screen.queryByRole('listitem')).toBeNull()
})

test('A note that cannot be stored keeps its text and shows the reason, and can be cancelled', async () => {
  const user = show(two, { anchor: 1, focus: 1 })
  failure = new ApiError(503, 'DOWN', 'the application does not answer')
  await user.click(screen.getByRole('button', { name: 'Write a note…' }))
  await user.type(screen.getByLabelText('Note'), 'kept')
  await user.click(screen.getByRole('button', { name: 'Save note' }))
  await screen.findByText('the application does not answer')
  expect(screen.getByLabelText<HTMLTextAreaElement>('Note').value).toBe('kept')
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  expect(screen.queryByRole('dialog')).toBeNull()
  expect(screen.getAllByRole('listitem')).toHaveLength(2)
})

test('The list leads to the tokens of a note, marks the one on the selected token, and copies a link to it', async () => {
  const user = show(two, { anchor: 5, focus: 5 })
  const writeText = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
  const first = screen.getByRole('button', { name: /^Tokens 0 to 2/ })
  expect(screen.getByRole('button', { name: /^Token 5/ }).getAttribute('aria-current')).toBe('true')
  expect(first.getAttribute('aria-current')).toBeNull()
  await user.click(first)
  expect(onShow).toHaveBeenCalledWith({ anchor: 0, focus: 2 })
  await user.click(screen.getByRole('button', { name: 'Copy a link to tokens 0 to 2' }))
  expect(link).toHaveBeenCalledWith({ tab: 'tokens', selection: { anchor: 0, focus: 2 } })
  expect(writeText).toHaveBeenCalledWith('http://here/?at=0-2')
  await waitFor(() => expect(say).toHaveBeenCalledWith('Link copied.'))
})

test('Notes of a trajectory that is not stored are only listed, and nothing is shown if there are none', () => {
  show(two, { anchor: 0, focus: 0 }, false)
  expect(screen.getAllByRole('button')).toHaveLength(2)
  expect(command).toBeUndefined()
  cleanup()
  show(undefined, undefined, false)
  expect(screen.queryByRole('region', { name: 'Notes' })).toBeNull()
})

test('Without selected tokens no note can be written, and a trajectory with the most notes says so', async () => {
  show(undefined)
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Write a note…' }).disabled).toBe(true)
  screen.getByText('Select tokens first.')
  cleanup()
  const most = Array.from({ length: MAX_TOKEN_NOTES }, (_, index) => ({ id: `${index}`, start: 0, end: 1, text: 'x' }))
  const user = show(most, { anchor: 3, focus: 3 })
  await user.click(screen.getByRole('button', { name: 'Write a note…' }))
  expect(say).toHaveBeenCalledWith('A trajectory has at most 100 notes. Delete one.')
  expect(screen.queryByRole('dialog')).toBeNull()
})
