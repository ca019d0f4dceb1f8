import { ArrowDown, ArrowUp, Copy, Trash2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { IconButton } from '#components/ui/icon-button.tsx'
import { withSwapped } from '#lib/json/json-text.ts'
import { withDuplicate } from '#lib/templates/document/message-form.ts'
import { elementAt } from '#lib/util/element-at.ts'

interface FormCardProps {
  /** Name for screen readers, such as `message 2`. */
  readonly name: string
  readonly head: ReactNode
  readonly onMove: { readonly up: (() => void) | undefined; readonly down: (() => void) | undefined }
  readonly onDuplicate: () => void
  readonly onDelete: () => void
  readonly children: ReactNode
}

/** Card for one entry of a list. Alt with an arrow key moves it, from any of its fields. */
export function FormCard({ name, head, onMove, onDuplicate, onDelete, children }: FormCardProps) {
  return (
    <li
      aria-label={name}
      className="rounded-md border border-line bg-ground"
      onKeyDown={(event) => {
        if (!event.altKey || event.ctrlKey || event.metaKey) return
        const move = event.key === 'ArrowUp' ? onMove.up : event.key === 'ArrowDown' ? onMove.down : undefined
        if (!move) return
        event.preventDefault()
        move()
      }}
    >
      <div className="flex items-center gap-1 border-line border-b bg-panel px-2 py-1">
        <div className="flex min-w-0 flex-1 items-center gap-2">{head}</div>
        <IconButton label={`Move ${name} up`} disabled={!onMove.up} onClick={onMove.up}>
          <ArrowUp size={14} aria-hidden />
        </IconButton>
        <IconButton label={`Move ${name} down`} disabled={!onMove.down} onClick={onMove.down}>
          <ArrowDown size={14} aria-hidden />
        </IconButton>
        <IconButton label={`Duplicate ${name}`} onClick={onDuplicate}>
          <Copy size={14} aria-hidden />
        </IconButton>
        <IconButton label={`Delete ${name}`} onClick={onDelete}>
          <Trash2 size={14} aria-hidden />
        </IconButton>
      </div>
      <div className="grid gap-2.5 p-2.5">{children}</div>
    </li>
  )
}

/**
 * Returns the ref of a list of cards, their keys, and functions that change the JSON of the list and move the focus to a new or moved card.
 */
export function useCards(text: string, count: number, onChange: (text: string) => void) {
  const list = useRef<HTMLOListElement>(null)
  const { keys, ...entries } = useEntryKeys(count)
  /** Index of the card that gets the focus when it is rendered. */
  const wanted = useRef<number>(undefined)
  useEffect(() => {
    if (wanted.current === undefined) return
    list.current?.children[wanted.current]?.querySelector<HTMLElement>('select, input')?.focus()
    wanted.current = undefined
  })
  const change = (changed: string, focused?: number) => {
    onChange(changed)
    wanted.current = focused
  }
  const swap = (from: number, to: number) =>
    to >= 0 && to < count
      ? () => {
          entries.swap(from, to)
          change(withSwapped(text, [], from, to), to)
        }
      : undefined
  return {
    list,
    keys,
    append: (changed: string) => change(changed, count),
    movesOf: (at: number) => ({ up: swap(at, at - 1), down: swap(at, at + 1) }),
    duplicate(at: number) {
      entries.insert(at + 1)
      change(withDuplicate(text, at), at + 1)
    },
    remove(changed: string, at: number) {
      entries.remove(at)
      change(changed, count > 1 ? Math.max(at - 1, 0) : undefined)
    },
  }
}

/** Returns React’s keys of the entries of a list, which stay with their entries, so that a text that is not valid yet does too. */
export function useEntryKeys(count: number) {
  const [known, setKnown] = useState<readonly number[]>([])
  const next = Math.max(-1, ...known) + 1
  const keys = Array.from({ length: count }, (_, at) => known[at] ?? next + at)
  return {
    keys,
    swap: (one: number, other: number) =>
      setKnown(keys.with(one, elementAt(keys, other)).with(other, elementAt(keys, one))),
    insert: (at: number) => setKnown(keys.toSpliced(at, 0, Math.max(-1, ...keys) + 1)),
    remove: (at: number) => setKnown(keys.toSpliced(at, 1)),
  }
}
