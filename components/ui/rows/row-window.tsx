/**
 * Selects the mounted rows of a long list: the visible ones and some around them. Rows may be measured; the visible ones
 * then keep their position.
 */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { countWhile } from '#lib/util/bisect.ts'
import { float64At } from '#lib/util/element-at.ts'
import { useIsPrinting } from '../use-printing.ts'
import { MOST_PRINTED } from './unprinted-rows.tsx'

/** The mounted rows of a list, and what the elements of the list need. */
export interface RowWindow {
  /** Ref of the scrollable box, which also calls `onScroll`. Rows begin at its top, without padding. */
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly onScroll: () => void
  /** Rows that must be mounted, half-open. */
  readonly first: number
  readonly end: number
  /** Top of each row in pixels, followed by the height of all rows. */
  readonly offsets: Float64Array
  /** Height of the rows after the mounted ones, in pixels. */
  readonly after: number
  /** Number of rows that are missing on the paper. */
  readonly unprinted: number
  /** The `ref` of a row that is measured; the row's `data-row` is its index. */
  readonly measure: (row: HTMLElement | null) => (() => void) | undefined
  /** Scrolls to a row. `nearest` scrolls as little as possible; `top` shows the row near the top, unless all of it is visible. */
  readonly reveal: (row: number, place: 'nearest' | 'top') => void
}

interface RowWindowOptions {
  readonly count: number
  /** Returns the height of a row in pixels, or an estimate until it is measured. The function must stay the same while nothing changes. */
  readonly heightOf: (row: number) => number
}

/** Returns the mounted rows of a scrollable list, updated on scrolling, resizing and measuring. */
export function useRowWindow({ count, heightOf }: RowWindowOptions): RowWindow {
  const scroller = useRef<HTMLDivElement>(null)
  /** The row that keeps its position while heights change, and how far below its top the visible part begins. */
  const anchor = useRef({ row: 0, within: 0 })
  const [view, setView] = useState({ top: 0, height: UNKNOWN_HEIGHT })
  const [measured, setMeasured] = useState<ReadonlyMap<number, number>>(NOTHING_MEASURED)
  const offsets = useMemo(
    () => rowTops(count, (row) => measured.get(row) ?? heightOf(row)),
    [count, heightOf, measured],
  )

  const look = useEffectEvent(() => {
    const box = scroller.current
    if (!box || box.clientHeight === 0) return
    const top = STEP * Math.floor(box.scrollTop / STEP)
    setView((known) =>
      known.top === top && known.height === box.clientHeight ? known : { top, height: box.clientHeight },
    )
    if (Math.abs(topOf(anchor.current, offsets) - box.scrollTop) < 1) return
    const row = rowAtHeight(offsets, box.scrollTop)
    anchor.current = { row, within: box.scrollTop - float64At(offsets, row) }
  })
  useEffect(() => {
    const box = scroller.current
    if (!box || typeof ResizeObserver === 'undefined') return
    const observer = new ResizeObserver(() => look())
    observer.observe(box)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    const box = scroller.current
    const top = topOf(anchor.current, offsets)
    // At the top nothing has to change, and reading the height would force a layout.
    if (box && top > 0 && box.clientHeight > 0) box.scrollTop = top
  }, [offsets])
  const [rows] = useState(() => rowObserver(setMeasured))
  const isPrinting = useIsPrinting()
  const first = isPrinting ? 0 : rowAtHeight(offsets, view.top - BESIDE)
  const end = Math.min(
    count,
    isPrinting ? MOST_PRINTED : rowAtHeight(offsets, view.top + view.height + STEP + BESIDE) + 1,
  )
  const visibleOffsets = isPrinting ? offsets.subarray(0, end + 1) : offsets

  return {
    scroller,
    onScroll: () => look(),
    first,
    end,
    offsets: visibleOffsets,
    after: float64At(visibleOffsets, visibleOffsets.length - 1) - float64At(visibleOffsets, end),
    unprinted: isPrinting ? count - end : 0,
    measure: (row) => {
      if (!row || !rows) return undefined
      rows.observe(row)
      return () => rows.unobserve(row)
    },
    reveal: (row, place) => {
      const box = scroller.current
      if (!box || row < 0 || row >= count) return
      const [start, end] = [float64At(offsets, row), float64At(offsets, row + 1)]
      const isAbove = start < box.scrollTop
      if (!isAbove && end <= box.scrollTop + box.clientHeight) return
      const within = place === 'top' || isAbove ? -MARGIN : end - start + MARGIN - box.clientHeight
      anchor.current = { row, within }
      box.scrollTop = start + within
    },
  }
}

/** Height of the box in pixels until it is known. */
const UNKNOWN_HEIGHT = 800
/** Pixels of scrolling after which the rows are selected again, and pixels on each side in which rows are mounted. */
const STEP = 120
const BESIDE = 240
/** Space beside a row that is scrolled into view, in pixels. */
const MARGIN = 8
const NOTHING_MEASURED: ReadonlyMap<number, number> = new Map()

/** Returns the top of each row, followed by the height of all rows. */
export function rowTops(count: number, heightOf: (row: number) => number): Float64Array {
  const offsets = new Float64Array(count + 1)
  for (let row = 0; row < count; row++) offsets[row + 1] = float64At(offsets, row) + heightOf(row)
  return offsets
}

/** Returns the row at a height; the first or last row for heights outside the list. */
export function rowAtHeight(offsets: Float64Array, height: number): number {
  const above = countWhile(offsets.length - 1, (index) => float64At(offsets, index + 1) <= height)
  return Math.max(0, Math.min(above, offsets.length - 2))
}

const topOf = ({ row, within }: { readonly row: number; readonly within: number }, offsets: Float64Array): number =>
  float64At(offsets, Math.min(row, offsets.length - 1)) + within

type Heights = ReadonlyMap<number, number>

/** Returns an observer that measures rows; undefined if the environment has no layout. */
function rowObserver(onHeights: (change: (known: Heights) => Heights) => void): ResizeObserver | undefined {
  if (typeof ResizeObserver === 'undefined') return undefined
  return new ResizeObserver((entries) => {
    const heights = entries.flatMap(({ target, borderBoxSize }): readonly (readonly [number, number])[] => {
      const height = borderBoxSize[0]?.blockSize ?? 0
      return height > 0 ? [[Number((target as HTMLElement).dataset.row), height]] : []
    })
    onHeights((known) =>
      heights.every(([row, height]) => known.get(row) === height) ? known : new Map([...known, ...heights]),
    )
  })
}
