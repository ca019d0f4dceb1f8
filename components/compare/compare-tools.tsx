'use client'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { ColourBar } from '#components/token-view/colour/colour-bar.tsx'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { countText } from '#components/token-view/numbers.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { driftVocabularyOf } from './drift/drift-words.ts'
import type { ComparePartProps } from './view.ts'

interface CompareToolsProps extends ComparePartProps {
  readonly onNext: () => void
  readonly onPrevious: () => void
  /** Further buttons at the end of the first line. */
  readonly children: ReactNode
}

const TOGGLE =
  'min-h-7 shrink-0 whitespace-nowrap rounded-md border border-line bg-raised px-2.5 hover:border-line-strong aria-pressed:border-ink aria-pressed:bg-ink aria-pressed:text-ground'

/** Toolbar of the comparison: how the tokens are shown, and buttons for the next and the previous drift span. */
export function CompareTools({ pair, view, onView, onNext, onPrevious, children }: CompareToolsProps) {
  const { left, comparison } = pair.compared
  const count = comparison.report.spans.length
  const { noun } = driftVocabularyOf(pair)
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-line border-b px-3.5 py-1.5">
      <span className="flex shrink-0 items-center tabular-nums">
        <IconButton label={`Previous ${noun} ([)`} disabled={count === 0} onClick={onPrevious}>
          <ChevronLeft size={15} aria-hidden />
        </IconButton>
        <span className="text-dim text-xs">
          {view.drift === undefined ? countText(count) : `${countText(view.drift + 1)} of ${countText(count)}`}
        </span>
        <IconButton label={`Next ${noun} (])`} disabled={count === 0} onClick={onNext}>
          <ChevronRight size={15} aria-hidden />
        </IconButton>
      </span>
      <button
        type="button"
        aria-pressed={view.onlyDifferences}
        title="Hide equal parts (c)"
        className={TOGGLE}
        onClick={() => onView({ onlyDifferences: !view.onlyDifferences })}
      >
        Only differences
      </button>
      <button
        type="button"
        aria-pressed={view.isUnified}
        title="Show both sides in one column (u)"
        className={TOGGLE}
        onClick={() => onView({ isUnified: !view.isUnified })}
      >
        Unified
      </button>
      {children}
      <span className="min-w-0 basis-full">
        <ColourBar
          trajectory={left.trajectory}
          colouring={colouringOf(left.trajectory, view.colour, undefined)}
          onChange={({ colour }) => colour !== undefined && onView({ colour })}
        />
      </span>
    </div>
  )
}
