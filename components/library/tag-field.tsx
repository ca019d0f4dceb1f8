'use client'
import { X } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { changedLabels, type TagChange } from '#lib/trajectory/format/labels.ts'

interface TagFieldProps {
  readonly tags: readonly string[]
  /** Tags that are suggested while the user types. */
  readonly knownTags: readonly string[]
  /** Rejects with the reason, which the field shows. */
  readonly onChange: (change: TagChange) => Promise<void>
}

/**
 * Shows the tags and a field for more of them. Enter or a comma adds the typed tags, which commas separate; Backspace in the empty field
 * removes the last tag. The field is free while tags are being saved.
 */
export function TagField({ tags: storedTags, knownTags, onChange }: TagFieldProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const { tags, change } = useTags(storedTags, onChange, {
    onSaved: () => setError(undefined),
    onFailed(reason, unsaved) {
      setError(reason instanceof Error ? reason.message : String(reason))
      setText((typed) => [...unsaved, typed.trim()].filter((tag) => tag !== '').join(', '))
    },
  })
  const add = () => {
    const typed = text.split(',').map((tag) => tag.trim())
    const added = [...new Set(typed)].filter((tag) => tag !== '' && !tags.includes(tag))
    setText('')
    if (added.length > 0) void change({ addTags: added })
  }
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter' || event.key === ',') {
      event.preventDefault()
      add()
    }
    if (event.key === 'Backspace' && text === '' && tags.length > 0) void change({ removeTags: tags.slice(-1) })
    if (event.key === 'Escape' && text !== '') {
      event.stopPropagation()
      setText('')
    }
  }
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-dim text-xs">
        Tags
      </label>
      <div className="flex flex-wrap gap-1 rounded-md border border-line bg-raised px-1.5 py-1 focus-within:border-line-strong hover:border-line-strong">
        {tags.map((tag) => (
          <span
            key={tag}
            className="inline-flex max-w-full items-center gap-0.5 rounded-sm bg-accent-soft py-0.5 pl-1.5 text-xs"
          >
            <span dir="auto" className="truncate">
              {tag}
            </span>
            <button
              type="button"
              aria-label={`Remove the tag ${tag}`}
              className="grid size-5 place-items-center text-dim hover:text-ink"
              onClick={() => change({ removeTags: [tag] })}
            >
              <X size={12} aria-hidden />
            </button>
          </span>
        ))}
        <input
          id={id}
          list={`${id}-known`}
          className="min-w-20 flex-1 bg-transparent px-1 py-0.5 placeholder:text-faint"
          placeholder={tags.length === 0 ? 'Add a tag, press Enter' : ''}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={press}
          onBlur={add}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={error === undefined ? undefined : `${id}-error`}
        />
        <datalist id={`${id}-known`}>
          {knownTags
            .filter((tag) => !tags.includes(tag))
            .map((tag) => (
              <option key={tag} value={tag} />
            ))}
        </datalist>
      </div>
      {error !== undefined && (
        <p id={`${id}-error`} className="mt-1 text-bad text-xs wrap-anywhere">
          {error}
        </p>
      )}
    </div>
  )
}

interface SaveEvents {
  readonly onSaved: () => void
  /** Called if the last of the saves failed. `unsaved` are the added tags that no save stored. */
  readonly onFailed: (reason: unknown, unsaved: readonly string[]) => void
}

/** Returns the tags as changed, and a function that changes them. Saves run one after the other, and each has what no earlier one stored. */
function useTags(storedTags: readonly string[], save: TagFieldProps['onChange'], { onSaved, onFailed }: SaveEvents) {
  /** What was changed since everything was stored. */
  const [shownChange, setShownChange] = useState<TagChange>({})
  const lastSave = useRef(Promise.resolve())
  const unsaved = useRef<TagChange>({})
  const change = async (next: TagChange) => {
    unsaved.current = joinedChange(unsaved.current, next)
    setShownChange((earlier) => joinedChange(earlier, next))
    const saving = lastSave.current
      .catch(() => undefined)
      .then(async () => {
        const sent = unsaved.current
        // The save before has stored this change too.
        if (!sent.addTags && !sent.removeTags) return
        await save(sent)
        unsaved.current = tagChange(
          without(unsaved.current.addTags, sent.addTags),
          without(unsaved.current.removeTags, sent.removeTags),
        )
      })
    lastSave.current = saving
    try {
      await saving
      onSaved()
    } catch (reason) {
      if (lastSave.current !== saving) return
      onFailed(reason, unsaved.current.addTags ?? [])
      unsaved.current = {}
    }
    if (lastSave.current === saving) setShownChange({})
  }
  return { tags: changedLabels({ tags: [...storedTags] }, shownChange).tags ?? [], change }
}

const tagChange = (addTags: readonly string[], removeTags: readonly string[]): TagChange => ({
  ...(addTags.length > 0 && { addTags }),
  ...(removeTags.length > 0 && { removeTags }),
})

/** Returns two changes as one. The later one decides about the tags of both. */
function joinedChange(earlier: TagChange, { addTags = [], removeTags = [] }: TagChange): TagChange {
  const changed = [...addTags, ...removeTags]
  return tagChange(
    [...without(earlier.addTags, changed), ...addTags],
    [...without(earlier.removeTags, changed), ...removeTags],
  )
}

const without = (tags: readonly string[] = [], others: readonly string[] = []): readonly string[] =>
  tags.filter((tag) => !others.includes(tag))
