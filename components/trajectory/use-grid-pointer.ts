/** The pointer over the token view: what it points at, at once and after it has rested there, and what it chooses. */
import { type MouseEvent, type PointerEvent, useRef } from 'react'
import { type Selection, single } from './selection.ts'
import type { Place } from './use-grid-drawing.ts'

interface GridPointerOptions {
  readonly tokenUnder: (place: Place) => number | undefined
  readonly onSelect: (selection: Selection | undefined) => void
  /** Hears of the token under the pointer at once. */
  readonly onMove: (index: number | undefined) => void
  /** Hears of it after it has rested there a moment. */
  readonly onPoint: (index: number | undefined) => void
}

const POINT_DELAY_MS = 250

/** Handlers for the element that holds the rows. */
export function useGridPointer({ tokenUnder, onSelect, onMove, onPoint }: GridPointerOptions) {
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const point = (index: number | undefined) => {
    onMove(index)
    clearTimeout(resting.current)
    resting.current = setTimeout(() => onPoint(index), POINT_DELAY_MS)
  }
  return {
    onPointerMove: (event: PointerEvent) => point(tokenUnder(event)),
    onPointerLeave: () => point(undefined),
    onClick: (event: MouseEvent) => {
      const index = tokenUnder(event)
      onSelect(index === undefined ? undefined : single(index))
    },
  }
}
