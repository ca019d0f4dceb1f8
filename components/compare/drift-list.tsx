'use client'
/** Every drift span, of which those in sight are mounted: there may be 100,000. */
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useMemo } from 'react'
import type { DriftKind, DriftReport, DriftSeverity, DriftSpan } from '#lib/core/drift/report.ts'
import { textOf } from '#lib/core/pieces.ts'
import { idsIn } from '#lib/core/range-sums.ts'
import type { Span } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { countText } from '../trajectory/numbers.ts'
import { useRowWindow } from '../ui/row-window.ts'
import { type DriftFilter, filtered } from './drift-steps.ts'
import { KIND_TITLES, kindText, SEVERITIES, SEVERITY_TEXTS } from './drift-words.ts'
import type { ComparePartProps } from './view.ts'

interface DriftListProps extends Pick<ComparePartProps, 'pair' | 'view' | 'onView' | 'onPoint'> {
  readonly filter: DriftFilter
  readonly onFilter: (filter: DriftFilter) => void
}

const ROW_HEIGHT = 52
const heightOf = () => ROW_HEIGHT

export function DriftList({ pair, view, onView, onPoint, filter, onFilter }: DriftListProps) {
  const id = useId()
  const { left, right, comparison } = pair.compared
  const { report } = comparison
  const shown = useMemo(() => filtered(report, filter), [report, filter])
  const rows = useRowWindow({ count: shown.length, heightOf })
  const at = view.drift === undefined ? -1 : shown.indexOf(view.drift)
  const reveal = useEffectEvent((row: number) => rows.reveal(row, 'nearest'))
  // When another is chosen: what it was scrolled to otherwise stays.
  useEffect(() => {
    if (at >= 0) reveal(at)
  }, [at])
  const onKeyDown = (event: KeyboardEvent) => {
    const to = STEPS[event.key]?.(at, shown.length)
    if (to === undefined || shown.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    onView({ drift: shown[to] })
  }
  const chosen = shown[at]
  return (
    <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)]">
      <Filters report={report} filter={filter} count={shown.length} onFilter={onFilter} />
      <div
        ref={rows.scroller}
        onScroll={rows.onScroll}
        onKeyDown={onKeyDown}
        onPointerLeave={() => onPoint(undefined)}
        role="listbox"
        aria-label="Drift spans"
        tabIndex={0}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen}`}
        className="-mx-3.5 min-h-0 overflow-y-auto focus-visible:-outline-offset-2"
      >
        <div role="none" className="relative" style={{ height: rows.offsets.at(-1) }}>
          {shown.slice(rows.first, rows.end).map((index, offset) => (
            <Row
              key={index}
              id={`${id}-${index}`}
              index={index}
              place={rows.first + offset}
              count={shown.length}
              span={report.spans[index] as DriftSpan}
              left={left.trajectory}
              right={right.trajectory}
              isChosen={index === view.drift}
              onPoint={() => onPoint(index)}
              onChoose={() => onView({ drift: index })}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

const PAGE = 10

/** `at` is −1 where none is chosen. */
const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at, count) => Math.min(count - 1, at + 1),
  ArrowUp: (at, count) => (at < 0 ? count - 1 : Math.max(0, at - 1)),
  PageDown: (at, count) => Math.min(count - 1, at + PAGE),
  PageUp: (at) => Math.max(0, at - PAGE),
  Home: () => 0,
  End: (_, count) => count - 1,
}

interface FiltersProps {
  readonly report: DriftReport
  readonly filter: DriftFilter
  /** Of the spans that pass. */
  readonly count: number
  readonly onFilter: (filter: DriftFilter) => void
}

const BOX =
  'min-h-7 min-w-0 flex-1 truncate rounded-md border border-line bg-raised px-1.5 text-xs hover:border-line-strong'

function Filters({ report, filter, count, onFilter }: FiltersProps) {
  const { spans, byKind } = report
  return (
    <div className="mb-2">
      <div className="mb-2 flex items-baseline justify-between">
        <h2 className="font-semibold text-dim text-xs">Drift</h2>
        <span className="text-faint text-xs tabular-nums">
          {count === spans.length ? countText(count) : `${countText(count)} of ${countText(spans.length)}`}
        </span>
      </div>
      {spans.length > 1 && (
        <div className="flex gap-1.5">
          <select
            aria-label="Kind"
            className={BOX}
            value={filter.kind ?? ''}
            onChange={({ target }) =>
              onFilter({ ...filter, kind: (target.value || undefined) as DriftKind | undefined })
            }
          >
            <option value="">every kind</option>
            {(Object.entries(byKind) as [DriftKind, number][]).map(([kind, number]) => (
              <option key={kind} value={kind}>
                {KIND_TITLES[kind]} ({countText(number)})
              </option>
            ))}
          </select>
          <select
            aria-label="Severity"
            className={BOX}
            value={filter.severity ?? ''}
            onChange={({ target }) =>
              onFilter({ ...filter, severity: (target.value || undefined) as DriftSeverity | undefined })
            }
          >
            <option value="">every severity</option>
            {SEVERITIES.map((severity) => (
              <option key={severity} value={severity}>
                {SEVERITY_TEXTS[severity].word}
              </option>
            ))}
          </select>
        </div>
      )}
    </div>
  )
}

interface RowProps {
  readonly id: string
  readonly index: number
  /** Among the spans that are listed. */
  readonly place: number
  readonly count: number
  readonly span: DriftSpan
  readonly left: TrajectoryView
  readonly right: TrajectoryView
  readonly isChosen: boolean
  readonly onPoint: () => void
  readonly onChoose: () => void
}

function Row({ id, index, place, count, span, left, right, isChosen, onPoint, onChoose }: RowProps) {
  const { word, ink } = SEVERITY_TEXTS[span.severity]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the list
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the list, which names the option
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      aria-posinset={place + 1}
      aria-setsize={count}
      data-index={index}
      onPointerEnter={onPoint}
      onClick={onChoose}
      style={{ top: place * ROW_HEIGHT, height: ROW_HEIGHT }}
      className="absolute inset-x-0 cursor-pointer border-transparent border-l-3 px-3 py-1.5 text-xs hover:bg-raised aria-selected:border-(--accent) aria-selected:bg-accent-soft"
    >
      <p className="flex items-baseline gap-2 tabular-nums">
        <span className="text-dim">{countText(span.left.start)}</span>
        <span className="min-w-0 flex-1 truncate font-medium">{kindText(span)}</span>
        <span className={ink}>{word}</span>
      </p>
      <p className="mt-0.5 truncate font-mono text-dim">
        {excerpt(left, span.left)} <span aria-hidden>→</span> {excerpt(right, span.right)}
      </p>
    </div>
  )
}

const EXCERPT_TOKENS = 8

function excerpt(trajectory: TrajectoryView, { start, end }: Span): string {
  if (start === end) return '∅'
  const text = textOf(idsIn(trajectory, { start, end: Math.min(end, start + EXCERPT_TOKENS) }), trajectory.vocab)
  return text.replaceAll('\n', '↵') + (end - start > EXCERPT_TOKENS ? '…' : '')
}
