'use client'
import type { ReactNode } from 'react'
import { Segmented } from './segmented.tsx'

interface PanesProps {
  /** Left, middle, right: for the switch that narrow windows get. */
  readonly names: readonly [string, string, string]
  readonly left: ReactNode
  readonly middle: ReactNode
  readonly right: ReactNode
  /** The gist of the right pane, where only the middle one is seen; touching it shows the whole. */
  readonly gist: ReactNode
  /** Which one a narrow window shows. */
  readonly shown: Pane
  readonly onShow: (pane: Pane) => void
}

export type Pane = 'left' | 'middle' | 'right'

/** Three panes side by side; in a narrow window one at a time. */
export function Panes({ names, left, middle, right, gist, shown, onShow }: PanesProps) {
  return (
    <div className="flex min-h-0 flex-col">
      <nav aria-label="Panes" className="border-line border-b px-3 py-1.5 lg:hidden">
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
      <main className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] lg:grid-cols-[280px_minmax(0,1fr)_300px] 2xl:grid-cols-[320px_minmax(0,1fr)_340px]">
        <aside
          aria-label={names[0]}
          className={`overflow-y-auto bg-panel p-3.5 lg:block lg:border-line lg:border-r ${shown === 'left' ? '' : 'hidden'}`}
        >
          {left}
        </aside>
        <section aria-label={names[1]} className={`min-h-0 min-w-0 lg:block ${shown === 'middle' ? '' : 'hidden'}`}>
          {middle}
        </section>
        <aside
          aria-label={names[2]}
          className={`overflow-y-auto bg-panel p-3.5 lg:block lg:border-line lg:border-l ${shown === 'right' ? '' : 'hidden'}`}
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
