'use client'
import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Table, type TableColumn, type TableSort } from '#components/ui/table.tsx'
import type { CorpusReport } from '#lib/analysis/corpus/report.ts'
import { spanCount } from '#lib/analysis/corpus/totals.ts'
import { type DriftKind, KIND_TEXTS } from '#lib/trajectory/drift/kinds.ts'
import { DRIFT_LAYERS, type DriftLayer } from '#lib/trajectory/drift/report.ts'
import { rateText, shareText } from './rates.ts'
import { SeverityCounts } from './severity.tsx'

type KindRow = CorpusReport['kinds'][number]
type Column = 'kind' | 'samples' | 'spans' | 'severity' | 'layer' | 'trained' | 'tokens' | 'turn'

interface KindsTableProps {
  readonly kinds: CorpusReport['kinds']
  /** Kind whose samples are listed; undefined: all kinds. */
  readonly chosen: DriftKind | undefined
  /** Layer whose spans are counted; undefined: both layers. */
  readonly layer: DriftLayer | undefined
  readonly onChoose: (kind: DriftKind | undefined) => void
}

/** Table of drift kinds with their counts. A click on a kind lists its samples. */
export function KindsTable({ kinds, chosen, layer, onChoose }: KindsTableProps) {
  const [sort, setSort] = useState<TableSort<Column>>({ by: 'spans', order: 'desc' })
  const { by } = sort
  const direction = sort.order === 'asc' ? 1 : -1
  const rows =
    by === 'kind'
      ? kinds.toSorted((a, b) => direction * a.kind.localeCompare(b.kind))
      : kinds.toSorted((a, b) => direction * (figureOf(a, by) - figureOf(b, by)))
  const columns: readonly TableColumn<KindRow, Column>[] = [
    {
      name: 'kind',
      text: 'Kind',
      className: 'w-full',
      cell: ({ kind, gravest }) => (
        <>
          <button
            type="button"
            aria-pressed={kind === chosen}
            title={kind === chosen ? 'List the samples of all kinds' : 'List only the samples with this kind'}
            className="font-medium hover:underline aria-pressed:text-accent"
            onClick={() => onChoose(kind === chosen ? undefined : kind)}
          >
            {kind}
          </button>
          <span className="block text-dim">{KIND_TEXTS[kind].meaning}</span>
          <span className="block max-w-[120ch] text-dim max-md:hidden">
            <span className="text-faint">Highest severity:</span> {gravest.cause}{' '}
            <span className="text-faint">Remedy:</span> {gravest.remedy}
          </span>
        </>
      ),
    },
    {
      name: 'samples',
      text: 'Samples',
      title: 'Samples with this kind, and their share of the checked samples',
      isNumber: true,
      cell: ({ samples, rate }) => (
        <>
          {countText(samples)} <span className="text-dim max-sm:block">{shareText(rate.samples)}</span>
        </>
      ),
    },
    {
      name: 'spans',
      text: 'Spans',
      isNumber: true,
      cell: ({ spans, layers }) => (
        <>
          {layer !== undefined && `${countText(layers[layer])} of `}
          {countText(spanCount(spans))}
        </>
      ),
    },
    {
      name: 'severity',
      text: 'Severity',
      title: 'Spans by severity; sorted by spans in trained tokens',
      className: 'max-lg:hidden',
      cell: ({ spans }) => <SeverityCounts counts={spans} />,
    },
    {
      name: 'layer',
      text: 'Layer',
      title: 'Spans in which a special token or a role differs (structural), and the others (content)',
      className: 'max-lg:hidden',
      cell: ({ layers }) => (
        <span className="inline-flex flex-wrap gap-x-2">
          {DRIFT_LAYERS.filter((layer) => layers[layer] > 0).map((layer) => (
            <span key={layer} className="whitespace-nowrap text-dim">
              {countText(layers[layer])} {layer}
            </span>
          ))}
        </span>
      ),
    },
    {
      name: 'trained',
      text: 'Trained',
      title: 'Trained tokens in drift of this kind',
      isNumber: true,
      className: 'max-sm:hidden',
      cell: ({ trained }) => countText(trained),
    },
    {
      name: 'tokens',
      text: 'Per 1,000',
      title: 'Spans per 1,000 recorded tokens',
      isNumber: true,
      className: 'max-sm:hidden',
      cell: ({ rate }) => rateText(rate.per1000Tokens),
    },
    {
      name: 'turn',
      text: 'Per turn',
      title: 'Spans per response',
      isNumber: true,
      className: 'max-lg:hidden',
      cell: ({ rate }) => rateText(rate.perTurn),
    },
  ]
  return (
    <Table
      label="Drift by kind"
      columns={columns}
      rows={rows}
      keyOf={({ kind }) => kind}
      sort={sort}
      onSort={setSort}
      isChosen={({ kind }) => kind === chosen}
    />
  )
}

function figureOf({ samples, spans, layers, trained, rate }: KindRow, by: Exclude<Column, 'kind'>): number {
  switch (by) {
    case 'samples':
      return samples
    case 'spans':
      return spanCount(spans)
    case 'severity':
      return spans.trained
    case 'layer':
      return layers.structural
    case 'trained':
      return trained
    case 'tokens':
      return rate.per1000Tokens ?? 0
    case 'turn':
      return rate.perTurn ?? 0
  }
}
