import { ChevronLeft, ChevronRight } from 'lucide-react'
import { rowRangeText } from '#components/library/rows/row-texts.ts'
import type { TrajectoryPage } from '#lib/api/library.ts'
import { Button } from '../ui/button.tsx'

interface PagerProps {
  readonly page: TrajectoryPage
  readonly onCursor: (cursor: string | undefined) => void
}

/** Shows the range of visible rows, the total, and buttons for the previous and next page. */
export function Pager({ page: { trajectories, start, total, previous, next }, onCursor }: PagerProps) {
  return (
    <nav aria-label="Pages of the list" className="ml-auto flex items-center gap-1 tabular-nums">
      <span className="mr-1 text-dim text-xs" data-range>
        {rowRangeText(start, trajectories.length, total)}
      </span>
      <Button
        look="quiet"
        aria-label="Previous page"
        disabled={previous === undefined}
        onClick={() => onCursor(previous)}
      >
        <ChevronLeft size={16} aria-hidden />
      </Button>
      <Button look="quiet" aria-label="Next page" disabled={next === undefined} onClick={() => onCursor(next)}>
        <ChevronRight size={16} aria-hidden />
      </Button>
    </nav>
  )
}
