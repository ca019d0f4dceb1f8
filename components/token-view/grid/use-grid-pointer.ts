/**
 * The pointer over the token view: which token it points at, immediately and after a rest, and what it selects. A click
 * selects a token and Shift+click extends the selection. A drag selects the tokens it passes, and a double click selects the
 * span around the token.
 */
import { type MouseEvent, type PointerEvent, type RefObject, useEffect, useRef } from 'react'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { type Selection, single } from '../selection.ts'
import type { PointerPosition } from './use-grid-drawing.ts'

interface GridPointerOptions {
  readonly viewport: RefObject<HTMLElement | null>
  readonly scrollBy: (pixels: number) => void
  readonly tokenUnder: (place: PointerPosition) => number | undefined
  /** Returns the spans that contain a token, the smallest first. */
  readonly spansAround: (index: number) => readonly Span[]
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection | undefined) => void
  /** Called immediately with the token under the pointer. */
  readonly onMove: (index: number | undefined) => void
  /** Called with the token after the pointer has rested on it for POINT_DELAY_MS. */
  readonly onPoint: (index: number | undefined) => void
}

interface Drag {
  readonly anchor: number
  /** The focus of the selection, the position of the pointer, and the requested animation frame. */
  readonly focus: number
  readonly place: PointerPosition
  readonly frame: number
}

const POINT_DELAY_MS = 300

/** Returns pointer handlers for the element that contains the rows. */
export function useGridPointer(options: GridPointerOptions) {
  const { viewport, scrollBy, tokenUnder, spansAround, selection, onSelect, onMove, onPoint } = options
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const drag = useRef<Drag>(undefined)
  // A frame must use the latest `follow`, not that of the render that requested it.
  const followLatest = useRef(() => {})
  useEffect(
    () => () => {
      clearTimeout(resting.current)
      cancelAnimationFrame(drag.current?.frame ?? 0)
    },
    [],
  )

  const point = (index: number | undefined) => {
    onMove(index)
    clearTimeout(resting.current)
    resting.current = setTimeout(() => onPoint(index), POINT_DELAY_MS)
  }
  const follow = () => {
    const element = viewport.current
    if (!drag.current || !element) return
    const { anchor, focus, place, frame } = drag.current
    const box = element.getBoundingClientRect()
    const index = tokenUnder(nearestWithin(box, place)) ?? focus
    if (index !== focus) onSelect({ anchor, focus: index })
    cancelAnimationFrame(frame)
    const step = scrollStep(box, place)
    scrollBy(step)
    drag.current = {
      anchor,
      focus: index,
      place,
      frame: step === 0 ? 0 : requestAnimationFrame(() => followLatest.current()),
    }
  }
  useEffect(() => {
    followLatest.current = follow
  })
  const end = () => {
    cancelAnimationFrame(drag.current?.frame ?? 0)
    drag.current = undefined
  }

  return {
    onPointerDown: (event: PointerEvent) => {
      // Touch scrolls, and a tap is a click. A button among the tokens is not a token.
      if (event.pointerType === 'touch' || event.button !== 0 || isControl(event.target)) return
      const index = tokenUnder(event)
      if (index === undefined) {
        onSelect(undefined)
        return
      }
      event.currentTarget.setPointerCapture?.(event.pointerId)
      const anchor = event.shiftKey && selection ? selection.anchor : index
      drag.current = { anchor, focus: index, place: placeOf(event), frame: 0 }
      onSelect({ anchor, focus: index })
    },
    onPointerMove: (event: PointerEvent) => {
      if (!drag.current) {
        point(tokenUnder(event))
        return
      }
      drag.current = { ...drag.current, place: placeOf(event) }
      follow()
    },
    onPointerUp: end,
    onPointerCancel: end,
    onPointerLeave: () => point(undefined),
    onClick: (event: MouseEvent) => {
      if (isControl(event.target)) return
      const index = tokenUnder(event)
      if (index !== undefined && event.detail > 1 && !event.shiftKey) {
        const around = spansAround(index)
        const span = around[Math.min(event.detail - 2, around.length - 1)]
        if (span) onSelect({ anchor: span.start, focus: span.end - 1 })
      } else if (isTap(event)) onSelect(index === undefined ? undefined : single(index))
    },
  }
}

const placeOf = ({ clientX, clientY }: PointerPosition): PointerPosition => ({ clientX, clientY })

function nearestWithin({ left, top, bottom }: DOMRect, { clientX, clientY }: PointerPosition): PointerPosition {
  return { clientX: Math.max(left, clientX), clientY: Math.min(bottom - 1, Math.max(top, clientY)) }
}

/**
 * Pixels to scroll in each frame, for each pixel that the pointer is outside: slow enough to stop at a line, fast enough for
 * long responses.
 */
const SCROLL_RATE = 0.4
const FASTEST_SCROLL = 60

function scrollStep({ top, bottom }: DOMRect, { clientY }: PointerPosition): number {
  const outside = clientY < top ? clientY - top : Math.max(0, clientY - bottom)
  return Math.sign(outside) * Math.min(FASTEST_SCROLL, Math.ceil(Math.abs(outside) * SCROLL_RATE))
}

const isControl = (target: EventTarget): boolean => target instanceof Element && target.closest('button, a') !== null

const isTap = ({ nativeEvent }: MouseEvent): boolean =>
  (nativeEvent as { pointerType?: string }).pointerType === 'touch'
