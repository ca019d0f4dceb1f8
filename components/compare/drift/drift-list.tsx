'use client'
/** List of all drift spans. Only the visible rows are mounted, because there may be 100,000 spans. */

import { Fragment, type KeyboardEvent, useEffect, useEffectEvent, useId, useMemo } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { bytesView } from '#components/token-view/pieces/piece-view.ts'
import { ForeignText } from '#components/ui/bounded-text.tsx'
import { Select } from '#components/ui/field.tsx'
import { useRowWindow } from '#components/ui/rows/row-window.tsx'
import { UnprintedRows } from '#components/ui/rows/unprinted-rows.tsx'
import type { DriftKind } from '#lib/trajectory/drift/kinds.ts'
import {
  DRIFT_LAYERS,
  type DriftLayer,
  type DriftReport,
  type DriftSeverity,
  type DriftSpan,
} from '#lib/trajectory/drift/report.ts'
import type { Span, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { idsIn } from '#lib/trajectory/tokens/range-sums.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ComparePartProps } from '../view.ts'
import { type DriftFilter, filterSpans } from './drift-steps.ts'
import { type DriftVocabulary, driftVocabularyOf, SEVERITIES, SEVERITY_TEXTS } from './drift-words.ts'

interface DriftListProps extends Pick<ComparePartProps, 'pair' | 'view' | 'onView' | 'onPoint'> {
  readonly filter: DriftFilter
  readonly onFilter: (filter: DriftFilter) => void
}

const ROW_HEIGHT = 52
const heightOf = () => ROW_HEIGHT

/** Shows the list with its filters. The arrow keys move the choice. */
export function DriftList({ pair, view, onView, onPoint, filter, onFilter }: DriftListProps) {
  const id = useId()
  const { left, right, comparison } = pair.compared
  const { report } = comparison
  const vocabulary = driftVocabularyOf(pair)
  const matching = useMemo(() => filterSpans(report, filter), [report, filter])
  const rows = useRowWindow({ count: matching.length, heightOf })
  const at = view.drift === undefined ? -1 : matching.indexOf(view.drift)
  const reveal = useEffectEvent((row: number) => rows.reveal(row, 'nearest'))
  // The list scrolls only when another span is chosen, so a position that the user scrolled to is kept.
  useEffect(() => {
    if (at >= 0) reveal(at)
  }, [at])
  const onKeyDown = (event: KeyboardEvent) => {
    const to = STEPS[event.key]?.(at, matching.length)
    if (to === undefined || matching.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    onView({ drift: matching[to] })
  }
  const chosen = matching[at]
  return (
    <div className="grid h-full grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)]">
      <Filters report={report} vocabulary={vocabulary} filter={filter} count={matching.length} onFilter={onFilter} />
      <div
        ref={rows.scroller}
        onScroll={rows.onScroll}
        onKeyDown={onKeyDown}
        onPointerLeave={() => onPoint(undefined)}
        role="listbox"
        aria-label={vocabulary.costs ? 'Drift spans' : 'Differences'}
        tabIndex={0}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen}`}
        className="-mx-3.5 min-h-0 overflow-y-auto focus-visible:-outline-offset-2"
      >
        <div role="none" className="relative" style={{ height: rows.offsets.at(-1) }}>
          {matching.slice(rows.first, rows.end).map((index, offset) => (
            <Row
              key={index}
              id={`${id}-${index}`}
              index={index}
              place={rows.first + offset}
              count={matching.length}
              span={elementAt(report.spans, index)}
              vocabulary={vocabulary}
              left={left.trajectory}
              right={right.trajectory}
              isChosen={index === view.drift}
              onPoint={() => onPoint(index)}
              onChoose={() => onView({ drift: index })}
            />
          ))}
        </div>
      </div>
      <UnprintedRows count={rows.unprinted} />
    </div>
  )
}

const PAGE = 10

/** Next index of each key, among the listed spans. `at` is −1 if none is chosen. */
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
  readonly vocabulary: DriftVocabulary
  readonly filter: DriftFilter
  /** Number of spans that pass the filter. */
  readonly count: number
  readonly onFilter: (filter: DriftFilter) => void
}

const WIDE = 'w-full truncate text-xs'

function Filters({ report, vocabulary, filter, count, onFilter }: FiltersProps) {
  const { spans, byKind, byLayer } = report
  return (
    <div className="mb-2">
      <div className="mb-2 flex items-baseline justify-between">
        <h2 className="font-semibold text-dim text-xs">{vocabulary.title}</h2>
        <span className="text-faint text-xs tabular-nums">
          {count === spans.length ? countText(count) : `${countText(count)} of ${countText(spans.length)}`}
        </span>
      </div>
      {spans.length > 1 && (
        <div className="grid grid-cols-2 gap-1.5">
          <Select
            aria-label="Kind"
            className={`${WIDE} col-span-2`}
            value={filter.kind ?? ''}
            onChange={({ target }) =>
              onFilter({ ...filter, kind: (target.value || undefined) as DriftKind | undefined })
            }
          >
            <option value="">all kinds</option>
            {(Object.entries(byKind) as [DriftKind, number][]).map(([kind, number]) => (
              <option key={kind} value={kind}>
                {vocabulary.kindText({ kind })} ({countText(number)})
              </option>
            ))}
          </Select>
          {vocabulary.costs && (
            <Select
              aria-label="Severity"
              className={WIDE}
              value={filter.severity ?? ''}
              onChange={({ target }) =>
                onFilter({ ...filter, severity: (target.value || undefined) as DriftSeverity | undefined })
              }
            >
              <option value="">all severities</option>
              {SEVERITIES.map((severity) => (
                <option key={severity} value={severity}>
                  {SEVERITY_TEXTS[severity].word}
                </option>
              ))}
            </Select>
          )}
          <Select
            aria-label="Layer"
            className={vocabulary.costs ? WIDE : `${WIDE} col-span-2`}
            value={filter.layer ?? ''}
            onChange={({ target }) =>
              onFilter({ ...filter, layer: (target.value || undefined) as DriftLayer | undefined })
            }
          >
            <option value="">all layers</option>
            {DRIFT_LAYERS.map((layer) => (
              <option key={layer} value={layer}>
                {layer} ({countText(byLayer[layer])})
              </option>
            ))}
          </Select>
        </div>
      )}
    </div>
  )
}

interface RowProps {
  readonly id: string
  readonly index: number
  /** Index among the listed spans. */
  readonly place: number
  readonly count: number
  readonly span: DriftSpan
  readonly vocabulary: DriftVocabulary
  readonly left: TrajectoryView
  readonly right: TrajectoryView
  readonly isChosen: boolean
  readonly onPoint: () => void
  readonly onChoose: () => void
}

function Row({ id, index, place, count, span, vocabulary, left, right, isChosen, onPoint, onChoose }: RowProps) {
  const { word, ink } = SEVERITY_TEXTS[span.severity]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the list, which names the active option
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
        <span className="min-w-0 flex-1 truncate font-medium">{vocabulary.kindText(span)}</span>
        {vocabulary.costs ? (
          <span className={ink}>{word}</span>
        ) : (
          span.layer === 'structural' && <span className="text-dim">{span.layer}</span>
        )}
      </p>
      <p className="mt-0.5 truncate font-mono text-dim">
        <Excerpt trajectory={left} tokens={span.left} isCut={isSameText(span)} /> <span aria-hidden>→</span>{' '}
        <Excerpt trajectory={right} tokens={span.right} isCut={isSameText(span)} />
      </p>
    </div>
  )
}

const EXCERPT_TOKENS = 8

interface ExcerptProps {
  readonly trajectory: TrajectoryView
  readonly tokens: Span
  /** Whether signs separate the tokens, because the texts of both sides are the same. */
  readonly isCut: boolean
}

/** Shows the text of the first tokens. */
function Excerpt({ trajectory, tokens: { start, end }, isCut }: ExcerptProps) {
  if (start === end) return '∅'
  const ids = idsIn(trajectory, { start, end: Math.min(end, start + EXCERPT_TOKENS) })
  const more = end - start > EXCERPT_TOKENS ? '…' : ''
  // Without isolation, a text from right to left would change the order of both sides.
  if (!isCut) return <ForeignText>{textOf(ids, trajectory.vocab).replaceAll('\n', '↵') + more}</ForeignText>
  return (
    <>
      {Array.from(ids, (id, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the positions of the tokens do not change
        <Fragment key={index}>
          {index > 0 && <span className="text-(--mark-hit)">|</span>}
          <ForeignText>{pieceText(trajectory.vocab[id])}</ForeignText>
        </Fragment>
      ))}
      {more}
    </>
  )
}

const pieceText = (entry: VocabEntry | undefined): string =>
  typeof entry === 'string'
    ? entry.replaceAll('\n', '↵').replaceAll(' ', '·')
    : entry
      ? bytesView(entry.hex)
      : '⟨unknown⟩'

/** Returns whether both sides contain the same bytes, split into different tokens. */
const isSameText = ({ kind, detail }: DriftSpan): boolean => kind === 'split' || detail === 'spelled'
