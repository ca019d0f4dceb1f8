import type { ReactNode } from 'react'
import { Link } from '#components/shell/navigation.tsx'
import { Button } from '#components/ui/button.tsx'

interface EmptyListProps {
  /** Whether a filter is set: the library itself may have trajectories. */
  readonly isFiltered: boolean
  readonly onClear: () => void
}

/** Says why the list has no rows, and what to do. */
export function EmptyList({ isFiltered, onClear }: EmptyListProps) {
  return isFiltered ? (
    <Nothing title="No matches">
      <p>
        Every word must occur in the title, question, tags, note, model, outcome or file name, or begin a word that the
        model wrote. Numbers: reward&gt;0.5, tokens:1000-2000, logprob&lt;-2. Other terms are searched as text.
      </p>
      <Button onClick={onClear}>Clear search and filters</Button>
    </Nothing>
  ) : (
    <Nothing title="Nothing is stored yet">
      <p>
        Run the agent in the{' '}
        <Link href="/" className="text-accent underline">
          playground
        </Link>
        , or open a file: both are stored here.
      </p>
    </Nothing>
  )
}

function Nothing({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid h-full place-content-center justify-items-center gap-3 p-6 text-center text-dim">
      <h2 className="font-semibold text-ink">{title}</h2>
      {children}
    </div>
  )
}
