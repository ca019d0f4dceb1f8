'use client'
import { X } from 'lucide-react'
import { type KeyboardEvent, useId, useState } from 'react'

interface TagFieldProps {
  readonly tags: readonly string[]
  /** Tags that are suggested while the user types. */
  readonly knownTags: readonly string[]
  /** Rejects with the reason, which the field shows. */
  readonly onChange: (tags: readonly string[]) => Promise<void>
}

/** Shows the tags and a field for another one. Enter or a comma adds it; Backspace in the empty field removes the last tag. */
export function TagField({ tags, knownTags, onChange }: TagFieldProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const change = async (changed: readonly string[]) => {
    try {
      await onChange(changed)
      setError(undefined)
      return true
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason))
      return false
    }
  }
  const add = async () => {
    const tag = text.trim()
    if (tag === '' || tags.includes(tag) || (await change([...tags, tag]))) setText('')
  }
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter' || event.key === ',') {
      event.preventDefault()
      void add()
    }
    if (event.key === 'Backspace' && text === '' && tags.length > 0) void change(tags.slice(0, -1))
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
            <span className="truncate">{tag}</span>
            <button
              type="button"
              aria-label={`Remove the tag ${tag}`}
              className="grid size-5 place-items-center text-dim hover:text-ink"
              onClick={() => change(tags.filter((other) => other !== tag))}
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
        <p id={`${id}-error`} className="mt-1 text-bad text-xs">
          {error}
        </p>
      )}
    </div>
  )
}
