'use client'
import { type KeyboardEvent, type PointerEvent, useEffect, useEffectEvent, useRef } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { InspectorPartProps } from '../inspection.ts'
import { createMinimapPainter, type MinimapPainter } from './painter.ts'

/** Shortest time between two drawings of the heat during a run; the window of the grid is moved immediately. */
const LIVE_DRAWING_MS = 400
/** One frame of delay, so that the tokens are drawn before the minimap. */
const AFTER_TOKENS_MS = 20
const SMALLEST_WINDOW = 10

/** Shows the whole trajectory: segments, heat, marks, and the part that the grid shows. Dragging, clicking and keys scroll the grid. */
export function Minimap({ inspection }: InspectorPartProps) {
  const { trajectory, colouring, marks, view, grid, inSight } = inspection
  const strip = useRef<HTMLDivElement>(null)
  const heat = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<HTMLCanvasElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const painter = useRef<MinimapPainter>(null)
  /** Everything that the drawn heat depends on, its height in pixels, and the time of the drawing. */
  const drawn = useRef<{ key: readonly unknown[]; height: number; at: number }>({ key: [], height: 0, at: 0 })
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const dragging = useRef<number>(undefined)

  const place = () => {
    const visible = grid.current?.visible()
    if (!frame.current || !visible) return
    const { height } = drawn.current
    frame.current.style.transform = `translateY(${visible.start * height}px)`
    frame.current.style.height = `${Math.max(SMALLEST_WINDOW, (visible.end - visible.start) * height)}px`
  }
  const drawHeat = useEffectEvent(() => {
    waiting.current = undefined
    const layout = grid.current?.layout()
    const height = strip.current?.clientHeight ?? 0
    if (!layout || height === 0 || !heat.current || !overlay.current) return
    const key = [layout, colouring.mode, colouring.scale, colouring.limit, height, window.devicePixelRatio, isDark()]
    if (key.every((part, index) => part === drawn.current.key[index])) return
    painter.current ??= createMinimapPainter({ heat: heat.current, marks: overlay.current })
    const drawnHeight = painter.current.drawHeat({ layout, colouring, height })
    drawn.current = { key, height: drawnHeight, at: performance.now() }
    painter.current.drawMarks(marks, view.selection)
    place()
  })
  const draw = useEffectEvent(() => {
    const wait = trajectory.live ? drawn.current.at + LIVE_DRAWING_MS - performance.now() : 0
    waiting.current ??= setTimeout(drawHeat, Math.max(AFTER_TOKENS_MS, wait))
    place()
  })
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const observer = new ResizeObserver(() => draw())
    if (strip.current) observer.observe(strip.current)
    scheme.addEventListener('change', draw)
    const unsubscribe = grid.current?.subscribe(() => draw())
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', draw)
      unsubscribe?.()
      clearTimeout(waiting.current)
      waiting.current = undefined
    }
  }, [grid])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawing depends on these
  useEffect(() => draw(), [colouring, trajectory])
  useEffect(() => painter.current?.drawMarks(marks, view.selection), [marks, view.selection])

  const scrollTo = (fraction: number) => grid.current?.scrollToFraction(Math.min(1, Math.max(0, fraction)))
  const fractionAt = ({ clientY }: PointerEvent) => {
    const top = strip.current?.getBoundingClientRect().top ?? 0
    return (clientY - top) / Math.max(1, drawn.current.height)
  }
  const onPointerDown = (event: PointerEvent) => {
    const visible = grid.current?.visible()
    if (!visible || event.button !== 0) return
    const at = fractionAt(event)
    // Outside the window, its middle jumps to the pointer and is dragged from there.
    const isInside = at >= visible.start && at <= visible.end
    dragging.current = isInside ? at - visible.start : (visible.end - visible.start) / 2
    event.currentTarget.setPointerCapture(event.pointerId)
    if (!isInside) scrollTo(at - dragging.current)
  }
  const onPointerMove = (event: PointerEvent) => {
    if (dragging.current !== undefined) scrollTo(fractionAt(event) - dragging.current)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const visible = grid.current?.visible()
    const target = visible && keyTarget(event.key, visible)
    if (target === undefined) return
    event.preventDefault()
    scrollTo(target)
  }
  const count = tokenCount(trajectory)
  return (
    <div
      ref={strip}
      className="relative w-[72px] touch-none overflow-hidden border-line border-l bg-panel px-1 max-lg:hidden"
      role="slider"
      tabIndex={0}
      aria-label="Minimap"
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, count - 1)}
      aria-valuenow={inSight?.start ?? 0}
      aria-valuetext={
        inSight && `tokens ${countText(inSight.start)} to ${countText(inSight.end - 1)} of ${countText(count)}`
      }
      title="The whole trajectory: drag or click to scroll. From the left: segments, heat, trained tokens, marks."
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onLostPointerCapture={() => {
        dragging.current = undefined
      }}
      onWheel={({ deltaY, deltaMode }) => {
        const visible = grid.current?.visible()
        const height = grid.current?.layout()?.height
        if (visible && height) scrollTo(visible.start + (deltaY * WHEEL_STEPS[deltaMode as 0 | 1 | 2]) / height)
      }}
      onKeyDown={onKeyDown}
    >
      <canvas ref={heat} className="absolute top-0 left-1 w-16" />
      <canvas ref={overlay} className="absolute top-0 left-1 w-16" />
      <div ref={frame} className="minimap-window absolute inset-x-0 top-0" />
    </div>
  )
}

/** Pixels in one step of the wheel for the delta modes pixel, line and page. */
const WHEEL_STEPS = [1, 24, 600] as const

const isDark = (): boolean => matchMedia('(prefers-color-scheme: dark)').matches

/** Returns the start of the window after a key; undefined for other keys. */
function keyTarget(key: string, { start, end }: { start: number; end: number }): number | undefined {
  const page = end - start
  switch (key) {
    case 'ArrowDown':
      return start + page / 4
    case 'ArrowUp':
      return start - page / 4
    case 'PageDown':
      return start + page
    case 'PageUp':
      return start - page
    case 'Home':
      return 0
    case 'End':
      return 1
    default:
      return undefined
  }
}
