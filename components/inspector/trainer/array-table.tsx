'use client'
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useMemo } from 'react'
import { type Selection, selectedRange, single } from '#components/token-view/selection.ts'
import { useEqualRows } from '#components/ui/rows/equal-rows.ts'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import type { SheetRow } from '#lib/analysis/trainer/sheet.ts'
import { segmentIndexAt, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { notesOf } from './array-notes.ts'
import { ArrayHeader, ArrayRow, ROW_HEIGHT, smallestWidth } from './array-row.tsx'

interface ArrayTableProps {
  readonly trajectory: TrajectoryView
  readonly row: SheetRow
  /** Number of tokens of the trajectory that the file has. */
  readonly tokens: number
  readonly selection: Selection | undefined
  readonly onSelect: (selection: Selection | undefined, tab?: 'tokens') => void
}

const HEADER_HEIGHT = 28
/** Rows drawn above and below the visible ones. */
const MARGIN = 8

/** Shows every array of a sample beside its tokens. */
export function ArrayTable({ trajectory, row, tokens, selection, onSelect }: ArrayTableProps) {
  const id = useId()
  const notes = useMemo(() => notesOf(row), [row])
  const starts = segmentStarts(trajectory)
  const segments = segmentsOf(trajectory)
  const { viewport, first, end, top, height, viewHeight, unprinted, ...rows } = useEqualRows({
    count: tokens,
    rowHeight: ROW_HEIGHT,
    margin: MARGIN,
    header: HEADER_HEIGHT,
    usualHeight: 600,
  })
  const chosen = selection && selectedRange(selection)
  const focus = selection && selection.focus < tokens ? selection.focus : undefined

  const reveal = useEffectEvent(rows.reveal)
  useEffect(() => {
    if (focus !== undefined) reveal(focus)
  }, [focus])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape' && selection) return onSelect(undefined)
    if (event.key === 'Enter' && selection) return onSelect(selection, 'tokens')
    const next = keyTarget(event.key, focus, tokens, Math.max(1, Math.floor(viewHeight / ROW_HEIGHT) - 2))
    if (next === undefined) return
    event.preventDefault()
    onSelect(event.shiftKey && selection ? { anchor: selection.anchor, focus: next } : single(next))
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table would mount every row
    <div
      ref={viewport}
      role="grid"
      tabIndex={0}
      aria-label="Arrays and their tokens"
      aria-rowcount={tokens + 1}
      aria-colcount={row.columns.length + 4}
      aria-activedescendant={focus !== undefined && focus >= first && focus < end ? `${id}-${focus}` : undefined}
      data-rows={tokens}
      className="relative min-h-0 overflow-auto text-xs tabular-nums focus-visible:-outline-offset-2"
      onKeyDown={onKeyDown}
    >
      <div style={{ minWidth: smallestWidth(row.columns) }}>
        <ArrayHeader columns={row.columns} height={HEADER_HEIGHT} />
        <div className="relative" style={{ height }}>
          <div className="absolute inset-x-0" style={{ top }}>
            {Array.from({ length: end - first }, (_, offset) => first + offset).map((token) => {
              const segmentIndex = segmentIndexAt(starts, token)
              const segment = segments[segmentIndex]
              return (
                <ArrayRow
                  key={token}
                  id={`${id}-${token}`}
                  token={token}
                  tokenId={segment?.ids[token - (starts[segmentIndex] ?? 0)]}
                  segmentIndex={segmentIndex}
                  vocab={trajectory.vocab}
                  columns={row.columns}
                  note={notes.get(token)}
                  isChosen={chosen !== undefined && token >= chosen.start && token < chosen.end}
                  onChoose={(isExtending) =>
                    onSelect(isExtending && selection ? { anchor: selection.anchor, focus: token } : single(token))
                  }
                />
              )
            })}
          </div>
        </div>
        <UnprintedRows count={unprinted} />
      </div>
    </div>
  )
}

function keyTarget(key: string, focus: number | undefined, tokens: number, page: number): number | undefined {
  const clamp = (token: number) => Math.min(tokens - 1, Math.max(0, token))
  const from = focus ?? -1
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return clamp(from + 1)
    case 'ArrowUp':
    case 'k':
      return clamp(from - 1)
    case 'PageDown':
      return clamp(from + page)
    case 'PageUp':
      return clamp(from - page)
    case 'Home':
      return 0
    case 'End':
      return clamp(tokens - 1)
    default:
      return undefined
  }
}
