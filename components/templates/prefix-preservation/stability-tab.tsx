'use client'
/** The prefix doctor: at which boundaries the next render begins with the earlier one plus the reply, and why not elsewhere. */

import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import type { DoctorInput } from '#lib/templates/prefix-preservation/doctor.ts'
import type { Cell, CompareUnit, DoctorReport } from '#lib/templates/prefix-preservation/report.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { InputBanner, TaskBanner } from '../editor/failure-banner.tsx'
import type { LabTabProps } from '../lab-tab.ts'
import { useTask } from '../use-task.ts'
import { CellDetail } from './finding.tsx'
import { Matrix, MatrixLegend, recordedColumns, recordedGroups, SCRIPT_COLUMNS, scriptGroups } from './matrix.tsx'
import { RecipeBox } from './recipe-box.tsx'
import { Search } from './search.tsx'
import { TrlBox } from './trl-box.tsx'

/** Pause in typing before the doctor runs, in milliseconds. It is long, because the doctor renders hundreds of conversations. */
const PAUSE_MS = 250

/** The tab of the prefix doctor. */
export function StabilityTab(props: LabTabProps) {
  const { input, tokenizer, trajectory, run, onLine } = props
  const { template, tools, options } = input
  const compares: CompareUnit = props.view.compares === 'text' ? 'text' : 'tokens'
  const doctorInput: DoctorInput = { template, tools, options, compares }
  const key = JSON.stringify([doctorInput, tokenizer])
  /** The last report, also an unfinished one. */
  const [report, setReport] = useState<DoctorReport>()
  const [isFinished, setIsFinished] = useState(false)
  const state = useTask(run, 'stability', trajectory ? { ...doctorInput, trajectory } : doctorInput, {
    tokenizers: [tokenizer],
    pauseMs: PAUSE_MS,
    key: JSON.stringify([key, trajectory?.id, trajectory?.segments.length]),
    onResult: (finished: DoctorReport) => {
      setReport(finished)
      setIsFinished(true)
    },
    onProgress: setReport,
  })
  const isEmpty = !report || report.cells.length === 0
  return (
    <div
      className="h-full overflow-auto"
      data-stability={state.kind === 'done' ? 'current' : state.kind === 'running' ? 'busy' : 'failed'}
      aria-busy={state.kind === 'running'}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3.5 pt-3">
        <Segmented<CompareUnit>
          label="Compare"
          value={compares}
          onChange={(chosen) => props.onView({ compares: chosen === 'text' ? chosen : undefined })}
          options={[
            { value: 'tokens', text: 'Tokens' },
            { value: 'text', text: 'Text' },
          ]}
        />
        <p className="min-w-0 flex-1 basis-60 text-dim text-xs">
          {compares === 'text'
            ? `Characters are compared, whatever the tokenizer${trajectory ? '; ids of the trajectory are left out' : ''}.`
            : `The ids of ${tokenizer} are compared.`}
        </p>
      </div>
      {state.kind === 'failed' && <TaskBanner error={state.error} />}
      {report?.failure && <InputBanner error={report.failure} onLine={onLine} />}
      {isEmpty ? (
        !report?.failure && (
          <p className="p-4 text-faint" role="status">
            {state.kind === 'running' ? 'Rendering every boundary…' : 'Nothing is checked yet.'}
          </p>
        )
      ) : (
        <Report
          {...props}
          report={report}
          doctorInput={doctorInput}
          searchKey={key}
          isStale={state.kind === 'failed'}
          hasFinding={isFinished || state.kind !== 'running'}
        />
      )}
    </div>
  )
}

interface ReportProps extends LabTabProps {
  readonly report: DoctorReport
  readonly doctorInput: DoctorInput
  /** Identifies the subject of a search; another key resets the search. */
  readonly searchKey: string
  readonly isStale: boolean
  /** Whether the parts below the matrix are shown. The rows of the first report would move them as they arrive. */
  readonly hasFinding: boolean
}

function Report({ report, doctorInput, searchKey, isStale, hasFinding, view, onView, ...callbacks }: ReportProps) {
  const { run, tokenizer, onLine, onTemplate, onMessages } = callbacks
  const { cells, summary, facts, recipe, trl } = report
  const recorded = cells.filter(({ place }) => place.kind === 'trajectory')
  const chosen = cells.find(({ id }) => id === view.cell) ?? firstRed(cells)
  const { renders } = summary
  const [checked, distinct] = [summary.stable + summary.unstable, renders.stable + renders.unstable]
  const select = (id: string) => onView({ cell: id })
  const matrix = { selected: chosen?.id, onSelect: select }
  return (
    <div className={`grid content-start gap-5 p-3.5 ${isStale ? 'opacity-45' : ''}`}>
      <div className="grid gap-2">
        <p className="text-dim" data-stable={summary.stable} data-unstable={summary.unstable}>
          <b className="font-semibold text-ink">
            {countText(renders.stable)} of {countText(renders.stable + renders.unstable + summary.errors)} stable
          </b>
          {distinct < checked && ` · ${countText(checked)} cells, ${countText(distinct)} distinct renders`}
          {summary.merges > 0 && (
            <span data-merges={summary.merges}>
              {` · ${countWithNoun(summary.merges, 'cell')} where only tokens merge (≈)`}
            </span>
          )}
          {summary.errors > 0 && ` · ${countText(summary.errors)} errors`}
          {summary.notApplicable > 0 && ` · ${countText(summary.notApplicable)} not applicable`}
          {facts && factsText(facts)}
        </p>
        {recorded.length > 0 && (
          <>
            <Heading>The open trajectory, with its recorded ids</Heading>
            <Matrix
              label="Boundaries of the trajectory"
              groups={recordedGroups(recorded)}
              columns={recordedColumns(recorded)}
              {...matrix}
            />
            <Heading>Scripted conversations</Heading>
          </>
        )}
        <Matrix label="Prefix stability" groups={scriptGroups(cells)} columns={SCRIPT_COLUMNS} {...matrix} />
        {hasFinding && <MatrixLegend />}
      </div>
      {hasFinding && (
        <>
          {chosen ? (
            <CellDetail cell={chosen} input={doctorInput} {...{ run, tokenizer, onLine, onTemplate, onMessages }} />
          ) : (
            <p className="text-dim">
              <span className="text-good">✓</span> Every next turn begins with the ids that were read and written.
            </p>
          )}
          <Search key={searchKey} input={doctorInput} {...{ run, tokenizer, onLine, onMessages }} />
          {recipe && <RecipeBox recipe={recipe} onCell={select} />}
          {trl && <TrlBox verdict={trl} />}
        </>
      )}
    </div>
  )
}

const firstRed = (cells: readonly Cell[]): Cell | undefined =>
  cells.find(({ verdict }) => verdict.kind === 'unstable' && verdict.finding.textDiffers) ??
  cells.find(({ verdict }) => verdict.kind === 'unstable') ??
  cells.find(({ verdict }) => verdict.kind === 'error')

function factsText({ calls, thinking, takesSystem }: NonNullable<DoctorReport['facts']>): string {
  const parts = [
    thinking ? undefined : 'does not render thinking',
    calls === 'dropped' ? 'does not render calls' : calls === 'refused' ? 'rejects calls' : undefined,
    takesSystem ? undefined : 'rejects system messages',
  ].filter((part) => part !== undefined)
  return parts.map((part) => ` · ${part}`).join('')
}
