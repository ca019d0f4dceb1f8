'use client'
import { useId } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Select } from '#components/ui/field.tsx'
import type { SessionRow } from '#lib/api/sessions/session.ts'
import { callApi } from '#lib/browser/api.ts'
import { saveContent } from '#lib/browser/files/save-file.ts'
import { reportOutcome } from './report-outcome.ts'

/** The pickers of leaves with their names on screen. */
const PICKERS = [
  { name: 'all', label: 'all' },
  { name: 'without-retries', label: 'without retries' },
  { name: 'without-rolled-back', label: 'without rolled-back leaves' },
  { name: 'without-aborted', label: 'without aborted replies' },
  { name: 'longest', label: 'longest' },
] as const
/** Name of a way to choose leaves. */
export type PickerName = (typeof PICKERS)[number]['name']

interface ExportLeavesProps {
  readonly session: SessionRow
  readonly picker: PickerName
  readonly onPicker: (picker: PickerName) => void
  readonly onMessage: (message: string) => void
}

/** Shows the choice of leaves, and a button that saves them as training samples. */
export function ExportLeaves({ session: { id, leaves }, picker, onPicker, onMessage }: ExportLeavesProps) {
  const field = useId()
  const save = () =>
    reportOutcome(async () => {
      const query = new URLSearchParams({ leaves: picker })
      const answer = await callApi(`/sessions/${encodeURIComponent(id)}/trajectories?${query}`)
      saveContent(await answer.blob(), `${id}.jsonl`)
      return ''
    }, onMessage)
  return (
    <span className="flex items-center gap-1.5 text-xs">
      <label htmlFor={field} className="text-dim max-sm:sr-only">
        Leaves
      </label>
      <Select
        id={field}
        look="tall"
        className="w-36 max-sm:w-28"
        value={picker}
        onChange={({ target }) => onPicker(PICKERS.find(({ name }) => name === target.value)?.name ?? 'all')}
      >
        {PICKERS.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </Select>
      <Button className="text-xs" disabled={leaves === 0} onClick={save}>
        Export leaves
      </Button>
    </span>
  )
}
