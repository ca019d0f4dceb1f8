'use client'
import { useState } from 'react'
import { segmentTitle } from '#components/token-view/card/token-reading.ts'
import { countText, decimalText, durationText } from '#components/token-view/numbers.ts'
import { single } from '#components/token-view/selection.ts'
import { type Statistics, statistics } from '#lib/trajectory/tokens/statistics.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { Button } from '../../ui/button.tsx'
import { Heading } from '../../ui/facts.tsx'
import type { InspectorPartProps } from '../inspection.ts'

interface Row {
  readonly index: number
  readonly start: number
  readonly title: string
  readonly tokens: number
  readonly trained: number
  readonly meanLogprob: number | null
  readonly perplexity: number | null
  readonly finish: string
  readonly cached: number | null
  readonly elapsedMs: number | null
}

type ColumnKey = Exclude<keyof Row, 'start'>

const COLUMNS: readonly { readonly key: ColumnKey; readonly title: string; readonly text: (row: Row) => string }[] = [
  { key: 'index', title: 'segment', text: ({ index }) => String(index) },
  { key: 'title', title: 'kind', text: ({ title }) => title },
  { key: 'tokens', title: 'tokens', text: ({ tokens }) => countText(tokens) },
  { key: 'trained', title: 'trained', text: ({ trained }) => countText(trained) },
  { key: 'meanLogprob', title: 'mean logprob', text: ({ meanLogprob }) => decimalText(meanLogprob) },
  { key: 'perplexity', title: 'perplexity', text: ({ perplexity }) => decimalText(perplexity, 2) },
  { key: 'finish', title: 'finish', text: ({ finish }) => finish },
  { key: 'cached', title: 'cached', text: ({ cached }) => (cached === null ? '—' : countText(cached)) },
  { key: 'elapsedMs', title: 'time', text: ({ elapsedMs }) => (elapsedMs === null ? '—' : durationText(elapsedMs)) },
]

/** Number of rows shown at first: all rows of a million tokens would make the page slow. */
const FEW = 100

/** Lists the numbers of each segment; a click selects its first token. */
export function SegmentTable({ inspection }: InspectorPartProps) {
  const { trajectory, onSelect } = inspection
  const [order, setOrder] = useState<{ readonly key: ColumnKey; readonly isDown: boolean }>({
    key: 'index',
    isDown: false,
  })
  const [isWhole, setIsWhole] = useState(false)
  const rows = sortRows(rowsOf(trajectory, statistics(trajectory)), order)
  const shown = isWhole ? rows : rows.slice(0, FEW)
  return (
    <section aria-label="Segments">
      <Heading>Segments</Heading>
      <div className="overflow-x-auto">
        <table className="w-full text-xs tabular-nums">
          <thead>
            <tr className="border-line border-b text-dim">
              {COLUMNS.map(({ key, title }) => (
                <th
                  key={key}
                  scope="col"
                  aria-sort={order.key === key ? (order.isDown ? 'descending' : 'ascending') : undefined}
                  className={`py-1 pr-3 font-medium ${isText(key) ? 'text-left' : 'text-right'}`}
                >
                  <button
                    type="button"
                    className="hover:text-ink"
                    onClick={() => setOrder({ key, isDown: order.key === key && !order.isDown })}
                  >
                    {title}
                    {order.key === key && (order.isDown ? ' ↓' : ' ↑')}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.index} className="border-line border-b hover:bg-accent-soft">
                {COLUMNS.map(({ key, text }) => (
                  <td key={key} className={`whitespace-nowrap py-0.5 pr-3 ${isText(key) ? '' : 'text-right'}`}>
                    {key === 'index' ? (
                      <button
                        type="button"
                        className="min-w-6 text-accent underline"
                        onClick={() => onSelect(single(row.start), 'tokens')}
                      >
                        {text(row)}
                      </button>
                    ) : (
                      text(row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <Button className="mt-2 text-xs" onClick={() => setIsWhole(true)}>
          Show all {countText(rows.length)} segments
        </Button>
      )}
    </section>
  )
}

const isText = (key: ColumnKey): boolean => key === 'title' || key === 'finish'

function rowsOf({ segments }: TrajectoryView, { segments: sums }: Statistics): readonly Row[] {
  const starts = segmentStarts({ segments })
  return segments.map((segment, index): Row => {
    const { tokens, trained, meanLogprob, perplexity } = elementAt(sums, index)
    return {
      index,
      start: elementAt(starts, index),
      title: segmentTitle(segment),
      tokens,
      trained,
      meanLogprob,
      perplexity,
      ...callOf(segment),
    }
  })
}

function callOf(segment: SegmentView): Pick<Row, 'finish' | 'cached' | 'elapsedMs'> {
  if (segment.kind === 'prompt') return { finish: '', cached: null, elapsedMs: null }
  const { finish, usage, timing, request } = segment
  return {
    finish: finish?.kind ?? '—',
    cached: (request?.scoring ?? usage)?.cachedTokens ?? null,
    elapsedMs: timing?.elapsedMs ?? null,
  }
}

/** Returns the rows in the order of a column; unknown values are last in both directions. */
function sortRows(rows: readonly Row[], { key, isDown }: { key: ColumnKey; isDown: boolean }): readonly Row[] {
  return [...rows].sort((a, b) => {
    const [x, y] = [a[key], b[key]]
    if (x === null || y === null) return x === y ? a.index - b.index : x === null ? 1 : -1
    const way = typeof x === 'string' ? x.localeCompare(String(y)) : x - Number(y)
    return (isDown ? -way : way) || a.index - b.index
  })
}
