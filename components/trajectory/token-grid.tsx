'use client'
/**
 * The token view: every token of a trajectory, scrolled, pointed at and stepped through. What is drawn is made in
 * use-grid-drawing.ts, what pointer and keys mean in use-grid-pointer.ts and grid-keys.ts.
 */
import { type KeyboardEvent, type Ref, useState } from 'react'
import { tokenCount } from '#lib/core/tokens.ts'
import type { Span } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { GridControl } from './grid-control.ts'
import { keyTarget } from './grid-keys.ts'
import type { Folds, GridOptions } from './grid-options.ts'
import { type Selection, single } from './selection.ts'
import type { TokenMarks } from './token-marks.ts'
import { SELECTED_ID } from './token-painter.ts'
import type { TokenReading } from './token-reading.ts'
import { useGridDrawing } from './use-grid-drawing.ts'
import { useGridPointer } from './use-grid-pointer.ts'

interface TokenGridProps {
  readonly trajectory: TrajectoryView
  readonly reading: TokenReading
  /** The pinned tokens. */
  readonly selection: Selection | undefined
  /** Scrolled into sight when it changes, as the pinned one is. */
  readonly shown?: number | undefined
  readonly onSelect: (selection: Selection | undefined) => void
  /** The token under the pointer, after it has rested there a moment. */
  readonly onPoint: (index: number | undefined) => void
  /** Omitted: none. */
  readonly marks?: readonly TokenMarks[]
  /** Omitted: the usual ones. */
  readonly options?: GridOptions
  /** What is folded, and how that changes. Omitted: nothing can be folded. */
  readonly folds?: Folds
  readonly onFolds?: (folds: Folds) => void
  /** Hears which tokens are in sight, half-open, when that changes. */
  readonly onSight?: (tokens: Span) => void
  readonly control?: Ref<GridControl>
}

export function TokenGrid({ trajectory, reading, selection, shown, onSelect, onPoint, control }: TokenGridProps) {
  const [pointed, setPointed] = useState<number>()
  const { viewport, canvas, layout, tokenUnder } = useGridDrawing({
    trajectory,
    reading,
    selection,
    shown,
    pointed,
    control,
  })
  const pointer = useGridPointer({ tokenUnder, onSelect, onMove: setPointed, onPoint })
  const selected = selection?.focus
  const onKeyDown = (event: KeyboardEvent) => {
    if (!layout || event.ctrlKey || event.metaKey || event.altKey) return
    const next = keyTarget(event.key, selected, layout, tokenCount(trajectory))
    if (next === undefined) return
    event.preventDefault()
    onSelect(next === 'none' ? undefined : single(next))
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows are drawn by hand; a table would mount every one
    <div
      ref={viewport}
      className="token-viewport"
      role="grid"
      tabIndex={0}
      aria-label="Tokens"
      aria-rowcount={layout?.lineCount ?? 0}
      aria-activedescendant={selected === undefined ? undefined : SELECTED_ID}
      data-idle={layout !== undefined && !trajectory.live}
      data-tokens={tokenCount(trajectory)}
      onKeyDown={onKeyDown}
    >
      <div ref={canvas} className="token-canvas" {...pointer} />
    </div>
  )
}
