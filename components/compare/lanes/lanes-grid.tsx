import type { KeyboardEvent, MouseEvent } from 'react'
import type { useGridPointer } from '#components/token-view/grid/use-grid-pointer.ts'
import { chosenId } from './lane-painter.ts'
import type { LaneSelection } from './lanes-picture.ts'
import type { useLanesDrawing } from './use-lanes-drawing.ts'

interface LanesGridProps {
  readonly drawing: Pick<
    ReturnType<typeof useLanesDrawing>,
    'viewport' | 'canvas' | 'lane' | 'first' | 'second' | 'picture'
  >
  readonly isUnified: boolean
  readonly chosen: LaneSelection | undefined
  readonly pointer: ReturnType<typeof useGridPointer>
  readonly onClick: (event: MouseEvent) => void
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
}

/** Shows the elements into which the lanes are drawn. */
export function LanesGrid({ drawing, isUnified, chosen, pointer, onClick, onKeyDown }: LanesGridProps) {
  const { viewport, canvas, lane, first, second, picture } = drawing
  const columns = isUnified ? (['both'] as const) : (['left', 'right'] as const)
  const chosenColumn = isUnified ? 'both' : (chosen?.side ?? 'left')
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows are drawn by hand; a table would mount all of them
    <div
      ref={viewport}
      className="token-viewport min-w-0 flex-1"
      role="grid"
      tabIndex={0}
      aria-label="Tokens of both sides"
      aria-multiselectable
      aria-rowcount={picture?.rows.rowCount ?? 0}
      aria-activedescendant={chosen && chosenId(chosenColumn)}
      data-idle={picture !== undefined}
      data-arrangement={isUnified ? 'unified' : 'lanes'}
      onKeyDown={onKeyDown}
    >
      <div ref={canvas} className="lanes" {...{ ...pointer, onClick }}>
        {columns.map((column, index) => (
          // biome-ignore lint/a11y/useSemanticElements: the rows are drawn by hand; a table would mount all of them
          <div
            key={index === 0 ? 'first' : 'second'}
            ref={index === 0 ? lane : undefined}
            className="token-canvas"
            role="rowgroup"
            aria-label={COLUMN_NAMES[column]}
          >
            <div ref={index === 0 ? first : second} className="token-layer" />
          </div>
        ))}
      </div>
    </div>
  )
}

const COLUMN_NAMES = { left: 'Left', right: 'Right', both: 'Both sides' } as const
