import { Link2, Pencil } from 'lucide-react'
import { countText } from '#components/token-view/numbers.ts'
import type { Selection } from '#components/token-view/selection.ts'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { TokenNote } from '#lib/trajectory/format/token-notes.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { NoteActions } from './use-token-notes.ts'

interface NoteListProps {
  /** The notes in the order of their tokens. */
  readonly notes: readonly TokenNote[]
  readonly selection: Selection | undefined
  /** Selects the tokens of a note. */
  readonly onShow: (selection: Selection) => void
  /** `undefined` means that the notes are only shown. */
  readonly actions: NoteActions | undefined
}

/** Lists the notes on tokens; nothing if there are none and none can be written. */
export function NoteList({ notes, selection, onShow, actions }: NoteListProps) {
  if (notes.length === 0 && !actions) return null
  return (
    <section aria-label="Notes" className="mt-5" data-notes={notes.length}>
      <Heading>Notes</Heading>
      {notes.length > 0 && (
        <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5 text-xs">
          {notes.map((note) => (
            <NoteRow
              key={note.id}
              note={note}
              isCurrent={selection !== undefined && selection.focus >= note.start && selection.focus < note.end}
              onShow={onShow}
              actions={actions}
            />
          ))}
        </ul>
      )}
      {actions && (
        <div className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs">
          <Button disabled={!actions.write} onClick={actions.write} aria-keyshortcuts="a">
            Write a note…
          </Button>
          {!actions.write && <span className="min-w-0 text-faint">Select tokens first.</span>}
        </div>
      )}
    </section>
  )
}

interface NoteRowProps extends Pick<NoteListProps, 'onShow' | 'actions'> {
  readonly note: TokenNote
  /** Whether the note is on the selected token. */
  readonly isCurrent: boolean
}

function NoteRow({ note, isCurrent, onShow, actions }: NoteRowProps) {
  const range = noteRangeText(note)
  return (
    <li
      className="flex items-start rounded-md hover:bg-panel data-current:bg-accent-soft"
      data-current={isCurrent || undefined}
    >
      <button
        type="button"
        aria-current={isCurrent || undefined}
        className="min-w-0 flex-1 rounded-md px-1.5 py-1 text-left"
        onClick={() => onShow({ anchor: note.start, focus: note.end - 1 })}
      >
        <span className="block text-dim tabular-nums">{range}</span>
        <span className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${isCurrent ? 'block' : 'line-clamp-4'}`}>
          {visibleText(note.text)}
        </span>
      </button>
      {actions && (
        <>
          <IconButton label={`Edit the note on ${range.toLowerCase()}`} onClick={() => actions.edit(note)}>
            <Pencil size={13} aria-hidden />
          </IconButton>
          <IconButton label={`Copy a link to ${range.toLowerCase()}`} onClick={() => actions.copyLink(note)}>
            <Link2 size={13} aria-hidden />
          </IconButton>
        </>
      )}
    </li>
  )
}

/** Writes the tokens of a note, such as "Tokens 12 to 40". */
export const noteRangeText = ({ start, end }: Span): string =>
  end - start === 1 ? `Token ${countText(start)}` : `Tokens ${countText(start)} to ${countText(end - 1)}`
