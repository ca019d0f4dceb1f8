'use client'
import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { sortedRows, Table, type TableColumn, type TableSort } from '#components/ui/table.tsx'
import type { CorpusReport } from '#lib/analysis/corpus/report.ts'
import { Button } from '../../ui/button.tsx'
import { fractionText } from './rates.ts'

type TurnRow = CorpusReport['turns'][number]

/** Number of turns shown until the table is expanded, because long agent runs have hundreds. */
const TURNS_SHOWN = 12

const TURN_COLUMNS: readonly TableColumn<TurnRow, 'turn' | 'samples' | 'share' | 'spans'>[] = [
  {
    name: 'turn',
    text: 'Turn',
    cell: ({ turn }) => (turn === undefined ? 'between responses' : countText(turn + 1)),
  },
  {
    name: 'samples',
    text: 'Samples',
    title: 'Samples with drift in this turn, of the samples that have this turn',
    isNumber: true,
    cell: ({ samples, reached }) => `${countText(samples)} of ${countText(reached)}`,
  },
  {
    name: 'share',
    text: 'Share',
    isNumber: true,
    cell: ({ samples, reached }) => (
      <span className="inline-flex items-center gap-2">
        <meter
          className="alternative w-16 max-sm:hidden"
          min={0}
          max={1}
          value={reached === 0 ? 0 : samples / reached}
          aria-label={fractionText(samples, reached)}
        />
        {fractionText(samples, reached)}
      </span>
    ),
  },
  { name: 'spans', text: 'Spans', isNumber: true, cell: ({ spans }) => countText(spans) },
]

/** Table of the turns in which drift occurs. */
export function TurnsTable({ turns }: { readonly turns: CorpusReport['turns'] }) {
  const [isWhole, setIsWhole] = useState(false)
  const visibleTurns = isWhole ? turns : turns.filter(({ turn }) => turn === undefined || turn < TURNS_SHOWN)
  return (
    <>
      <Table
        label="Drift by turn"
        columns={TURN_COLUMNS}
        rows={visibleTurns}
        keyOf={({ turn }) => String(turn ?? 'between')}
      />
      {visibleTurns.length < turns.length && (
        <Button className="mt-2 text-xs" onClick={() => setIsWhole(true)}>
          All {countText(turns.length)} turns
        </Button>
      )}
    </>
  )
}

type ToolRow = CorpusReport['tools'][number]
type ToolColumn = 'tool' | 'calls' | 'samples' | 'spans' | 'rate'

const TOOL_COLUMNS: readonly TableColumn<ToolRow, ToolColumn>[] = [
  {
    name: 'tool',
    text: 'Tool',
    cell: ({ tool }) => <span className="font-mono [overflow-wrap:anywhere]">{tool}</span>,
  },
  { name: 'calls', text: 'Calls', isNumber: true, cell: ({ calls }) => countText(calls) },
  {
    name: 'samples',
    text: 'Samples',
    title: 'Samples with drift in a call of this tool',
    isNumber: true,
    className: 'max-sm:hidden',
    cell: ({ samples }) => countText(samples),
  },
  { name: 'spans', text: 'Spans', isNumber: true, cell: ({ spans }) => countText(spans) },
  {
    name: 'rate',
    text: 'Per call',
    title: 'Spans per call',
    isNumber: true,
    cell: ({ spans, calls }) => (calls === 0 ? '—' : (spans / calls).toFixed(2)),
  },
]

/** Table of the tools whose calls contain drift. */
export function ToolsTable({ tools }: { readonly tools: CorpusReport['tools'] }) {
  const [sort, setSort] = useState<TableSort<ToolColumn>>({ by: 'spans', order: 'desc' })
  const rows = sortedRows(tools, sort, (row, by) => (by === 'rate' ? row.spans / Math.max(1, row.calls) : row[by]))
  return (
    <Table
      label="Drift by tool"
      columns={TOOL_COLUMNS}
      rows={rows}
      keyOf={({ tool }) => tool}
      sort={sort}
      onSort={setSort}
    />
  )
}
