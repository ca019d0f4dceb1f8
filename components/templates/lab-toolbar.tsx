import { History, Redo2, Share2, Undo2 } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import { type LabHistory, revisionName } from '#lib/templates/document/document.ts'
import { LAB_PARTS, type LabAddress, type LabForm, type LabPart } from './address.ts'

const PART_NAMES = { template: 'Template', messages: 'Messages', tools: 'Tools', options: 'Options' } as const

interface PartBarProps {
  readonly address: LabAddress
  readonly onPart: (part: LabPart) => void
}

/** Shows which part of the document is edited, and how. */
export function PartBar({ address, onPart }: PartBarProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-line border-b px-3 py-1.5">
      <Segmented<LabPart>
        label="Part"
        value={address.part}
        onChange={onPart}
        options={LAB_PARTS.map((value) => ({ value, text: PART_NAMES[value] }))}
      />
      {address.part !== 'template' && (
        <span className="ml-auto">
          <Segmented<LabForm>
            label="Edit as"
            value={address.as}
            onChange={(as) => address.show({ as })}
            options={[
              { value: 'form', text: 'Form' },
              { value: 'json', text: 'JSON' },
            ]}
          />
        </span>
      )}
    </div>
  )
}

/** The dialogs of the lab that buttons open. */
export type LabDialog =
  | 'revisions'
  | 'load'
  /** Dialog of the tokenizer with an initial name. */
  | { readonly tokenizer: string }

interface DocumentBarProps {
  readonly history: LabHistory
  readonly onDialog: (dialog: LabDialog) => void
  readonly onShare: () => void
  /** Shows a revision by its number. */
  readonly onRevision: (number: number) => void
  readonly onTravel: (type: 'undone' | 'redone') => void
}

/** Shows the actions on the whole document. */
export function DocumentBar({ history, onDialog, onShare, onRevision, onTravel }: DocumentBarProps) {
  const { now, past, future } = history
  return (
    <div className="flex min-w-0 items-center gap-2 border-line border-b px-3 py-1.5">
      <Button onClick={() => onDialog('load')}>Load…</Button>
      <IconButton label="Share this document" onClick={onShare}>
        <Share2 size={15} aria-hidden />
      </IconButton>
      <Button
        className="min-w-0 shrink"
        aria-label={`Tokenizer ${now.tokenizer}: choose another`}
        onClick={() => onDialog({ tokenizer: now.tokenizer })}
      >
        <span className="text-dim max-sm:sr-only">Tokenizer</span> <span className="truncate">{now.tokenizer}</span>
      </Button>
      <span className="ml-auto flex min-w-0 shrink items-center gap-0.5">
        <select
          aria-label="Revision"
          className="field-sizing-content min-h-7 min-w-0 max-w-60 shrink truncate rounded-md border border-transparent bg-ground px-1.5 text-dim hover:border-line-strong"
          value={now.shown}
          onChange={(event) => onRevision(Number(event.target.value))}
        >
          {now.revisions.toReversed().map(({ number, name }) => (
            <option key={number} value={number}>
              {revisionName({ number, name })}
            </option>
          ))}
        </select>
        <IconButton label="Revisions: compare, rename, delete" onClick={() => onDialog('revisions')}>
          <History size={15} aria-hidden />
        </IconButton>
        <IconButton label="Undo" disabled={past.length === 0} onClick={() => onTravel('undone')}>
          <Undo2 size={15} aria-hidden />
        </IconButton>
        <IconButton label="Redo" disabled={future.length === 0} onClick={() => onTravel('redone')}>
          <Redo2 size={15} aria-hidden />
        </IconButton>
      </span>
    </div>
  )
}
