'use client'
import { useState } from 'react'
import { countText, decimalText, durationText } from '#components/token-view/numbers.ts'
import { segmentTitle } from '#components/token-view/segment-title.ts'
import { single } from '#components/token-view/selection.ts'
import { type Statistics, statistics } from '#lib/trajectory/tokens/statistics.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { Button } from '../../ui/button.tsx'
import { Heading } from '../../ui/facts.tsx'
import { sortedRows, Table, type TableColumn, type TableSort } from '../../ui/table.tsx'
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

/** Number of rows shown at first: all rows of a million tokens would make the page slow. */
const FEW = 100

/** Lists the numbers of each segment; a click selects its first token. */
export function SegmentTable({ inspection }: InspectorPartProps) {
  const { trajectory, onSelect } = inspection
  const [sort, setSort] = useState<TableSort<ColumnKey>>({ by: 'index', order: 'asc' })
  const [isWhole, setIsWhole] = useState(false)
  const rows = sortedRows(rowsOf(trajectory, statistics(trajectory)), sort, (row, by) => row[by])
  const visibleRows = isWhole ? rows : rows.slice(0, FEW)
  const columns: readonly TableColumn<Row, ColumnKey>[] = [
    {
      name: 'index',
      text: 'segment',
      isNumber: true,
      cell: ({ index, start }) => (
        <button
          type="button"
          className="min-w-6 text-accent underline"
          onClick={() => onSelect(single(start), 'tokens')}
        >
          {index}
        </button>
      ),
    },
    { name: 'title', text: 'kind', cell: ({ title }) => title },
    { name: 'tokens', text: 'tokens', isNumber: true, cell: ({ tokens }) => countText(tokens) },
    { name: 'trained', text: 'trained', isNumber: true, cell: ({ trained }) => countText(trained) },
    {
      name: 'meanLogprob',
      text: 'mean logprob',
      isNumber: true,
      cell: ({ meanLogprob }) => decimalText(meanLogprob),
    },
    { name: 'perplexity', text: 'perplexity', isNumber: true, cell: ({ perplexity }) => decimalText(perplexity, 2) },
    { name: 'finish', text: 'finish', cell: ({ finish }) => finish },
    {
      name: 'cached',
      text: 'cached',
      isNumber: true,
      cell: ({ cached }) => (cached === null ? '—' : countText(cached)),
    },
    {
      name: 'elapsedMs',
      text: 'time',
      isNumber: true,
      cell: ({ elapsedMs }) => (elapsedMs === null ? '—' : durationText(elapsedMs)),
    },
  ]
  return (
    <section aria-label="Segments">
      <Heading>Segments</Heading>
      <div className="overflow-x-auto">
        <Table label="Segments" columns={columns} rows={visibleRows} keyOf={keyOf} sort={sort} onSort={setSort} />
      </div>
      {visibleRows.length < rows.length && (
        <Button className="mt-2 text-xs" onClick={() => setIsWhole(true)}>
          Show all {countText(rows.length)} segments
        </Button>
      )}
    </section>
  )
}

const keyOf = ({ index }: Row): string => String(index)

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
