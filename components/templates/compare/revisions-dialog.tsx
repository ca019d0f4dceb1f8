'use client'
import { Check, Pencil, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import {
  type LabAction,
  type LabDocument,
  revisionName,
  type TemplateRevision,
} from '#lib/templates/document/document.ts'
import { RevisionDiff } from './revision-diff.tsx'

interface RevisionsDialogProps {
  readonly document: LabDocument
  readonly onAction: (action: LabAction) => void
  readonly onClose: () => void
}

/** Dialog with all revisions of the template, which can be shown, named, compared and deleted. Every step can be undone. */
export function RevisionsDialog({ document, onAction, onClose }: RevisionsDialogProps) {
  const { revisions, shown } = document
  const [renaming, setRenaming] = useState<number>()
  const [compared, setCompared] = useState<number>()
  const current = revisions.find(({ number }) => number === shown) as TemplateRevision
  const others = revisions.filter((revision) => revision !== current)
  const other = others.find(({ number }) => number === compared) ?? baseOf(current, others)
  return (
    <Dialog title="Revisions of the template" width="wide" onClose={onClose}>
      <ol aria-label="Revisions" className="grid gap-0.5">
        {revisions.toReversed().map((revision) => (
          <li
            key={revision.number}
            aria-current={revision === current || undefined}
            className="flex items-center gap-1.5 rounded-md px-1.5 py-0.5 aria-[current]:bg-accent-soft"
          >
            <span className="w-6 text-right text-dim text-xs tabular-nums">{revision.number}</span>
            {renaming === revision.number ? (
              <NameForm
                revision={revision}
                onName={(name) => {
                  setRenaming(undefined)
                  onAction({ type: 'renamed', number: revision.number, name })
                }}
              />
            ) : (
              <>
                <button
                  type="button"
                  className="min-h-7 min-w-0 flex-1 truncate rounded-md px-1.5 text-left hover:bg-panel"
                  aria-pressed={revision === current}
                  onClick={() => onAction({ type: 'shown', number: revision.number })}
                >
                  {revision.name}
                  <span className="ml-2 text-dim text-xs">{originText(revision)}</span>
                </button>
                <IconButton label={`Rename revision ${revision.number}`} onClick={() => setRenaming(revision.number)}>
                  <Pencil size={14} aria-hidden />
                </IconButton>
                <IconButton
                  label={`Delete revision ${revision.number}`}
                  disabled={revisions.length === 1}
                  onClick={() => onAction({ type: 'deleted', number: revision.number })}
                >
                  <Trash2 size={14} aria-hidden />
                </IconButton>
              </>
            )}
          </li>
        ))}
      </ol>
      <p className="mt-3 text-faint text-xs">
        Loaded and fixed templates do not change: typing creates a new revision. Ctrl/⌘ Z undoes across revisions.
      </p>
      {other && (
        <div className="mt-4 grid gap-2">
          <SelectField
            label={`Compare revision ${current.number} with`}
            value={other.number}
            onChange={(event) => setCompared(Number(event.target.value))}
          >
            {others.map(({ number, name }) => (
              <option key={number} value={number}>
                {revisionName({ number, name })}
              </option>
            ))}
          </SelectField>
          <RevisionDiff left={other.template} right={current.template} />
        </div>
      )}
    </Dialog>
  )
}

const baseOf = (current: TemplateRevision, others: readonly TemplateRevision[]): TemplateRevision | undefined =>
  others.find(({ number }) => number === current.parent) ?? others.at(-1)

const originText = ({ parent, kind }: TemplateRevision): string =>
  [parent === undefined ? '' : `from ${parent}`, kind === 'draft' ? 'draft' : '']
    .filter((part) => part !== '')
    .join(', ')

function NameForm({
  revision,
  onName,
}: {
  readonly revision: TemplateRevision
  readonly onName: (name: string) => void
}) {
  const [name, setName] = useState(revision.name)
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '') onName(name.trim())
  }
  return (
    <form className="flex flex-1 items-end gap-1.5" onSubmit={save}>
      <div className="flex-1">
        <TextField
          label={`Name of revision ${revision.number}`}
          value={name}
          autoFocus
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <Button type="submit" aria-label="Save the name" disabled={name.trim() === ''}>
        <Check size={14} aria-hidden />
      </Button>
    </form>
  )
}
