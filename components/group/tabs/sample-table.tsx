'use client'
/** The samples of a group as a table that sorts by each of its columns. */
import { useState } from 'react'
import { countText, decimalText, rewardText } from '#components/token-view/numbers.ts'
import { sortedRows, Table, type TableColumn, type TableSort } from '#components/ui/table.tsx'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { SampleOutcome } from '../samples/sample-list.tsx'
import { signedText } from '../words.ts'

interface SampleTableProps {
  readonly forest: GroupForest
  /** Indices of the samples that the brush selects; undefined: all. Others are left out. */
  readonly chosen: ReadonlySet<number> | undefined
  /** Index of the sample whose token is pinned. */
  readonly current: number | undefined
  /** Shows the path of a sample in the tree. */
  readonly onSample: (sample: number) => void
}

/** A sample with the values by which the table sorts; null if one is unknown. */
interface SampleRow {
  readonly sample: number
  readonly reward: number | null
  readonly advantage: number | null
  readonly tokenAdvantage: number | null
  readonly tokens: number
  readonly trained: number
  readonly turns: number
  readonly calls: number | null
  readonly failed: number | null
  readonly logprob: number | null
  readonly outcome: string
}

/** Shows the samples that the brush selects. */
export function SampleTable({ forest, chosen, current, onSample }: SampleTableProps) {
  const [sort, setSort] = useState<TableSort<keyof SampleRow>>({ by: 'sample', order: 'asc' })
  const rows = sortedRows(rowsOfSamples(forest, chosen), sort, (row, by) => row[by])
  return (
    <div className="h-full overflow-auto px-3.5 py-3">
      {rows.length === 0 ? (
        <p className="text-dim">The histogram selects no sample. Widen its range.</p>
      ) : (
        <Table
          label="Samples of the group"
          columns={columnsOf(forest, onSample)}
          rows={rows}
          keyOf={({ sample }) => elementAt(forest.samples, sample).row.key}
          isChosen={({ sample }) => sample === current}
          sort={sort}
          onSort={setSort}
        />
      )}
    </div>
  )
}

function rowsOfSamples({ samples }: GroupForest, chosen: ReadonlySet<number> | undefined): readonly SampleRow[] {
  return samples.flatMap(({ row, advantage, tokenAdvantage }, sample) =>
    chosen && !chosen.has(sample)
      ? []
      : [
          {
            sample,
            reward: row.reward,
            advantage,
            tokenAdvantage,
            tokens: row.tokens,
            trained: row.trained,
            turns: row.turns,
            calls: row.toolCalls,
            failed: row.failedCalls,
            logprob: row.meanLogprob,
            outcome: row.outcome,
          },
        ],
  )
}

function columnsOf(
  { samples }: GroupForest,
  onSample: (sample: number) => void,
): readonly TableColumn<SampleRow, keyof SampleRow>[] {
  const count = (name: 'tokens' | 'trained' | 'turns' | 'calls' | 'failed', text: string, title: string) =>
    ({
      name,
      text,
      title,
      isNumber: true,
      cell: (row: SampleRow) => (row[name] === null ? '?' : countText(row[name])),
    }) as const
  return [
    {
      name: 'sample',
      text: 'sample',
      cell: ({ sample }) => (
        <button
          type="button"
          aria-label={`Sample ${sample + 1}: show it in the tree`}
          title="Show it in the tree"
          disabled={elementAt(samples, sample).leaf === null}
          className="-my-1 min-h-6 min-w-6 font-semibold text-accent hover:underline disabled:text-faint"
          onClick={() => onSample(sample)}
        >
          {sample + 1}
        </button>
      ),
    },
    { name: 'reward', text: 'reward', isNumber: true, cell: ({ reward }) => rewardText(reward) },
    {
      name: 'advantage',
      text: 'advantage',
      title: 'Advantage of the sample, before a division by its length',
      isNumber: true,
      cell: ({ advantage }) => signedText(advantage),
    },
    {
      name: 'tokenAdvantage',
      text: 'of a token',
      title: 'Advantage of each trained token of the sample',
      isNumber: true,
      cell: ({ tokenAdvantage }) => signedText(tokenAdvantage),
    },
    count('tokens', 'tokens', 'All tokens'),
    count('trained', 'trained', 'Tokens with loss mask 1'),
    count('turns', 'turns', 'Responses of the model'),
    count('calls', 'calls', 'Tool calls'),
    count('failed', 'failed', 'Tool calls that failed or are malformed'),
    {
      name: 'logprob',
      text: 'mean logprob',
      title: 'Mean logprob of the trained tokens',
      isNumber: true,
      cell: ({ logprob }) => decimalText(logprob),
    },
    {
      name: 'outcome',
      text: 'outcome',
      cell: ({ sample }) => (
        <span className="flex items-center gap-1.5 whitespace-nowrap [&>a]:-my-1">
          <SampleOutcome sample={elementAt(samples, sample)} index={sample} />
        </span>
      ),
    },
  ]
}
