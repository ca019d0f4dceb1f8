'use client'
import { ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { useRowWindow } from '#components/ui/rows/row-window.tsx'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type Folds, NO_FOLDS } from '../grid-options.ts'
import { countText } from '../numbers.ts'
import { type OutlineRow, outlineRowOfToken, outlineRows, segmentFacts, segmentLabel } from './outline-rows.ts'

interface OutlineProps {
  readonly trajectory: TrajectoryView
  readonly selected: number | undefined
  /** Index of the token that is pointed at in another part of the page. */
  readonly pointed?: number | undefined
  /** Tokens that the grid shows; the outline follows them. */
  readonly inSight?: Span | undefined
  readonly folds?: Folds
  readonly onSelect: (tokenIndex: number) => void
}

/**
 * Shows the segments, with the think blocks, texts and calls of each, as a tree; a click shows the first token of a row.
 * Only visible rows are mounted. The outline follows the token view, except while the pointer is inside it.
 */
export function Outline({ trajectory, selected, pointed, inSight, folds = NO_FOLDS, onSelect }: OutlineProps) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(NONE)
  const [active, setActive] = useState('0')
  const isHeld = useRef(false)
  const rows = useMemo(() => outlineRows(trajectory, collapsed), [trajectory, collapsed])
  const rowHeight = useCallback((row: number) => heightOf(rows[row]), [rows])
  const { scroller, onScroll, first, end, offsets, reveal } = useRowWindow({ count: rows.length, heightOf: rowHeight })
  const current = outlineRowOfToken(rows, tokenToFollow(selected, inSight))
  const pointedRow = pointed === undefined ? -1 : outlineRowOfToken(rows, pointed)
  const activeRow = Math.max(0, rowWithKey(rows, active))
  const wantsFocus = useRef(false)
  const follow = useEffectEvent(() => {
    if (!isHeld.current) reveal(current, 'nearest')
  })
  useEffect(() => {
    if (current >= 0) follow()
  }, [current])
  const focusActive = useEffectEvent(() => {
    if (!wantsFocus.current) return
    wantsFocus.current = false
    reveal(activeRow, 'nearest')
    scroller.current?.querySelector<HTMLElement>(`[data-key="${active}"]`)?.focus({ preventScroll: true })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus moves when another row becomes the active one
  useEffect(() => focusActive(), [active])

  const step = (row: number) => {
    wantsFocus.current = true
    setActive(rows[Math.min(rows.length - 1, Math.max(0, row))]?.key ?? '0')
  }
  const toggle = (segmentIndex: number) =>
    setCollapsed((known) =>
      known.has(segmentIndex)
        ? new Set([...known].filter((index) => index !== segmentIndex))
        : new Set([...known, segmentIndex]),
    )
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[activeRow]
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const act = keyAction(event.key, row, activeRow, rows)
    if (!act) return
    event.preventDefault()
    event.stopPropagation()
    if (act.kind === 'step') step(act.row)
    else if (act.kind === 'toggle') toggle(row.segmentIndex)
    else onSelect(row.tokens.start)
  }
  const segmentCount = segmentsOf(trajectory).length
  const mountedRows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)
  const renderedRows = activeRow < first || activeRow >= end ? [...mountedRows, activeRow] : mountedRows
  return (
    <div
      ref={scroller}
      onScroll={onScroll}
      className="-mx-1.5 max-h-[max(240px,calc(100dvh-430px))] overflow-y-auto overscroll-contain px-1.5 [overflow-anchor:none]"
      onPointerEnter={() => {
        isHeld.current = true
      }}
      onPointerLeave={() => {
        isHeld.current = false
      }}
    >
      <div role="tree" aria-label="Segments" className="relative text-xs" style={{ height: offsets.at(-1) }}>
        {rows.length > 0 &&
          renderedRows.map((index) => {
            const row = elementAt(rows, index)
            return (
              <div
                key={row.key}
                role="treeitem"
                aria-level={row.kind === 'segment' ? 1 : 2}
                aria-expanded={row.kind === 'segment' ? row.isExpanded : undefined}
                {...(row.kind === 'segment' && { 'aria-posinset': row.segmentIndex + 1, 'aria-setsize': segmentCount })}
                aria-current={index === current || undefined}
                aria-selected={index === current}
                tabIndex={index === activeRow ? 0 : -1}
                data-key={row.key}
                data-pointed={index === pointedRow || undefined}
                className={`group absolute inset-x-0 cursor-pointer rounded-md hover:bg-accent-soft aria-[current=true]:bg-accent-soft data-pointed:ring-1 data-pointed:ring-accent ${row.kind === 'segment' ? '' : 'pl-7'}`}
                style={{ top: offsets[index], height: heightOf(row) }}
                onClick={() => {
                  setActive(row.key)
                  onSelect(row.tokens.start)
                }}
                onKeyDown={onKeyDown}
              >
                {row.kind === 'segment' ? (
                  <SegmentRow
                    row={row}
                    label={segmentLabel(row.segment, row.segmentIndex, trajectory)}
                    isFolded={folds.segments.has(row.segmentIndex)}
                    onToggle={() => toggle(row.segmentIndex)}
                  />
                ) : (
                  <PartRow row={row} isFolded={folds.thinks.has(row.tokens.start)} />
                )}
              </div>
            )
          })}
      </div>
    </div>
  )
}

