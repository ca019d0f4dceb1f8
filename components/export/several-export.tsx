'use client'
import { useEffect, useEffectEvent, useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import type { ExportPreview } from '#lib/api/export-preview.ts'
import { loadSeveralExports, type SeveralExports } from '#lib/browser/files/files.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { ExportDialog } from './export-dialog.tsx'

interface SeveralExportProps {
  /** Keys of the stored trajectories, in the order of the file. The dialog is unmounted when the selection changes. */
  readonly keys: readonly string[]
  readonly onClose: () => void
  /** Called when the file could not be saved; the dialog is already closed. */
  readonly onSaveError: (error: unknown) => void
}

/** Lists the export formats for a file of several trajectories, with the losses and the trajectories that some formats leave out. */
export function SeveralExport({ keys, onClose, onSaveError }: SeveralExportProps) {
  const [{ choices, preview }, setExports] = useState<SeveralExports>({ choices: [] })
  const [problem, setProblem] = useState<string>()
  const load = useEffectEvent((signal: AbortSignal) =>
    loadSeveralExports(keys, {
      onExports: setExports,
      onPreviewError: (error) => setProblem(error instanceof Error ? error.message : String(error)),
      onSaveError,
      signal,
    }),
  )
  useEffect(() => {
    const closing = new AbortController()
    void load(closing.signal)
    return () => closing.abort()
  }, [])
  return (
    <ExportDialog
      title={`Export ${countWithNoun(keys.length, 'trajectory', 'trajectories')}`}
      choices={choices}
      subject="these trajectories"
      hasForced={(preview?.forced ?? 0) > 0}
      offersAdvantage
      onClose={onClose}
    >
      {preview && preview.excluded.length > 0 && <Excluded excluded={preview.excluded} of={keys.length} />}
      {problem !== undefined && (
        <li className="-order-1">
          <Banner tone="bad" title="The contents of this file are unknown." hint={problem} />
        </li>
      )}
    </ExportDialog>
  )
}

interface ExcludedProps {
  readonly excluded: ExportPreview['excluded']
  /** Number of trajectories that were selected. */
  readonly of: number
}

function Excluded({ excluded, of }: ExcludedProps) {
  const title =
    of === 1
      ? 'The selected run has no tokens.'
      : `${excluded.length} of ${of} runs ${excluded.length === 1 ? 'has' : 'have'} no tokens.`
  return (
    <li className="-order-1">
      <Banner tone="note" title={title} hint="Only formats of messages contain runs without tokens.">
        <details className="basis-full text-xs">
          <summary className="text-dim hover:text-ink">Which, and why</summary>
          <ul className="mt-1 grid max-h-60 list-disc gap-1 overflow-y-auto pl-4 text-dim">
            {excluded.map(({ key, title, why }) => (
              <li key={key} className="[overflow-wrap:anywhere]">
                <a href={`/t/${encodeURIComponent(key)}`} className="inline-block text-accent hover:underline">
                  {title}
                </a>
                : {why}
              </li>
            ))}
          </ul>
        </details>
      </Banner>
    </li>
  )
}
