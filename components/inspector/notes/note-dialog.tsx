'use client'
import { type KeyboardEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextArea } from '#components/ui/field.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { MAX_TOKEN_NOTE_TEXT } from '#lib/trajectory/format/token-notes.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { idsIn } from '#lib/trajectory/tokens/range-sums.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { beginningOf } from '#lib/util/text/excerpt.ts'
import { noteRangeText } from './note-list.tsx'
import type { NoteDraft, TokenNotes } from './use-token-notes.ts'

interface NoteDialogProps extends Pick<TokenNotes, 'save' | 'remove' | 'close'> {
  readonly trajectory: TrajectoryView
  readonly draft: NoteDraft
}

/** The dialog in which a note is written, changed and deleted. An unsaved text stays if saving fails. */
export function NoteDialog({ trajectory, draft, save, remove, close }: NoteDialogProps) {
  const [text, setText] = useState(draft.text)
  const [isSaving, setIsSaving] = useState(false)
  const [error, setError] = useState<string>()
  const run = async (action: () => Promise<void>) => {
    setIsSaving(true)
    setError(undefined)
    try {
      await action()
    } catch (reason) {
      setIsSaving(false)
      setError(reason instanceof Error ? reason.message : String(reason))
    }
  }
  const canSave = text.trim() !== '' && !isSaving
  const submit = () => {
    if (canSave) void run(() => save(text))
  }
  const { start, end } = draft
  const beginning = textOf(idsIn(trajectory, { start, end: Math.min(end, start + QUOTED_TOKENS) }), trajectory.vocab)
  return (
    <Dialog title={`Note on ${noteRangeText(draft).toLowerCase()}`} closesBeside={text === draft.text} onClose={close}>
      <form
        className="grid grid-cols-[minmax(0,1fr)] gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <p className="rounded-md border border-line bg-panel px-2 py-1.5 font-mono text-xs [overflow-wrap:anywhere]">
          {quotedText(beginningOf(beginning, QUOTED_CHARACTERS))}
          {(beginning.length > QUOTED_CHARACTERS || end - start > QUOTED_TOKENS) && '…'}
        </p>
        <TextArea
          label="Note"
          explanation="⌘Enter or Ctrl-Enter saves"
          rows={4}
          maxLength={MAX_TOKEN_NOTE_TEXT}
          data-first-focus
          className="field-sizing-content max-h-80 min-h-24"
          value={text}
          error={error}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            submit()
          }}
        />
        <div className="flex flex-wrap justify-end gap-2">
          {draft.id !== undefined && (
            <Button className="mr-auto" disabled={isSaving} onClick={() => run(remove)}>
              Delete note
            </Button>
          )}
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="primary" disabled={isSaving || text.trim() === ''}>
            Save note
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Number of tokens and characters of the quoted beginning of the text. */
const QUOTED_TOKENS = 100
const QUOTED_CHARACTERS = 200

/** Returns a text in one line, with a mark for each line end. A text of spaces alone has a mark for each of them. */
const quotedText = (text: string): string =>
  visibleText(text.trim() === '' ? text.replaceAll(/[^\n]/g, '·') : text).replaceAll('\n', '↵')
