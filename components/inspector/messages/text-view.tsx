'use client'
/** A view of a long text in wrapped rows, of which only the visible ones are in the document. */
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react'
import { firstRangeAfter } from '#components/token-view/token-marks.ts'
import { useEqualRows } from '#components/ui/rows/equal-rows.ts'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import { placeInText, visibleText } from '#components/ui/visible-text.ts'
import { int32At } from '#lib/util/element-at.ts'
import {
  lineAt,
  lineCount,
  lineStart,
  rowCount,
  rowNumbered,
  type TextLines,
  textBetween,
  type WrappedRow,
  wrapLines,
  wrappedRowAt,
} from '#lib/util/text/text-lines.ts'

interface TextViewProps {
  readonly label: string
  readonly text: TextLines
  /** Pairs of byte offsets that are marked. If omitted, none are. */
  readonly hits?: Int32Array
  /** Byte offsets that are highlighted, and scrolled into view when they change. If omitted, none are. */
  readonly shown?: { readonly start: number; readonly end: number } | undefined
  /** Called with the byte offset that the user selects by a click or the arrow keys. If omitted, nothing can be selected. */
  readonly onPlace?: (offset: number) => void
  readonly className?: string
}

const ROW_HEIGHT = 20
/** Rows drawn above and below the visible ones. */
const MARGIN = 10
const NO_HITS = new Int32Array(0)

/** Shows a text of any length in wrapped rows with line numbers. */
export function TextView({ label, text, hits = NO_HITS, shown, onPlace, className = '' }: TextViewProps) {
  const measure = useRef<HTMLSpanElement>(null)
  const [cell, setCell] = useState({ width: 8, columns: 80 })
  const digits = String(lineCount(text)).length
  const rows = useMemo(() => wrapLines(text, cell.columns), [text, cell.columns])
  const { viewport, first, end, top, height, unprinted, ...list } = useEqualRows({
    count: rowCount(rows),
    rowHeight: ROW_HEIGHT,
    margin: MARGIN,
    usualHeight: 400,
  })
  const numbers = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i)

  const resize = useEffectEvent(() => {
    const [element, sample] = [viewport.current, measure.current]
    if (!element || !sample) return
    const width = sample.getBoundingClientRect().width / SAMPLE.length || 8
    const columns = Math.max(16, Math.floor((element.clientWidth - GAPS) / width) - digits)
    setCell((known) => (known.width === width && known.columns === columns ? known : { width, columns }))
  })
  useEffect(() => {
    const element = viewport.current
    if (!element) return
    const observer = new ResizeObserver(resize)
    observer.observe(element)
    document.fonts?.ready.then(resize)
    return () => observer.disconnect()
  }, [viewport])
  const reveal = useEffectEvent((offset: number) => list.reveal(wrappedRowAt(text, rows, offset)))
  const start = shown?.start
  // biome-ignore lint/correctness/useExhaustiveDependencies: another width or text moves the offset to another row
  useEffect(() => {
    if (start !== undefined) reveal(start)
  }, [start, rows])

  const onClick = (event: MouseEvent) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-row]') : null
    const signs = row?.querySelector('[data-signs]')
    if (!row || !signs || !onPlace) return
    const { start, end } = rowNumbered(text, rows, Number(row.dataset.row))
    const column = Math.max(0, Math.floor((event.clientX - signs.getBoundingClientRect().left) / cell.width))
    const line = textBetween(text, start, end)
    const before = line.slice(0, placeInText(line, column))
    onPlace(Math.min(start + new TextEncoder().encode(before).length, Math.max(start, end - 1)))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || !onPlace || shown === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const line = Math.min(Math.max(0, lineAt(text, shown.start) + step), lineCount(text) - 1)
    const from = lineStart(text, line)
    onPlace(from + (/^ */.exec(textBetween(text, from, from + 200))?.[0].length ?? 0))
  }
  return (
    <section
      ref={viewport}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
      tabIndex={0}
      className={`relative overflow-x-hidden overflow-y-auto overscroll-contain bg-ground font-mono text-[12.5px] focus-visible:-outline-offset-2 ${className}`}
      data-lines={lineCount(text)}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <span ref={measure} aria-hidden className="invisible absolute whitespace-pre">
        {SAMPLE}
      </span>
      <Canvas height={height} top={top}>
        {numbers.map((number) => {
          const row = rowNumbered(text, rows, number)
          return (
            <div
              key={number}
              data-row={number}
              data-line={row.line + 1}
              data-shown={(shown && shown.start < row.end && shown.end > row.start) || undefined}
              className="flex h-5 whitespace-pre leading-5 data-shown:bg-panel print:h-auto print:whitespace-pre-wrap print:[overflow-wrap:anywhere]"
            >
              <LineNumber digits={digits} number={row.part === 0 ? row.line + 1 : undefined} />
              <span data-signs className="min-w-0 overflow-hidden">
                {markHits(text, row, hits, shown)}
              </span>
            </div>
          )
        })}
      </Canvas>
      <UnprintedRows count={unprinted} />
    </section>
  )
}

