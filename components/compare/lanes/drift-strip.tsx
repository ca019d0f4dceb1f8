'use client'
import { type PointerEvent, type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { DriftSeverity, DriftSpan } from '#lib/trajectory/drift/report.ts'
import type { DriftVocabulary } from '../drift/drift-words.ts'
import type { LanesPicture } from './lanes-picture.ts'
import type { Pairing } from './pairing.ts'
import { type Item, itemAt, type Rows } from './rows/rows.ts'

/** Visible range of the rows, as shares of their total height from 0 to 1. */
export interface VisibleRows {
  readonly start: number
  readonly end: number
}

/** Functions of the strip that its parent calls. */
export interface DriftStripControl {
  /** Moves the frame that marks the visible range. */
  readonly place: (visible: VisibleRows) => void
}

interface DriftStripProps {
  /** Undefined before the first rows. The strip already takes its place then, so that their lines keep their width. */
  readonly picture: Pick<LanesPicture, 'rows' | 'pairing' | 'spans'> | undefined
  readonly vocabulary: DriftVocabulary
  readonly control: Ref<DriftStripControl>
  readonly onGo: (fraction: number) => void
}

/** Widths of the strip (as in the style sheet) and of the most serious mark, in CSS pixels; other marks are narrower. */
const WIDTH = 14
const BAR = 10
/** The strip is drawn one frame later, in milliseconds, so that the tokens are drawn first. */
const AFTER_TOKENS_MS = 20
const SMALLEST_WINDOW = 8
/** Marks by severity, the least serious first. They differ in width too, not only in colour. */
const LOOKS = [
  { colour: '--line-strong', share: 0.4 },
  { colour: '--warn', share: 0.7 },
  { colour: '--bad', share: 1 },
] as const

/** Overview of all drift with the visible range. The drift list offers the same by keyboard and to screen readers. */
export function DriftStrip({ picture, vocabulary, control, onGo }: DriftStripProps) {
  const { rows, pairing, spans } = picture ?? {}
  const strip = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const visible = useRef<VisibleRows>({ start: 0, end: 1 })
  /** Drawn height in CSS pixels. It is stored because reading it from the element while scrolling would force a layout. */
  const height = useRef(0)

  const place = useEffectEvent((next: VisibleRows) => {
    visible.current = next
    if (!frame.current) return
    frame.current.style.transform = `translateY(${next.start * height.current}px)`
    frame.current.style.height = `${Math.max(SMALLEST_WINDOW, (next.end - next.start) * height.current)}px`
  })
  useImperativeHandle(control, () => ({ place: (next) => place(next) }), [])
  const draw = useEffectEvent(() => {
    if (!rows || !pairing || !spans) return
    const visibleHeight = Math.min(strip.current?.clientHeight ?? 0, Math.ceil(rows.height))
    height.current = visibleHeight
    if (!canvas.current || visibleHeight === 0) return
    const density = window.devicePixelRatio || 1
    canvas.current.width = WIDTH * density
    canvas.current.height = visibleHeight * density
    canvas.current.style.height = `${visibleHeight}px`
    const context = canvas.current.getContext('2d')
    if (!context) return
    const style = getComputedStyle(canvas.current)
    const map = driftMap(rows, pairing, spans, visibleHeight)
    for (const [row, grave] of map.entries()) {
      const look = LOOKS[grave - 1]
      if (!look) continue
      context.fillStyle = style.getPropertyValue(look.colour).trim()
      context.fillRect(((WIDTH - BAR) / 2) * density, row * density, BAR * look.share * density, 2 * density)
    }
    place(visible.current)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawing depends on these values
  useEffect(() => {
    const timer = setTimeout(() => draw(), AFTER_TOKENS_MS)
    return () => clearTimeout(timer)
  }, [rows, pairing, spans])
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const observer = new ResizeObserver(() => draw())
    const onScheme = () => draw()
    if (strip.current) observer.observe(strip.current)
    scheme.addEventListener('change', onScheme)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', onScheme)
    }
  }, [])

  const go = (event: PointerEvent) => {
    const { top } = event.currentTarget.getBoundingClientRect()
    const { start, end } = visible.current
    onGo((event.clientY - top) / Math.max(1, height.current) - (end - start) / 2)
  }
  return (
    <div
      ref={strip}
      aria-hidden
      className="relative w-3.5 shrink-0 cursor-pointer touch-none overflow-hidden border-line border-l bg-panel max-sm:hidden"
      title={
        vocabulary.costs
          ? 'All drift: wide marks are in trained tokens, narrower marks in their context, the narrowest in neither. Click a mark to show it.'
          : 'All differences. Click a mark to show it.'
      }
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        go(event)
      }}
      onPointerMove={(event) => {
        if (event.buttons === 1) go(event)
      }}
    >
      <canvas ref={canvas} className="absolute top-0 left-0 w-3.5" />
      <div ref={frame} className="minimap-window absolute inset-x-0 top-0" />
    </div>
  )
}

/** Returns for each row of pixels the most serious severity that begins there: 0 no drift, 1 tail, 2 context, 3 trained. */
export function driftMap(rows: Rows, pairing: Pairing, spans: readonly DriftSpan[], height: number): Uint8Array {
  const map = new Uint8Array(height)
  let item = rows.itemCount > 0 ? itemAt(rows, 0) : undefined
  for (let drift = 0; drift < pairing.driftRuns.length; drift++) {
    const number = pairing.driftRuns[drift] as number
    while (item && item.runNumbers.end <= number && item.number + 1 < rows.itemCount)
      item = itemAt(rows, item.number + 1)
    if (!item) break
    const place = placeIn(item, rows, pairing.alignedRuns[number] as AlignedRun)
    const row = Math.min(height - 1, Math.floor((place / rows.height) * height))
    const grave = GRAVITY[spans[drift]?.severity ?? 'tail']
    if (grave > (map[row] as number)) map[row] = grave
  }
  return map
}

const GRAVITY: Readonly<Record<DriftSeverity, number>> = { trained: 3, context: 2, tail: 1 }

/** Returns the top of a drift span in row pixels, estimated within its item from its share of the item's tokens. */
function placeIn(item: Item, rows: Rows, alignedRun: AlignedRun): number {
  const side = item.left.end > item.left.start ? 'left' : 'right'
  const { start, end } = item[side]
  return item.rowTop + ((alignedRun[side].start - start) / (end - start)) * item.rows * rows.rowHeight
}
