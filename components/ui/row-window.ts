/** Which of many rows are mounted: those in sight and some beside them. Rows may be measured, and then stay where they are. */
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'

export interface RowWindow {
  /** The box that scrolls, which also calls `onScroll`. Rows are in it from its top, without padding. */
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly onScroll: () => void
  /** Rows to be mounted, half-open. */
  readonly first: number
  readonly end: number
  /** Where each row begins, in pixels, and after the last one the height of all. */
  readonly offsets: Float64Array
  /** The `ref` of a row whose height is to be measured; its `data-row` is its number. */
  readonly measure: (row: HTMLElement | null) => (() => void) | undefined
  /** nearest: as little as is needed; top: near the top, unless it is wholly in sight. */
  readonly reveal: (row: number, place: 'nearest' | 'top') => void
}

interface RowWindowOptions {
  readonly count: number
  /** Height of a row, in pixels, or what it may be until it is measured. The same function while nothing changes. */
  readonly heightOf: (row: number) => number
}

export function useRowWindow({ count, heightOf }: RowWindowOptions): RowWindow {
  const scroller = useRef<HTMLDivElement>(null)
  /** What stays where it is while heights change: a row, and how far below its top the box begins. */
  const anchor = useRef({ row: 0, within: 0 })
  const [view, setView] = useState({ top: 0, height: UNKNOWN_HEIGHT })
  const [measured, setMeasured] = useState<ReadonlyMap<number, number>>(NOTHING_MEASURED)
  const offsets = useMemo(
    () => offsetsOf(count, (row) => measured.get(row) ?? heightOf(row)),
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
    const row = rowAt(offsets, box.scrollTop)
    anchor.current = { row, within: box.scrollTop - elementAt(offsets, row) }
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
    // At its top it stands anyway, and to ask would have the page laid out.
    if (box && top > 0 && box.clientHeight > 0) box.scrollTop = top
  }, [offsets])
  const [rows] = useState(() => rowObserver(setMeasured))

  return {
    scroller,
    onScroll: () => look(),
    first: rowAt(offsets, view.top - BESIDE),
    end: Math.min(count, rowAt(offsets, view.top + view.height + STEP + BESIDE) + 1),
    offsets,
    measure: (row) => {
      if (!row || !rows) return undefined
      rows.observe(row)
      return () => rows.unobserve(row)
    },
    reveal: (row, place) => {
      const box = scroller.current
      if (!box || row < 0 || row >= count) return
      const [start, end] = [elementAt(offsets, row), elementAt(offsets, row + 1)]
      const isAbove = start < box.scrollTop
      if (!isAbove && end <= box.scrollTop + box.clientHeight) return
      const within = place === 'top' || isAbove ? -MARGIN : end - start + MARGIN - box.clientHeight
      anchor.current = { row, within }
      box.scrollTop = start + within
    },
  }
}

/** Until the box has a size: a screenful. */
const UNKNOWN_HEIGHT = 800
/** Rows are chosen anew when the box has been scrolled this far, and mounted this far beside it: in pixels. */
const STEP = 120
const BESIDE = 240
/** Kept free beside a row that is brought into sight. */
const MARGIN = 8
const NOTHING_MEASURED: ReadonlyMap<number, number> = new Map()

export function offsetsOf(count: number, heightOf: (row: number) => number): Float64Array {
  const offsets = new Float64Array(count + 1)
  for (let row = 0; row < count; row++) offsets[row + 1] = elementAt(offsets, row) + heightOf(row)
  return offsets
}

/** The row at a height: the first one above all, the last one below. */
export function rowAt(offsets: Float64Array, height: number): number {
  const above = countWhile(offsets.length - 1, (index) => elementAt(offsets, index + 1) <= height)
  return Math.max(0, Math.min(above, offsets.length - 2))
}

const topOf = ({ row, within }: { readonly row: number; readonly within: number }, offsets: Float64Array): number =>
  elementAt(offsets, Math.min(row, offsets.length - 1)) + within

type Heights = ReadonlyMap<number, number>

/** Undefined where there is no layout. */
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