/** Text whose width is measured to find the width of one cell. */
const SAMPLE = '0'.repeat(40)
/** Padding of the line numbers and of the text, in pixels. */
const GAPS = 40

/**
 * Contains all rows: `height` and `top`, the position of the first drawn row, are in pixels. React sets both by script,
 * since the content security policy refuses style attributes in HTML.
 */
function Canvas({
  height,
  top,
  children,
}: {
  readonly height: number
  readonly top: number
  readonly children: ReactNode
}) {
  return (
    <div style={{ height }} className="relative py-2 print:h-auto!">
      <div style={{ transform: `translateY(${top}px)` }}>{children}</div>
    </div>
  )
}

const LineNumber = ({ digits, number }: { readonly digits: number; readonly number: number | undefined }) => (
  <span aria-hidden className="shrink-0 select-none pr-3 pl-3 text-right text-faint">
    {String(number ?? '').padStart(digits)}
  </span>
)

/** Returns the text of a row, with its hits and the highlighted part marked. */
function markHits(text: TextLines, row: WrappedRow, hits: Int32Array, shown: TextViewProps['shown']): ReactNode {
  const pieces: ReactNode[] = []
  let at = row.start
  for (const { start, end, kind } of rangesIn(row, hits, shown)) {
    const [from, to] = [Math.max(start, at), Math.min(end, row.end)]
    if (to <= from) continue
    if (from > at) pieces.push(visibleText(textBetween(text, at, from)))
    pieces.push(
      <mark
        key={start}
        data-kind={kind}
        className="bg-(--tint-found) text-ink data-[kind=shown]:bg-accent-soft data-[kind=current]:outline-2 data-[kind=current]:outline-accent"
      >
        {visibleText(textBetween(text, from, to))}
      </mark>,
    )
    at = to
  }
  pieces.push(visibleText(textBetween(text, at, row.end)))
  return pieces
}

interface MarkedRange {
  readonly start: number
  readonly end: number
  /** `current`: the highlighted hit; `shown`: another highlighted range. */
  readonly kind: 'hit' | 'current' | 'shown'
}

function rangesIn(row: WrappedRow, hits: Int32Array, shown: TextViewProps['shown']): readonly MarkedRange[] {
  const ranges: MarkedRange[] = []
  for (let hit = firstRangeAfter(hits, row.start); (hits[2 * hit] ?? row.end) < row.end; hit++) {
    const [start, end] = [int32At(hits, 2 * hit), int32At(hits, 2 * hit + 1)]
    ranges.push({ start, end, kind: shown?.start === start ? 'current' : 'hit' })
  }
  if (shown && shown.start < row.end && shown.end > row.start && !ranges.some(({ kind }) => kind === 'current'))
    ranges.push({ ...shown, kind: 'shown' })
  return ranges.sort((a, b) => a.start - b.start)
}
