'use client'
import { useEffect, useState } from 'react'
import { ExportDialog } from '#components/export/export-dialog.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Segmented } from '#components/ui/segmented.tsx'
import type { ComparedSides, SideName } from '#lib/analysis/compare/compare-sides.ts'
import { type ExportChoice, exportsOf } from '#lib/browser/files/files.ts'
import { countForced } from '#lib/trajectory/tokens/forced-tokens.ts'

interface CompareExportProps {
  readonly compared: ComparedSides
  readonly onClose: () => void
}

/** Dialog that exports either side as a file. A side that was made from another one is exported like any trajectory. */
export function CompareExport({ compared, onClose }: CompareExportProps) {
  const [name, setName] = useState<SideName>('left')
  const [choices, setChoices] = useState<readonly ExportChoice[]>([])
  const [problem, setProblem] = useState<string>()
  const { trajectory } = compared[name]
  useEffect(() => {
    let isClosed = false
    const show = (known: readonly ExportChoice[]) => {
      if (!isClosed) setChoices(known)
    }
    setProblem(undefined)
    const opening = exportsOf(trajectory, show, (error) => {
      if (!isClosed) setProblem(error instanceof Error ? error.message : String(error))
    })
    void opening.then(({ choices }) => show(choices))
    return () => {
      isClosed = true
      void opening.then(({ close }) => close())
    }
  }, [trajectory])
  return (
    <ExportDialog title="Export a side" choices={choices} hasForced={countForced(trajectory) > 0} onClose={onClose}>
      <li className="-order-1">
        <Segmented<SideName>
          label="Side"
          value={name}
          onChange={setName}
          options={[
            { value: 'left', text: 'Left' },
            { value: 'right', text: 'Right' },
          ]}
        />
        {problem !== undefined && <Banner tone="bad" title={problem} />}
      </li>
    </ExportDialog>
  )
}
