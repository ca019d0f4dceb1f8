'use client'
import { useRef } from 'react'
import { flushSync } from 'react-dom'
import { ColourBar } from '#components/trajectory/colour/colour-bar.tsx'
import { colouringOf } from '#components/trajectory/colour/colouring.ts'
import type { GridControl } from '#components/trajectory/grid-control.ts'
import { GRID_OPTIONS, NO_FOLDS } from '#components/trajectory/grid-options.ts'
import { LegendButton } from '#components/trajectory/legend-button.tsx'
import { TokenGrid } from '#components/trajectory/token-grid.tsx'
import { trajectoryReading } from '#components/trajectory/token-reading.ts'
import { ViewOptions } from '#components/trajectory/view-options.tsx'
import { usePreference } from '#lib/client/preference.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { useSkipLink } from './shell-actions.ts'
import type { useViewState } from './view-state.ts'

interface PlaygroundTokensProps {
  readonly trajectory: TrajectoryView
  readonly view: ReturnType<typeof useViewState>
  readonly onPoint: (index: number | undefined) => void
  readonly onSay: (message: string) => void
  /** Shows this pane in a window that has no room for all. */
  readonly onShow: () => void
}

/** The tokens of a run, and what they are coloured by. Loaded with the first question: until then there are none. */
export function PlaygroundTokens({ trajectory, view, onPoint, onSay, onShow }: PlaygroundTokensProps) {
  const [options, setOptions] = usePreference(GRID_OPTIONS)
  const { colour, limit, selection } = view.view
  const grid = useRef<GridControl>(null)
  useSkipLink(() => {
    flushSync(onShow)
    grid.current?.focus()
  })
  const colouring = colouringOf(trajectory, colour, limit)
  return (
    <div className="grid h-full min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)]">
      <div className="flex items-start gap-x-3 border-line border-b px-3.5 py-2">
        <ColourBar trajectory={trajectory} colouring={colouring} onChange={view.setView} />
        <span className="ml-auto flex gap-1">
          <LegendButton
            source={{
              view: 'run',
              trajectories: [trajectory],
              markKinds: [],
              isSelected: selection !== undefined,
              options,
              folds: NO_FOLDS,
            }}
          />
          <ViewOptions options={options} onOptions={setOptions} />
        </span>
      </div>
      <TokenGrid
        trajectory={trajectory}
        reading={trajectoryReading(colouring)}
        selection={selection}
        onSelect={view.setSelection}
        onPoint={onPoint}
        onSay={onSay}
        options={options}
        control={grid}
      />
    </div>
  )
}
