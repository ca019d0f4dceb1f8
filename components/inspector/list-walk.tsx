'use client'
/** The position of a trajectory in the list that it was opened from, with links to its neighbours. */
import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { usePageKeys } from '#components/shell/use-page-keys.ts'
import { countText } from '#components/token-view/numbers.ts'
import { IconButton } from '../ui/icon-button.tsx'

/** Position in a list of trajectories. */
export interface ListPlace {
  /** Text of the link to the list, such as `in the library` or `all samples`. */
  readonly name: string
  /** Name of a row of the list; undefined for a list of trajectories. */
  readonly row?: string
  /** Address of the list. */
  readonly href: string
  /** Number from 1; undefined if the list no longer contains the trajectory, for example after a change of its labels. */
  readonly number: number | undefined
  readonly total: number
  /** Addresses of the neighbours; undefined at an end. */
  readonly previous: string | undefined
  readonly next: string | undefined
}

/** Shows the position and moves to a neighbour by link or by the keys N and P. */
export function ListWalk({ place, onOpen }: { readonly place: ListPlace; readonly onOpen: (href: string) => void }) {
  const { name, row, href, number, total, previous, next } = place
  usePageKeys((event) => {
    const to = event.key === 'N' ? next : event.key === 'P' ? previous : undefined
    const isTaken = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey
    if (to === undefined || isTaken) return
    event.preventDefault()
    onOpen(to)
  })
  return (
    <nav
      aria-label="List of trajectories"
      className="-ml-1.5 flex items-center gap-1 text-xs tabular-nums"
      data-walk={number}
    >
      <Step label="Previous trajectory (P)" href={previous}>
        <ChevronLeft size={15} aria-hidden />
      </Step>
      <span className="whitespace-nowrap">
        {row !== undefined && `${row} `}
        {number === undefined ? `Not among the ${countText(total)}` : `${countText(number)} of ${countText(total)}`}
      </span>
      <Step label="Next trajectory (N)" href={next}>
        <ChevronRight size={15} aria-hidden />
      </Step>
      <a href={href} className="ml-1 min-w-0 truncate py-1 font-medium text-accent hover:underline">
        {name}
      </a>
    </nav>
  )
}

/** Shows a link; at an end a disabled button, so that the text beside it does not move. */
function Step({
  label,
  href,
  children,
}: {
  readonly label: string
  readonly href: string | undefined
  readonly children: ReactNode
}) {
  if (href === undefined)
    return (
      <IconButton label={label} disabled onClick={undefined}>
        {children}
      </IconButton>
    )
  return (
    <a
      href={href}
      aria-label={label}
      title={label}
      className="grid size-7 shrink-0 place-items-center rounded-md text-dim hover:bg-panel hover:text-ink"
    >
      {children}
    </a>
  )
}
