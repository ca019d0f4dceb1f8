import { useQueryClient } from '@tanstack/react-query'
import { act, cleanup, render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Selection } from '#components/token-view/selection.ts'
import { ApiError } from '#lib/browser/api.ts'
import type * as notesModule from '#lib/browser/library/notes.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { MAX_TOKEN_NOTES, nextTokenNoteId, type TokenNote } from '#lib/trajectory/format/token-notes.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import type { PanelAction } from '../selection/panel-commands.ts'
import { NoteDialog } from './note-dialog.tsx'
import { NoteList } from './note-list.tsx'
import { useTokenNotes } from './use-token-notes.ts'

const addNote = vi.fn<typeof notesModule.addNote>()
const changeNote = vi.fn<typeof notesModule.changeNote>()
vi.mock('#lib/browser/library/notes.ts', () => ({
  addNote: (...values: Parameters<typeof addNote>) => addNote(...values),
  changeNote: (...values: Parameters<typeof changeNote>) => changeNote(...values),
}))

const onShow = vi.fn()
const say = vi.fn()
const link = vi.fn(() => 'http://here/?at=0-2')
let command: PanelAction | undefined
/** Stores other notes, as another page does, after this page has read them. */
let storeElsewhere: (notes: readonly TokenNote[]) => void
/** Why notes cannot be stored; undefined if they can. */
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

/** Shows the list and the dialog as the inspector does; a stored change of the notes changes the trajectory. */
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
  const client = useQueryClient()
  const store = async (change: (notes: readonly TokenNote[]) => readonly TokenNote[]) => {
    if (failure) throw failure
    const changed = { ...trajectory, notes: change(trajectory.notes ?? []) }
    setTrajectory(changed)
    client.setQueryData(trajectoryOptions('k').queryKey, changed)
  }
  storeElsewhere = (notes) => client.setQueryData(trajectoryOptions('k').queryKey, { ...trajectory, notes })
  addNote.mockImplementation((_client, _key, note) =>
    store((notes) => [...notes, { id: nextTokenNoteId(notes), ...note }]),
  )
  changeNote.mockImplementation((_client, _key, id, { text }) =>
    store((notes) => notes.flatMap((note) => (note.id !== id ? [note] : text === null ? [] : [{ ...note, text }]))),
  )
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
  render(<Notes first={first} selection={selection} isStored={isStored} />, { wrapper: withQueries() })
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
  expect(addNote).toHaveBeenCalledWith(expect.anything(), 'k', { start: 3, end: 5, text: 'the mistake' })
  expect(say).toHaveBeenCalledWith('The note is saved.')
  const items = screen.getAllByRole('listitem').map(({ textContent }) => textContent)
  expect(items).toEqual(['Tokens 0 to 2first', 'Tokens 3 to 4the mistake', 'Token 5second'])
})

test('The command opens the note on exactly the selected tokens, where it is changed or deleted', async () => {
  const user = show(two, { anchor: 0, focus: 2 })
  await waitFor(() => expect(command).toBeDefined())
  act(() => command?.())
  const field = await screen.findByLabelText<HTMLTextAreaElement>('Note')
  expect([field.value, field.selectionStart, field.selectionEnd]).toEqual(['first', 5, 5])
  await user.clear(field)
  await user.type(field, 'changed')
  await user.click(screen.getByRole('button', { name: 'Save note' }))
  expect(changeNote).toHaveBeenLastCalledWith(expect.anything(), 'k', '1', { text: 'changed', before: 'first' })
  await user.click(screen.getByRole('button', { name: 'Edit the note on token 5' }))
  await user.click(screen.getByRole('button', { name: 'Delete note' }))
  expect(changeNote).toHaveBeenLastCalledWith(expect.anything(), 'k', '2', { text: null, before: 'second' })
  await user.click(screen.getByRole('button', { name: 'Edit the note on tokens 0 to 2' }))
  await user.click(screen.getByRole('button', { name: 'Delete note' }))
  expect(changeNote).toHaveBeenLastCalledWith(expect.anything(), 'k', '1', { text: null, before: 'changed' })
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

describe('A note that another page has changed meanwhile', () => {
  const conflict = (status: number, code: string) => {
    failure = new ApiError(status, code, 'refused')
  }

  test('is replaced only if the user saves again, and the typed text stays', async () => {
    const user = show(two, { anchor: 5, focus: 5 })
    await user.click(screen.getByRole('button', { name: 'Edit the note on token 5' }))
    await user.type(screen.getByLabelText('Note'), ' mine')
    storeElsewhere([{ ...elementAt(two, 0), text: 'theirs' }])
    conflict(409, 'NOTE_CHANGED')
    await user.click(screen.getByRole('button', { name: 'Save note' }))
    await screen.findByText('Another page has changed this note to “theirs”. Save again to store your text, or cancel.')
    expect(screen.getByLabelText<HTMLTextAreaElement>('Note').value).toBe('second mine')
    failure = undefined
    await user.click(screen.getByRole('button', { name: 'Save note' }))
    expect(changeNote).toHaveBeenLastCalledWith(expect.anything(), 'k', '2', { text: 'second mine', before: 'theirs' })
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  test('is not deleted before the user has seen its new text', async () => {
    const user = show(two, { anchor: 5, focus: 5 })
    await user.click(screen.getByRole('button', { name: 'Edit the note on token 5' }))
    storeElsewhere([{ ...elementAt(two, 0), text: 'theirs' }])
    conflict(409, 'NOTE_CHANGED')
    await user.click(screen.getByRole('button', { name: 'Delete note' }))
    await screen.findByText('Another page has changed this note to “theirs”. Delete it again, or cancel to keep it.')
  })

  test('becomes a new note if it was deleted, and deleting it again is no error', async () => {
    const user = show(two, { anchor: 5, focus: 5 })
    await user.click(screen.getByRole('button', { name: 'Edit the note on token 5' }))
    storeElsewhere([])
    conflict(404, 'NO_NOTE')
    await user.click(screen.getByRole('button', { name: 'Save note' }))
    await screen.findByText('Another page has deleted this note. Save again to store your text, or cancel.')
    expect(screen.queryByRole('button', { name: 'Delete note' })).toBeNull()
    failure = undefined
    await user.click(screen.getByRole('button', { name: 'Save note' }))
    expect(addNote).toHaveBeenLastCalledWith(expect.anything(), 'k', { start: 5, end: 6, text: 'second' })
    await user.click(screen.getByRole('button', { name: 'Edit the note on tokens 0 to 2' }))
    conflict(404, 'NO_NOTE')
    await user.click(screen.getByRole('button', { name: 'Delete note' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })
})

test('The quotation of a token that is a line end shows a mark', async () => {
  const user = show(undefined, { anchor: 8, focus: 8 })
  await user.click(screen.getByRole('button', { name: 'Write a note…' }))
  expect(screen.getByRole('dialog', { name: 'Note on token 8' }).querySelector('p')?.textContent).toBe('↵')
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
