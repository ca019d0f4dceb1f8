'use client'
import { useState } from 'react'
import { TrainerCutFields } from '#components/token-view/overview/trainer-cut.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Select } from '#components/ui/field.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import type { SheetRow, TrainerSheet } from '#lib/analysis/trainer/sheet.ts'
import type { Inspection, InspectorPartProps } from '../inspection.ts'
import { useInspectTask } from '../use-inspect-task.ts'
import { ArrayTable } from './array-table.tsx'
import { SampleSummary } from './sample-summary.tsx'

/** Shows the exact arrays that each export format provides to a trainer. */
export function TrainerTab({ inspection }: InspectorPartProps) {
  const { trajectory, view, onView, onSelect, run, onSave } = inspection
  const [rowIndex, setRowIndex] = useState(0)
  const marks = rowMarks(inspection)
  const rowIn = (shownSheet: TrainerSheet | undefined, index = rowIndex) =>
    shownSheet?.rows[index] ?? shownSheet?.rows[0]
  const answer = useInspectTask(
    inspection,
    'trainerSheet',
    { format: view.format },
    // Another format, or more tokens, has other marks.
    { onAnswer: (arrived) => arrived.kind === 'done' && marks.follow(rowIn(arrived.result)) },
  )
  const sheet = answer.kind === 'done' ? answer.result : answer.kind === 'running' ? answer.before : undefined
  const row = rowIn(sheet)
  const chooseRow = (index: number) => {
    setRowIndex(index)
    marks.follow(rowIn(sheet, index))
  }
  const save = async () => {
    if (!sheet) return
    const file = await run('trainerFile', { format: sheet.format }, { signal: new AbortController().signal })
    onSave(file.content, file.name, file.mediaType)
  }
  if (answer.kind === 'failed')
    return <Banner tone="bad" title="The arrays could not be created." hint={answer.error.message} />
  if (!sheet || !row)
    return (
      <p className="p-4 text-faint" role="status">
        Writing the arrays…
      </p>
    )
  return (
    <section
      aria-label="What the trainer gets"
      className="grid h-full min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,auto)_minmax(220px,1fr)]"
      data-format={sheet.format}
      data-idle={answer.kind === 'done'}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b px-3.5 py-2">
        <Segmented
          label="Format"
          value={sheet.format}
          onChange={(format) => onView({ format })}
          options={sheet.formats.map(({ name, label }) => ({ value: name, text: label }))}
          canWrap
        />
        {sheet.rows.length > 1 && <RowChoice sheet={sheet} value={rowIndex} onChange={chooseRow} />}
        <label className="flex min-h-7 items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-(--accent)"
            checked={marks.isOn}
            disabled={row.edgeMarks.length + row.cutMarks.length === 0}
            onChange={(event) => marks.show(event.target.checked ? row : undefined)}
          />
          Show on tokens
        </label>
        <TrainerCutFields cut={inspection.trainerCut} onCut={inspection.onTrainerCut} />
        <span className="ml-auto flex flex-wrap justify-end gap-2">
          <Button
            className="text-xs"
            title="Colours the tokens by the probability under the trainer, divided by the probability when sampled"
            onClick={() => onView({ colour: 'ratio', limit: undefined, tab: 'tokens' })}
          >
            Importance ratios
          </Button>
          <Button className="text-xs" title={sheet.keeps} onClick={save}>
            Download the file
          </Button>
        </span>
      </div>
      <SampleSummary inspection={inspection} sheet={sheet} row={row} rowIndex={rowIndex} />
      <ArrayTable
        trajectory={trajectory}
        row={row}
        tokens={sheet.tokens}
        selection={view.selection}
        onSelect={onSelect}
      />
    </section>
  )
}

/** Returns what marks edges and cuts on the tokens. The marks stay until they are turned off, also while another tab is shown. */
function rowMarks({ marks, onMarks }: Inspection) {
  const isOn = marks.some(({ kind, ranges }) => (kind === 'edge' || kind === 'cut') && ranges.length > 0)
  const show = (row: SheetRow | undefined) => {
    onMarks('edge', row?.edgeMarks ?? new Int32Array())
    onMarks('cut', row?.cutMarks ?? new Int32Array())
  }
  return {
    isOn,
    /** Shows the marks of a row; undefined turns them off. */
    show,
    /** Shows the marks of another row if marks are on. */
    follow: (row: SheetRow | undefined) => isOn && row && show(row),
  }
}

interface RowChoiceProps {
  readonly sheet: TrainerSheet
  readonly value: number
  readonly onChange: (row: number) => void
}

const RowChoice = ({ sheet, value, onChange }: RowChoiceProps) => (
  <label className="flex items-center gap-2">
    Sample
    <Select value={value} onChange={(event) => onChange(Number(event.target.value))}>
      {sheet.rows.map((_row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: samples have no key other than their index
        <option key={index} value={index}>
          {index + 1} of {sheet.rows.length}
        </option>
      ))}
    </Select>
  </label>
)
