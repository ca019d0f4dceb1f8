'use client'
import { useState } from 'react'
import type { TokensTarget } from '#components/shell/shell-actions.ts'
import { useViewState } from '#components/shell/view-state.ts'
import { NO_FOLDS } from '#components/token-view/grid-options.ts'
import { Button } from '#components/ui/button.tsx'
import { CheckField } from '#components/ui/field.tsx'
import { loadWhenAnswered } from '#lib/browser/application.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface OfflineExportProps {
  readonly trajectory: TrajectoryView
  /** The tokens of the page with their folds and marks; undefined if it shows none. */
  readonly tokens: TokensTarget | undefined
  readonly onClose: () => void
  readonly onError: (error: unknown) => void
}

/** Shows the export as one HTML file, a row of the export dialog. */
export function OfflineExport({ trajectory, tokens, onClose, onError }: OfflineExportProps) {
  const { view } = useViewState()
  const [parts, setParts] = useState({ alternatives: true, messages: true, labels: false })
  const [isSaving, setIsSaving] = useState(false)
  const save = async () => {
    setIsSaving(true)
    const visibleState = tokens?.shown()
    const { exportOffline } = await loadWhenAnswered(() => import('#lib/browser/files/offline.ts'))
    await exportOffline(trajectory, { ...view, folds: NO_FOLDS, marks: [], ...visibleState }, parts).catch(onError)
    onClose()
  }
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-4 border-line border-t pt-4">
      <div className="min-w-0">
        <h3 className="font-medium">Offline page (HTML)</h3>
        <p className="text-dim text-xs">
          This view in one file: tokens, colours, outline, details and find. Opens in any browser, without a server or a
          network.
        </p>
        <div className="mt-1 flex flex-wrap gap-x-4 text-xs">
          {PARTS.map(([name, label]) => (
            <CheckField
              key={name}
              label={label}
              checked={parts[name]}
              onChange={(event) => setParts({ ...parts, [name]: event.target.checked })}
            />
          ))}
        </div>
      </div>
      <Button aria-label="Export as an offline page" disabled={isSaving} onClick={save}>
        {isSaving ? 'Writing…' : 'Export'}
      </Button>
    </li>
  )
}

const PARTS = [
  ['alternatives', 'Alternatives'],
  ['messages', 'Messages and results'],
  ['labels', 'Title, tags, notes, reward'],
] as const
