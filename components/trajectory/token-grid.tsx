'use client'
/** The token view: every token of a trajectory, scrolled, pointed at and stepped through. Rows are drawn by the painter. */
import {
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { segmentsOf, tokenCount } from '#lib/core/tokens.ts'
import type { Span } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { Folds, GridOptions } from './grid-options.ts'
import {
  createLayoutCache,
  type Layout,
  layoutTrajectory,
  lineAtHeight,
  lineNumbered,
  lineOfToken,
  ROW_HEIGHT,
  tokenAtColumn,
} from './layout.ts'
import { createPieceTable } from './piece-table.ts'
import { type Selection, single } from './selection.ts'
import type { TokenMarks } from './token-marks.ts'
import { createTokenPainter, SELECTED_ID, type TokenPainter, type TokenPicture } from './token-painter.ts'
import type { TokenReading } from './token-reading.ts'

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
}

/** What the font and the width of the window say. */
interface Measure {
  readonly cell: number
  readonly columns: number
}

const POINT_DELAY_MS = 250

export function TokenGrid({ trajectory, reading, selection, shown, onSelect, onPoint }: TokenGridProps) {
  const selected = selection?.focus
  const viewport = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLDivElement>(null)
  const painter = useRef<TokenPainter>(null)
  const [measure, setMeasure] = useState<Measure>()
  const [pointed, setPointed] = useState<number>()
  const picture = usePicture(trajectory, reading, measure, pointed, selection)

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
  useEffect(() => {
    if (isMeasured && selected !== undefined) reveal(selected)
  }, [isMeasured, selected])
  useEffect(() => {
    if (isMeasured && shown !== undefined) reveal(shown)
  }, [isMeasured, shown])

  const resting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const point = (index: number | undefined) => {
    setPointed(index)
    clearTimeout(resting.current)
    resting.current = setTimeout(() => onPoint(index), POINT_DELAY_MS)
  }
  const tokenUnder = ({ clientX, clientY }: PointerEvent | MouseEvent): number | undefined => {
    if (!picture || !canvas.current) return undefined
    const box = canvas.current.getBoundingClientRect()
    const line = lineAtHeight(picture.layout, clientY - box.top)
    const column = Math.floor((clientX - box.left) / picture.cell)
    if (!line || column < 0) return undefined
    const index = tokenAtColumn(line, column)
    return index < 0 ? undefined : index
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!picture || event.ctrlKey || event.metaKey || event.altKey) return
    const next = keyTarget(event.key, selected, picture.layout, tokenCount(trajectory))
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
      aria-rowcount={picture?.layout.lineCount ?? 0}
      aria-activedescendant={selected === undefined ? undefined : SELECTED_ID}
      data-idle={picture !== undefined && !trajectory.live}
      data-tokens={tokenCount(trajectory)}
      onKeyDown={onKeyDown}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the grid around it */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: likewise */}
      <div
        ref={canvas}
        className="token-canvas"
        onPointerMove={(event) => point(tokenUnder(event))}
        onPointerLeave={() => point(undefined)}
        onClick={(event) => {
          const index = tokenUnder(event.nativeEvent)
          onSelect(index === undefined ? undefined : single(index))
        }}
      />
    </div>
  )
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

/** Where a key leads: a token, no token, or nowhere (undefined). */
function keyTarget(
  key: string,
  selected: number | undefined,
  layout: Layout,
  count: number,
): number | 'none' | undefined {
  if (count === 0) return undefined
  const from = selected ?? -1
  const clamp = (index: number) => Math.min(count - 1, Math.max(0, index))
  switch (key) {
    case 'ArrowRight':
    case 'j':
      return clamp(from + 1)
    case 'ArrowLeft':
    case 'k':
      return clamp(selected === undefined ? 0 : from - 1)
    case 'ArrowDown':
      return verticalTarget(layout, selected, 1)
    case 'ArrowUp':
      return verticalTarget(layout, selected, -1)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    case 'J':
      return segmentTarget(layout, clamp(from), 1)
    case 'K':
      return segmentTarget(layout, clamp(from), -1)
    case 'Escape':
      return selected === undefined ? undefined : 'none'
    default:
      return undefined
  }
}

/** The token above or below, at the same column. */
function verticalTarget(layout: Layout, selected: number | undefined, step: 1 | -1): number | undefined {
  if (selected === undefined) return 0
  const line = lineOfToken(layout, selected)
  if (!line) return undefined
  const column = line.layout.columns[selected - line.layout.firstToken] ?? 0
  for (let number = line.number + step; ; number += step) {
    const other = lineNumbered(layout, number)
    if (!other) return selected
    const target = tokenAtColumn(other, column)
    if (target >= 0) return target
  }
}

function segmentTarget(layout: Layout, from: number, step: 1 | -1): number | undefined {
  const current = layout.segments.findIndex(
    ({ firstToken, segment }) => from >= firstToken && from < firstToken + segment.ids.length,
  )
  const others =
    step === 1 ? layout.segments.slice(current + 1) : layout.segments.slice(0, Math.max(0, current)).reverse()
  return others.find(({ segment }) => segment.ids.length > 0)?.firstToken ?? from
}

function scrollIntoSight(viewport: HTMLElement, layout: Layout, tokenIndex: number): void {
  const line = lineOfToken(layout, tokenIndex)
  if (!line) return
  if (line.top < viewport.scrollTop + ROW_HEIGHT) viewport.scrollTop = line.top - 3 * ROW_HEIGHT
  else if (line.top > viewport.scrollTop + viewport.clientHeight - 2 * ROW_HEIGHT)
    viewport.scrollTop = line.top - viewport.clientHeight + 4 * ROW_HEIGHT
}

let context: CanvasRenderingContext2D | null = null

/** Width in pixels, in the font of the token view. */
function measureText(text: string): number {
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return text.length * 7.8
  context.font = TOKEN_FONT
  return context.measureText(text).width
}

/** As .token-text in the style sheet. */
const TOKEN_FONT = '13px "JetBrains Mono Variable", ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'
