'use client'
import type { KeyboardEvent, ReactNode } from 'react'
import { Segmented } from './segmented.tsx'

interface PanesProps {
  /** Names of the left, middle and right pane, for the switch in narrow windows. */
  readonly names: readonly [string, string, string]
  readonly left: ReactNode
  readonly middle: ReactNode
  readonly right: ReactNode
  /** Summary of the right pane in narrow windows while the middle one is shown; a click shows the right pane. */
  readonly gist: ReactNode
  /** Buttons of the middle pane, beside the switch of a narrow window. */
  readonly buttons?: ReactNode
  /** Pane that a narrow window shows. */
  readonly shown: Pane
  readonly onShow: (pane: Pane) => void
  /** Called with the keys that no pane has handled. */
  readonly onKeyDown?: (event: KeyboardEvent) => void
}

/** Position of a pane. */
export type Pane = 'left' | 'middle' | 'right'

/**
 * Shows three panes side by side, or one at a time in a narrow window. The scrolled panes are positioned: otherwise texts for screen readers
 * far below would make the document as high as their content.
 */
export function Panes({ names, left, middle, right, gist, buttons, shown, onShow, onKeyDown }: PanesProps) {
  return (
    <div className="flex min-h-0 flex-col">
      <div className="flex flex-wrap items-center justify-between gap-2 border-line border-b px-3 py-1.5 lg:hidden">
        <nav aria-label="Panes">
          <Segmented<Pane>
            label="Pane"
            value={shown}
            onChange={onShow}
            options={[
              { value: 'left', text: names[0] },
              { value: 'middle', text: names[1] },
              { value: 'right', text: names[2] },
            ]}
          />
        </nav>
        {shown === 'middle' && buttons}
      </div>
      <main
        onKeyDown={onKeyDown}
        className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] lg:grid-cols-[280px_minmax(0,1fr)_300px] 2xl:grid-cols-[320px_minmax(0,1fr)_340px]"
      >
        <aside
          aria-label={names[0]}
          className={`relative overflow-y-auto bg-panel p-3.5 lg:block lg:border-line lg:border-r ${shown === 'left' ? '' : 'hidden'}`}
        >
          {left}
        </aside>
        <section aria-label={names[1]} className={`min-h-0 min-w-0 lg:block ${shown === 'middle' ? '' : 'hidden'}`}>
          {middle}
        </section>
        <aside
          aria-label={names[2]}
          className={`relative overflow-y-auto bg-panel p-3.5 lg:block lg:border-line lg:border-l ${shown === 'right' ? '' : 'hidden'}`}
        >
          {right}
        </aside>
      </main>
      {gist !== undefined && shown === 'middle' && (
        <button
          type="button"
          onClick={() => onShow('right')}
          className="flex items-baseline justify-between gap-3 border-line border-t bg-panel px-3.5 py-2 text-left lg:hidden"
        >
          {gist}
        </button>
      )}
    </div>
  )
}
