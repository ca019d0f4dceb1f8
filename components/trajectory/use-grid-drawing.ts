/** Measures, lays out and draws the token view into its two elements, and keeps what should be in sight there. */
import {
  type Ref,
  type RefObject,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { segmentsOf } from '#lib/core/tokens.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { GridControl } from './grid-control.ts'
import {
  createLayoutCache,
  type Layout,
  layoutTrajectory,
  lineAtHeight,
  lineOfToken,
  ROW_HEIGHT,
  tokenAtColumn,
} from './layout.ts'
import { measureText } from './measure-text.ts'
import { createPieceTable } from './piece-table.ts'
import type { Selection } from './selection.ts'
import { createTokenPainter, type TokenPainter, type TokenPicture } from './token-painter.ts'
import type { TokenReading } from './token-reading.ts'

export interface GridDrawingOptions {
  readonly trajectory: TrajectoryView
  readonly reading: TokenReading
  readonly selection: Selection | undefined
  readonly shown: number | undefined
  /** The token whose box is drawn. */
  readonly pointed: number | undefined
  readonly control: Ref<GridControl> | undefined
  /** Where a choice stands that shall not move the view, such as one made by pointer. */
  readonly still: RefObject<number | undefined>
}

/** A place in the window, in pixels. */
export interface Place {
  readonly clientX: number
  readonly clientY: number
}

/** What the font and the width of the window say. */
interface Measure {
  readonly cell: number
  readonly columns: number
}

export function useGridDrawing({ trajectory, reading, selection, shown, pointed, control, still }: GridDrawingOptions) {
  const viewport = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLDivElement>(null)
  const painter = useRef<TokenPainter>(null)
  const listeners = useRef(new Set<() => void>())
  const [measure, setMeasure] = useState<Measure>()
  const picture = usePicture(trajectory, reading, measure, pointed, selection)
  const drawn = useRef<Layout>(undefined)

  const resize = useEffectEvent(() => {
    if (!viewport.current || !canvas.current) return
    // In a pane that is not shown there is nothing to measure yet.
    if (viewport.current.checkVisibility?.() === false) return
    const cell = measureText('0')
    const columns = Math.max(20, Math.floor(canvas.current.clientWidth / cell) - 1)
    setMeasure((known) => (known?.cell === cell && known.columns === columns ? known : { cell, columns }))
  })
  useEffect(() => {
    const observer = new ResizeObserver(resize)
    if (canvas.current) observer.observe(canvas.current)
    document.fonts.ready.then(resize)
    document.fonts.addEventListener('loadingdone', resize)
    return () => {
      observer.disconnect()
      document.fonts.removeEventListener('loadingdone', resize)
    }
  }, [])

  const draw = useEffectEvent(() => {
    if (!picture || !viewport.current || !canvas.current) return
    painter.current ??= createTokenPainter(viewport.current, canvas.current)
    painter.current.draw(picture)
    drawn.current = picture.layout
    for (const listener of listeners.current) listener()
  })
  const following = useRef({ isOn: true, wasLive: false, scrollTop: 0 })
  useLayoutEffect(() => {
    if (!picture || !viewport.current) return
    draw()
    const { isOn, wasLive } = following.current
    if (isOn && (trajectory.live || wasLive)) {
      viewport.current.scrollTop = viewport.current.scrollHeight
      following.current.scrollTop = viewport.current.scrollTop
    }
    following.current.wasLive = trajectory.live !== undefined
    draw()
  }, [picture, trajectory])
  useEffect(() => {
    const element = viewport.current
    if (!element) return
    const onScroll = () => {
      // Rows may have arrived since the view was moved to the end: that is not the reader scrolling away from it.
      if (element.scrollTop !== following.current.scrollTop)
        following.current.isOn = element.scrollHeight - element.scrollTop - element.clientHeight < 2 * ROW_HEIGHT
      draw()
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [])
  const isMeasured = measure !== undefined
  const reveal = useEffectEvent((index: number) => {
    if (picture && viewport.current) scrollIntoSight(viewport.current, picture.layout, index)
  })
  const focus = selection?.focus
  useEffect(() => {
    if (isMeasured && focus !== undefined && focus !== still.current) reveal(focus)
    still.current = undefined
  }, [isMeasured, focus, still])
  useEffect(() => {
    if (isMeasured && shown !== undefined) reveal(shown)
  }, [isMeasured, shown])

  useImperativeHandle(
    control,
    () => ({
      layout: () => drawn.current,
      sight: () => {
        const element = viewport.current
        const height = drawn.current?.height
        if (!element || !height) return { start: 0, end: 1 }
        return {
          start: element.scrollTop / height,
          end: Math.min(1, (element.scrollTop + element.clientHeight) / height),
        }
      },
      scrollToFraction: (fraction) => {
        if (viewport.current && drawn.current) viewport.current.scrollTop = fraction * drawn.current.height
      },
      reveal: (index) => {
        if (viewport.current && drawn.current) scrollIntoSight(viewport.current, drawn.current, index)
      },
      focus: () => viewport.current?.focus({ preventScroll: true }),
      subscribe: (listener) => {
        listeners.current.add(listener)
        return () => listeners.current.delete(listener)
      },
    }),
    [],
  )

  const tokenUnder = ({ clientX, clientY }: Place): number | undefined => {
    if (!picture || !canvas.current) return undefined
    const box = canvas.current.getBoundingClientRect()
    const line = lineAtHeight(picture.layout, clientY - box.top)
    const column = Math.floor((clientX - box.left) / picture.cell)
    if (!line || column < 0) return undefined
    const index = tokenAtColumn(line, column)
    return index < 0 ? undefined : index
  }

  return { viewport, canvas, layout: picture?.layout, tokenUnder }
}

function usePicture(
  trajectory: TrajectoryView,
  reading: TokenReading,
  measure: Measure | undefined,
  pointed: number | undefined,
  selection: Selection | undefined,
): TokenPicture | undefined {
  const table = useMemo(
    () => (measure ? createPieceTable((text) => measureText(text) / measure.cell) : undefined),
    [measure],
  )
  const cache = useMemo(() => (table ? createLayoutCache() : undefined), [table])
  const segments = segmentsOf(trajectory)
  const layout =
    table && cache && measure ? layoutTrajectory(segments, trajectory.vocab, table, measure.columns, cache) : undefined
  const specialIds = useMemo(() => new Set(trajectory.model.tokenizer?.specialIds ?? []), [trajectory.model.tokenizer])
  if (!layout || !table || !measure) return undefined
  return { trajectory, layout, table, reading, cell: measure.cell, specialIds, pointed, selection }
}

function scrollIntoSight(viewport: HTMLElement, layout: Layout, tokenIndex: number): void {
  const line = lineOfToken(layout, tokenIndex)
  if (!line) return
  if (line.top < viewport.scrollTop + ROW_HEIGHT) viewport.scrollTop = line.top - 3 * ROW_HEIGHT
  else if (line.top > viewport.scrollTop + viewport.clientHeight - 2 * ROW_HEIGHT)
    viewport.scrollTop = line.top - viewport.clientHeight + 4 * ROW_HEIGHT
}