const NONE: ReadonlySet<number> = new Set()
const PLAIN_HEIGHT = 24
const FACTS_HEIGHT = 40

const heightOf = (row: OutlineRow | undefined): number =>
  row?.kind === 'segment' && segmentFacts(row.segment).length > 0 ? FACTS_HEIGHT : PLAIN_HEIGHT

/** Returns the selected token while it is visible, else the first visible one. */
function tokenToFollow(selected: number | undefined, inSight: Span | undefined): number {
  if (!inSight) return selected ?? -1
  const isInSight = selected !== undefined && selected >= inSight.start && selected < inSight.end
  return isInSight ? selected : inSight.start
}

/** Returns the index of the row with this key, or of its segment if that is collapsed. */
const rowWithKey = (rows: readonly OutlineRow[], key: string): number => {
  const found = rows.findIndex((row) => row.key === key)
  return found >= 0 ? found : rows.findIndex((row) => row.key === key.split('.')[0])
}

type KeyAction = { readonly kind: 'step'; readonly row: number } | { readonly kind: 'toggle' | 'jump' }

/** Returns the effect of a key, as in the ARIA tree pattern: Right opens or enters a row, Left leaves or closes it. */
function keyAction(key: string, row: OutlineRow, index: number, rows: readonly OutlineRow[]): KeyAction | undefined {
  const isExpanded = row.kind === 'segment' ? row.isExpanded : undefined
  switch (key) {
    case 'ArrowDown':
      return { kind: 'step', row: index + 1 }
    case 'ArrowUp':
      return { kind: 'step', row: index - 1 }
    case 'Home':
      return { kind: 'step', row: 0 }
    case 'End':
      return { kind: 'step', row: rows.length - 1 }
    case 'ArrowRight':
      if (isExpanded === undefined) return undefined
      return isExpanded ? { kind: 'step', row: index + 1 } : { kind: 'toggle' }
    case 'ArrowLeft':
      if (row.kind === 'part')
        return { kind: 'step', row: rows.findLastIndex(({ kind }, at) => at < index && kind === 'segment') }
      return isExpanded ? { kind: 'toggle' } : undefined
    case 'Enter':
    case ' ':
      return { kind: 'jump' }
    default:
      return undefined
  }
}

type SegmentRowOf = Extract<OutlineRow, { kind: 'segment' }>

interface SegmentRowProps {
  readonly row: SegmentRowOf
  readonly label: string
  readonly isFolded: boolean
  readonly onToggle: () => void
}

function SegmentRow({ row, label, isFolded, onToggle }: SegmentRowProps) {
  const { segment, tokens, isExpanded } = row
  const facts = [...segmentFacts(segment), ...(isFolded ? [FOLDED] : [])]
  return (
    <div
      className={`h-full border-l-3 py-0.5 pr-1.5 leading-5 ${segment.kind === 'response' ? 'border-trained' : 'border-line'}`}
    >
      <div className="flex items-baseline gap-1 tabular-nums">
        <span
          aria-hidden
          className={`self-center px-0.5 text-faint max-sm:-my-0.5 max-sm:grid max-sm:size-6 max-sm:place-items-center ${isExpanded === undefined ? 'invisible' : 'hover:text-ink'}`}
          onClick={(event) => {
            event.stopPropagation()
            onToggle()
          }}
        >
          <ChevronRight size={12} className={isExpanded ? 'rotate-90' : ''} />
        </span>
        <span className="min-w-0 flex-1 truncate" title={label}>
          {label}
        </span>
        {tokens.end > tokens.start && <span className="text-dim">{countText(tokens.end - tokens.start)}</span>}
      </div>
      {facts.length > 0 && (
        <p className="truncate pl-5 text-[11px] text-dim leading-4" title={facts.map(({ text }) => text).join(' · ')}>
          {facts.map(({ text, isWarning }, index) => (
            <span key={text} className={isWarning ? 'text-warn' : ''}>
              {index > 0 && ' · '}
              {text}
            </span>
          ))}
        </p>
      )}
    </div>
  )
}

const FOLDED = { text: 'folded', isWarning: false }

function PartRow({
  row,
  isFolded,
}: {
  readonly row: Extract<OutlineRow, { kind: 'part' }>
  readonly isFolded: boolean
}) {
  return (
    <div className="flex h-full items-baseline gap-1 pr-1.5 text-dim tabular-nums leading-6">
      <span className={`min-w-0 flex-1 truncate ${TONES[row.tone]}`} title={row.label}>
        {row.label}
        {isFolded && <span className="text-dim"> · folded</span>}
      </span>
      <span>{countText(row.tokens.end - row.tokens.start)}</span>
    </div>
  )
}

const TONES = {
  think: 'italic text-think group-hover:text-ink group-aria-[current=true]:text-ink',
  call: 'text-tool',
  malformed: 'text-bad',
  text: '',
} as const
