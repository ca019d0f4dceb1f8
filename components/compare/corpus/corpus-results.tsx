'use client'
import type { ReactNode } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { missedCallsText, reportSummary } from '#lib/analysis/corpus/report.ts'
import { type Sample, sampleOriginText } from '#lib/analysis/corpus/sample.ts'
import type { Totals } from '#lib/analysis/corpus/totals.ts'
import type { DriftKind } from '#lib/trajectory/drift/kinds.ts'
import type { DriftLayer } from '#lib/trajectory/drift/report.ts'
import { Segmented } from '../../ui/segmented.tsx'
import { LAYER_TEXTS } from '../drift/drift-words.ts'
import { CorpusSummary } from './corpus-summary.tsx'
import { KindsTable } from './kinds-table.tsx'
import { ToolsTable, TurnsTable } from './places-tables.tsx'
import { type CheckedSampleSort, hasLayer, listedSamples, type SampleListName } from './sample-list.ts'
import { SamplesTable } from './samples-table.tsx'
import { SEVERITY_NOTE } from './severity.tsx'

/** List, filters and order of the listed samples. */
interface ShownSamples {
  readonly list: SampleListName
  readonly kind: DriftKind | undefined
  readonly layer: DriftLayer | undefined
  readonly sort: CheckedSampleSort
}

interface CorpusResultsProps {
  readonly samples: readonly Sample[]
  readonly totals: Totals
  readonly shown: ShownSamples
  readonly onShow: (change: {
    readonly list?: SampleListName
    readonly kind?: DriftKind | null
    readonly layer?: DriftLayer | null
    readonly sort?: CheckedSampleSort['by']
    readonly order?: CheckedSampleSort['order']
  }) => void
  /** Returns the address of a sample's comparison; undefined if the sample is not stored. */
  readonly hrefOf: (sample: Sample) => string | undefined
  /** Called when a link is followed in this window. */
  readonly onOpen: (href: string) => void
  readonly onStore: (sample: Sample) => void
  /** Place of the sample that is being stored. */
  readonly storing: string | undefined
}

/** Results of the drift report: totals, tables of kinds, turns and tools, and the samples. */
export function CorpusResults({
  samples,
  totals,
  shown,
  onShow,
  hrefOf,
  onOpen,
  onStore,
  storing,
}: CorpusResultsProps) {
  const summary = reportSummary(totals)
  const { kinds, turns, tools, unchecked } = summary
  const missed = missedCallsText(summary)
  const listed = listedSamples(samples, shown)
  const { layers } = summary.totals
  const { checked, drifting } = summary.totals.samples
  const filterText = [shown.layer, shown.kind ?? (shown.layer && 'drift')].filter(Boolean).join(' ')
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 p-3.5">
      <CorpusSummary totals={summary.totals} />
      {missed !== undefined && (
        <Part title="Tool calls that were not parsed">
          <p className="text-warn">{missed}</p>
          <p className="text-dim text-xs">
            Calls that are not parsed are not executed, and no error is reported. Run with the parser that reads them.
          </p>
        </Part>
      )}
      {kinds.length > 0 && (
        <Part
          title="By kind"
          note={`Select a kind to list its samples below. Severities: ${SEVERITY_NOTE}`}
          control={
            <Segmented
              label="Layer"
              options={[
                { value: 'every', text: 'All layers' },
                {
                  value: 'structural',
                  text: `Structural ${countText(layers.structural)}`,
                  title: LAYER_TEXTS.structural,
                },
                { value: 'content', text: `Content ${countText(layers.content)}`, title: LAYER_TEXTS.content },
              ]}
              value={shown.layer ?? 'every'}
              onChange={(layer) => onShow({ layer: layer === 'every' ? null : layer })}
            />
          }
        >
          <KindsTable
            kinds={kinds.filter((kind) => hasLayer(kind, shown.layer))}
            chosen={shown.kind}
            layer={shown.layer}
            onChoose={(kind) => onShow({ kind: kind ?? null })}
          />
        </Part>
      )}
      {kinds.length === 0 && checked > 0 && (
        <p className="text-dim">All {countText(checked)} checked samples have the same tokens after retokenization.</p>
      )}
      {drifting > 0 && (
        <div className="grid gap-6 lg:grid-cols-2">
          <Part title="By turn">
            <TurnsTable turns={turns} />
          </Part>
          {tools.length > 0 && (
            <Part title="By tool" note="Spans that touch a call.">
              <ToolsTable tools={tools} />
            </Part>
          )}
        </div>
      )}
      {unchecked.length > 0 && (
        <Part title="Not checked">
          <ul className="grid gap-1.5 text-xs">
            {unchecked.map(({ why, samples: count, hint, example }) => (
              <li key={why}>
                <span className="font-medium tabular-nums">{countText(count)} ×</span> {why}{' '}
                <span className="text-dim">{hint}</span>{' '}
                <span className="text-faint [overflow-wrap:anywhere]">
                  For example {sampleOriginText(example.place)}
                  {example.detail === undefined ? '.' : `: ${example.detail}`}
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part
        title={filterText === '' ? 'Samples' : `Samples with ${filterText}`}
        control={
          filterText === '' && (
            <Segmented
              label="Samples listed"
              options={[
                { value: 'drifting', text: `Drift ${countText(drifting)}` },
                { value: 'all', text: `All ${countText(samples.length)}` },
                { value: 'unchecked', text: `Not checked ${countText(summary.totals.samples.unchecked)}` },
              ]}
              value={shown.list}
              onChange={(list) => onShow({ list })}
            />
          )
        }
      >
        {listed.length > 0 ? (
          <SamplesTable
            samples={listed}
            sort={shown.sort}
            onSort={({ by, order }) => onShow({ sort: by, order })}
            hrefOf={hrefOf}
            onOpen={onOpen}
            onStore={onStore}
            storing={storing}
          />
        ) : (
          <p className="text-faint text-xs">None.</p>
        )}
      </Part>
    </div>
  )
}

interface PartProps {
  readonly title: string
  readonly note?: string
  readonly control?: ReactNode
  readonly children: ReactNode
}

const Part = ({ title, note, control, children }: PartProps) => (
  <section aria-label={title} className="min-w-0">
    <div className="mb-1.5 flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <h3 className="font-semibold">{title}</h3>
      {note !== undefined && <span className="text-faint text-xs">{note}</span>}
      {control}
    </div>
    {children}
  </section>
)
