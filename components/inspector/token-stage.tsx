import { TokenGrid } from '#components/token-view/grid/token-grid.tsx'
import type { GridOptions } from '#components/token-view/grid-options.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { InspectorPartProps } from './inspection.ts'
import { Minimap } from './minimap/minimap.tsx'

interface TokenStageProps extends InspectorPartProps {
  readonly options: GridOptions
  readonly onPoint: (index: number | undefined) => void
  readonly onVisible: (tokens: Span) => void
}

/** Shows the tokens and the minimap beside them. */
export function TokenStage({ inspection, options, onPoint, onVisible }: TokenStageProps) {
  return (
    <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)_auto]">
      <TokenGrid
        trajectory={inspection.trajectory}
        reading={inspection.reading}
        selection={inspection.view.selection}
        onSelect={inspection.onSelect}
        onPoint={onPoint}
        marks={inspection.marks}
        options={options}
        folds={inspection.folds}
        onFolds={inspection.onFolds}
        onVisible={onVisible}
        onSay={inspection.say}
        control={inspection.grid}
      />
      <Minimap inspection={inspection} />
    </div>
  )
}
