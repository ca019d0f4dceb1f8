'use client'
import type { ReactNode } from 'react'
import { Segmented } from '#components/ui/segmented.tsx'

/** Name of a pane of the lab. */
export type LabPane = 'editor' | 'result'

interface LabPanesProps {
  readonly editor: ReactNode
  readonly result: ReactNode
  /** Pane that a narrow window shows. */
  readonly shown: LabPane
  readonly onShow: (pane: LabPane) => void
}

/** The editor and the result side by side; a narrow window shows one of them. */
export function LabPanes({ editor, result, shown, onShow }: LabPanesProps) {
  return (
    <div className="flex min-h-0 flex-col">
      <nav aria-label="Panes" className="border-line border-b px-3 py-1.5 lg:hidden">
        <Segmented<LabPane>
          label="Pane"
          value={shown}
          onChange={onShow}
          options={[
            { value: 'editor', text: 'Write' },
            { value: 'result', text: 'Result' },
          ]}
        />
      </nav>
      <main className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] lg:grid-cols-[minmax(0,11fr)_minmax(0,14fr)]">
        <section
          aria-label="Template and conversation"
          className={`min-h-0 min-w-0 lg:block lg:border-line lg:border-r ${shown === 'editor' ? '' : 'hidden'}`}
        >
          {editor}
        </section>
        <section aria-label="Result" className={`min-h-0 min-w-0 lg:block ${shown === 'result' ? '' : 'hidden'}`}>
          {result}
        </section>
      </main>
    </div>
  )
}
