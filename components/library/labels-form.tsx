'use client'
/** Fields for title, tags, note and reward. Each is saved separately, when it loses the focus or on Enter; Esc reverts the change. */
import { type KeyboardEvent, useState } from 'react'
import type { TrajectorySummary } from '#lib/api/library.ts'
import type { LabelChange } from '#lib/trajectory/format/labels.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import { TextArea, TextField } from '../ui/field.tsx'
import { visibleText } from '../ui/visible-text.ts'
import { TagField } from './tag-field.tsx'

interface LabelsFormProps {
  readonly labels: Pick<TrajectorySummary, 'title' | 'tags' | 'note' | 'reward'>
  /** Placeholder of the title. */
  readonly question: string
  readonly knownTags: readonly string[]
  /** Rejects with the reason, which the field shows. */
  readonly onChange: (change: LabelChange) => Promise<void>
}

/** Shows the fields of a trajectory's labels. */
export function LabelsForm({ labels, question, knownTags, onChange }: LabelsFormProps) {
  const [progress, setProgress] = useState<'saving' | 'saved'>()
  const save = async (change: LabelChange) => {
    setProgress('saving')
    try {
      await onChange(change)
      setProgress('saved')
    } catch (error) {
      setProgress(undefined)
      throw error
    }
  }
  const title = useDraft(labels.title ?? '', (text) => save({ title: text.trim() || null }))
  const note = useDraft(labels.note ?? '', (text) => save({ note: text.trim() === '' ? null : text }))
  const reward = useDraft(labels.reward === null ? '' : String(labels.reward), (text) =>
    save({ reward: rewardIn(text) }),
  )
  return (
    <div className="grid gap-2.5" data-labels={progress ?? 'idle'}>
      <div className="grid grid-cols-[minmax(0,1fr)_5rem] items-start gap-2.5">
        <TextField label="Title" dir="auto" placeholder={visibleText(question)} {...title} />
        <TextField label="Reward" inputMode="decimal" placeholder="none" {...reward} />
      </div>
      <TagField tags={labels.tags} knownTags={knownTags} onChange={save} />
      <TextArea label="Note" dir="auto" rows={2} className="field-sizing-content max-h-60 min-h-14" {...note} />
      <p role="status" className="sr-only">
        {progress === 'saving' ? 'Saving…' : progress === 'saved' ? 'Saved' : ''}
      </p>
    </div>
  )
}

interface Draft {
  readonly text: string
  /** The stored text that the user has seen. Undefined: the text is typed while an earlier one is saved. */
  readonly seen: string | undefined
  readonly isBeingSaved: boolean
}

/** Characters of another page's text in an error. */
const SHOWN = 60

/** Keeps typed text until it is saved; if saving fails, or if another page has changed the stored text, the text stays with the reason. */
function useDraft(stored: string, save: (text: string) => Promise<void>) {
  const [draft, setDraft] = useState<Draft>()
  const [error, setError] = useState<string>()
  const forget = () => {
    setDraft(undefined)
    setError(undefined)
  }
  const commit = async () => {
    if (!draft || draft.isBeingSaved) return
    if (draft.text === stored) return forget()
    if (draft.seen !== undefined && draft.seen !== stored) {
      setDraft({ ...draft, seen: stored })
      setError(`Another page has changed it to “${visibleText(excerpt(stored, SHOWN))}”. Save again to replace that.`)
      return
    }
    setDraft({ ...draft, isBeingSaved: true })
    setError(undefined)
    try {
      await save(draft.text)
      // Text that was typed while saving stays.
      setDraft((current) => (current?.isBeingSaved ? undefined : current))
    } catch (reason) {
      setDraft((current) => current && { ...current, isBeingSaved: false })
      setError(reason instanceof Error ? reason.message : String(reason))
    }
  }
  return {
    value: draft?.text ?? stored,
    error,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      setDraft({
        text: event.target.value,
        seen: draft?.isBeingSaved ? undefined : draft ? draft.seen : stored,
        isBeingSaved: false,
      }),
    onBlur: commit,
    onKeyDown: (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      const isLine = event.currentTarget instanceof HTMLInputElement
      if (event.key === 'Enter' && (isLine || event.ctrlKey || event.metaKey)) void commit()
      if (event.key !== 'Escape' || !draft || draft.isBeingSaved) return
      // The event stops here; a second Esc leaves the field.
      event.stopPropagation()
      forget()
    },
  }
}

/** Returns null for an empty text; throws if the text is not a finite number. */
function rewardIn(text: string): number | null {
  const written = text.trim().replace('−', '-')
  if (written === '') return null
  const reward = Number(written)
  if (!Number.isFinite(reward)) throw new Error('a number, or empty')
  return reward
}
