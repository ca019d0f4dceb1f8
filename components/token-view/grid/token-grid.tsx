'use client'
/**
 * The token view: every token of a trajectory, with scrolling, pointing and selection. use-grid-drawing.ts draws it;
 * use-grid-pointer.ts and grid-keys.ts define the pointer and the keys.
 */
import { type KeyboardEvent, type Ref, useRef, useState } from 'react'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { selectedText } from '../card/selected-tokens.ts'
import { spansAround } from '../card/spans-around.ts'
import type { TokenReading } from '../card/token-reading.ts'
import { useCopy } from '../card/use-copy.ts'
import type { Folds, GridOptions } from '../grid-options.ts'
import { keyName } from '../key-name.ts'
import { isSingle, type Selection, selectedRange } from '../selection.ts'
import type { TokenMarks } from '../token-marks.ts'
import type { GridControl } from './grid-control.ts'
import { SELECT_ALL, selectionOfKey } from './grid-keys.ts'
import { tokenName } from './token-box.ts'
import { SELECTED_ID } from './token-painter.ts'
import { TokenViewport } from './token-viewport.tsx'
import { useGridDrawing } from './use-grid-drawing.ts'
import { useGridPointer } from './use-grid-pointer.ts'

interface TokenGridProps {
  readonly trajectory: TrajectoryView
  readonly reading: TokenReading
  /** The pinned tokens. */
  readonly selection: Selection | undefined
  /** Another token that is scrolled into view when it changes. */
  readonly shown?: number | undefined
  readonly onSelect: (selection: Selection | undefined) => void
  /** Called with the token under the pointer after a short rest there. */
  readonly onPoint: (index: number | undefined) => void
  /** If omitted, there are no marks. */
  readonly marks?: readonly TokenMarks[]
  /** If omitted, the defaults apply. */
  readonly options?: GridOptions
  /** The folded parts and the handler of changes. If omitted, nothing can be folded. */
  readonly folds?: Folds
  readonly onFolds?: (folds: Folds) => void
  /** Called with the visible tokens, half-open, when they change. */
  readonly onVisible?: (tokens: Span) => void
  /** Called with a message after a copy. */
  readonly onSay?: (message: string) => void
  readonly control?: Ref<GridControl>
}

/** Shows the tokens of a trajectory as a grid that can be scrolled, selected and copied. */
export function TokenGrid(props: TokenGridProps) {
  const { trajectory, reading, selection, onSelect, onPoint, onSay } = props
  const [pointed, setPointed] = useState<number>()
  const still = useRef<number>(undefined)
  const { viewport, canvas, layer, layout, tokenUnder, scrollBy } = useGridDrawing({ ...props, pointed, still })
  const selectStill = (chosen: Selection | undefined) => {
    still.current = chosen?.focus
    onSelect(chosen)
  }
  const pointer = useGridPointer({
    viewport,
    scrollBy,
    tokenUnder,
    spansAround: (index) => spansAround(trajectory, index),
    selection,
    onSelect: selectStill,
    onMove: setPointed,
    onPoint,
  })
  useCopy(viewport, () => (selection ? selectedText(trajectory, selection) : undefined), onSay)
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!layout || event.target !== event.currentTarget) return
    const key = keyName(event)
    const pageLines = Math.max(1, Math.floor(event.currentTarget.clientHeight / layout.rowHeight) - 2)
    const chosen = selectionOfKey(key, { layout, count: tokenCount(trajectory), selection, pageLines })
    if (!chosen) return
    event.preventDefault()
    if (key === SELECT_ALL) selectStill(chosen.selection)
    else onSelect(chosen.selection)
  }

  return (
    <>
      <TokenViewport
        ref={viewport}
        label="Tokens"
        rowCount={layout?.lineCount ?? 0}
        activeId={selection === undefined ? undefined : SELECTED_ID}
        isMultiselectable
        isIdle={layout !== undefined && !trajectory.live}
        tokenCount={tokenCount(trajectory)}
        onKeyDown={onKeyDown}
      >
        {tokenCount(trajectory) === 0 && !trajectory.live && (
          <p className="absolute p-4 text-faint text-sm">There are no tokens in this trajectory.</p>
        )}
        <div ref={canvas} className="token-canvas" {...pointer}>
          <div ref={layer} className="token-layer" />
        </div>
      </TokenViewport>
      {/* The active element is always the same one, so screen readers do not announce it; they announce changes of this text. */}
      <p className="sr-only" aria-live="polite">
        {selection && spokenSelection(selection, trajectory, reading)}
      </p>
    </>
  )
}

function spokenSelection(selection: Selection, trajectory: TrajectoryView, reading: TokenReading): string {
  const token = tokenAt(trajectory, selection.focus)
  if (!token) return ''
  const { start, end } = selectedRange(selection)
  return `${isSingle(selection) ? '' : `${end - start} tokens selected, to `}${tokenName(token, { trajectory, reading })}`
}
