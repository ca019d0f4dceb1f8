'use client'
/** Notes on the tokens of the shown trajectory: the one that is being written, and how they are stored. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { selectedRange } from '#components/token-view/selection.ts'
import { copyAndDescribe } from '#components/ui/copy-text.ts'
import { ApiError } from '#lib/browser/api.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { MAX_TOKEN_NOTES, sortTokenNotes, type TokenNote } from '#lib/trajectory/format/token-notes.ts'
import type { Inspection } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'

/** A note that the user is writing: its text as it is stored, or '' and no id before it is stored. */
export type NoteDraft = Pick<TokenNote, 'start' | 'end' | 'text'> & { readonly id: string | undefined }

/** What the user can do with the notes of a stored trajectory. */
export interface NoteActions {
  /** Opens the note on exactly the selected tokens, or a new one; undefined if no tokens are selected. */
  readonly write: (() => void) | undefined
  readonly edit: (note: TokenNote) => void
  readonly copyLink: (note: TokenNote) => void
}

/** The notes of a trajectory. */
export interface TokenNotes {
  /** The notes in the order of their tokens. */
  readonly notes: readonly TokenNote[]
  /** `undefined` means that the notes are only shown, because the trajectory is not stored. */
  readonly actions: NoteActions | undefined
  /** The note that is being written; undefined if there is none. */
  readonly draft: NoteDraft | undefined
  /** Stores the draft with this text. Throws ApiError; if another page has changed the note, the draft becomes the note as it is stored. */
  readonly save: (text: string) => Promise<void>
  /** Deletes the stored note of the draft. Throws ApiError as `save` does. */
  readonly remove: () => Promise<void>
  readonly close: () => void
}

/** Loads the functions that store notes: most visits of a page write none. */
const loadNotes = () => import('#lib/browser/library/notes.ts')

type NotesSource = Pick<Inspection, 'trajectory' | 'storedKey' | 'offer' | 'say'> & {
  readonly view: Pick<Inspection['view'], 'selection'>
}

/** Returns the notes of the shown trajectory, and registers the command that writes one. */
export function useTokenNotes(
  { trajectory, storedKey, view, offer, say }: NotesSource,
  /** Returns a link to a view of this trajectory. */
  link: (change: Pick<Inspection['view'], 'tab' | 'selection'>) => string,
): TokenNotes {
  const [draft, setDraft] = useState<NoteDraft>()
  const notes = sortTokenNotes(trajectory.notes ?? [])
  const range = view.selection && selectedRange(view.selection)
  const write = () => {
    if (!range) return
    const known = notes.find(({ start, end }) => start === range.start && end === range.end)
    if (!known && notes.length >= MAX_TOKEN_NOTES) say(`A trajectory has at most ${MAX_TOKEN_NOTES} notes. Delete one.`)
    else setDraft(known ?? { ...range, id: undefined, text: '' })
  }
  const canWrite = storedKey !== undefined && range !== undefined
  usePanelCommand(offer, 'note', canWrite ? write : undefined)
  const client = useQueryClient()
  const done = (message: string) => {
    setDraft(undefined)
    say(message)
  }
  /** Changes or deletes the note of the draft. Another page may have changed or deleted it since it was read. */
  const change = async (key: string, id: string, text: string | null, before: NoteDraft) => {
    try {
      const { changeNote } = await loadNotes()
      await changeNote(client, key, id, { text, before: before.text })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const isDeleted = error.code === 'NO_NOTE'
      if (isDeleted && text === null) return
      if (!isDeleted && error.code !== 'NOTE_CHANGED') throw error
      const stored = client.getQueryData(trajectoryOptions(key).queryKey)?.notes?.find((note) => note.id === id)
      setDraft(stored ?? { ...before, id: undefined, text: '' })
      const what = stored
        ? `Another page has changed this note to “${stored.text}”.`
        : 'Another page has deleted this note.'
      const remedy =
        text === null ? 'Delete it again, or cancel to keep it.' : 'Save again to store your text, or cancel.'
      throw new ApiError(error.status, error.code, `${what} ${remedy}`)
    }
  }
  return {
    notes,
    actions:
      storedKey === undefined
        ? undefined
        : {
            write: canWrite ? write : undefined,
            edit: setDraft,
            copyLink: async ({ start, end }) => {
              const selection = { anchor: start, focus: end - 1 }
              say(await copyAndDescribe(link({ tab: 'tokens', selection }), 'Link copied.'))
            },
          },
    draft,
    save: async (text) => {
      if (!draft || storedKey === undefined) return
      const { id, start, end } = draft
      if (id === undefined) await (await loadNotes()).addNote(client, storedKey, { start, end, text })
      else await change(storedKey, id, text, draft)
      done('The note is saved.')
    },
    remove: async () => {
      if (draft?.id === undefined || storedKey === undefined) return
      await change(storedKey, draft.id, null, draft)
      done('The note is deleted.')
    },
    close: () => setDraft(undefined),
  }
}
