import { ArrowDown, ArrowUp, Copy, Trash2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { IconButton } from '#components/ui/icon-button.tsx'

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

/** Returns the ref of a list of cards, and a function that changes its text and moves the focus to a new or moved card. */
export function useCards(onChange: (text: string) => void) {
  const list = useRef<HTMLOListElement>(null)
  /** Index of the card that gets the focus when it is rendered. */
  const wanted = useRef<number>(undefined)
  useEffect(() => {
    if (wanted.current === undefined) return
    list.current?.children[wanted.current]?.querySelector<HTMLElement>('select, input')?.focus()
    wanted.current = undefined
  })
  const change = (text: string, focused?: number) => {
    onChange(text)
    wanted.current = focused
  }
  return { list, change }
}
