'use client'
/** Notes on the tokens of the shown trajectory: the one that is being written, and how they are stored. */
import { useState } from 'react'
import { selectedRange } from '#components/token-view/selection.ts'
import { copyText } from '#components/ui/copy-text.ts'
import { useLibrary } from '#lib/browser/library/use-library.ts'
import { MAX_TOKEN_NOTES, nextTokenNoteId, sortTokenNotes, type TokenNote } from '#lib/trajectory/format/token-notes.ts'
import type { Inspection } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'

/** A note whose text the user is writing; it has no id before it is stored. */
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
  /** Stores the draft with this text. Throws ApiError. */
  readonly save: (text: string) => Promise<void>
  /** Deletes the stored note of the draft. Throws ApiError. */
  readonly remove: () => Promise<void>
  readonly close: () => void
}

type NotesSource = Pick<Inspection, 'trajectory' | 'storedKey' | 'offer' | 'say'> & {
  readonly view: Pick<Inspection['view'], 'selection'>
}

/** Returns the notes of the shown trajectory, and registers the command that writes one. */
export function useTokenNotes(
  { trajectory, storedKey, view, offer, say }: NotesSource,
  /** Returns a link to a view of this trajectory. */
  link: (change: Pick<Inspection['view'], 'tab' | 'selection'>) => string,
): TokenNotes {
  const library = useLibrary()
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
  const store = async (changed: readonly TokenNote[], done: string) => {
    if (storedKey === undefined) return
    await library.label(storedKey, { notes: changed.length > 0 ? [...sortTokenNotes(changed)] : null })
    setDraft(undefined)
    say(done)
  }
  const others = notes.filter(({ id }) => id !== draft?.id)
  return {
    notes,
    actions:
      storedKey === undefined
        ? undefined
        : {
            write: canWrite ? write : undefined,
            edit: setDraft,
            copyLink: async ({ start, end }) => {
              const isCopied = await copyText(link({ tab: 'tokens', selection: { anchor: start, focus: end - 1 } }))
              say(isCopied ? 'Link copied.' : 'The browser refused to copy.')
            },
          },
    draft,
    save: async (text) => {
      if (draft)
        await store([...others, { ...draft, id: draft.id ?? nextTokenNoteId(notes), text }], 'The note is saved.')
    },
    remove: () => store(others, 'The note is deleted.'),
    close: () => setDraft(undefined),
  }
}
