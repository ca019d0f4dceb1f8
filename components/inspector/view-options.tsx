import { Minus, Plus, Settings2 } from 'lucide-react'
import { allToggled, thinksToggled } from '../trajectory/folding.ts'
import { FONT_SIZES, type GridOptions, resized } from '../trajectory/grid-options.ts'
import { Button } from '../ui/button.tsx'
import { CheckField } from '../ui/field.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Popover } from '../ui/popover.tsx'
import type { InspectorPartProps } from './inspection.ts'

interface ViewOptionsProps extends InspectorPartProps {
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
}

/** How the reader likes the tokens: kept in the browser, and no part of a link. */
export function ViewOptions({ inspection, options, onOptions }: ViewOptionsProps) {
  const { trajectory, folds, onFolds } = inspection
  const { fontSize } = options
  return (
    <Popover label="View options" button={<Settings2 size={15} aria-hidden />}>
      <div className="grid w-56 gap-2">
        <div className="flex items-center justify-between">
          <span>Font size</span>
          <span className="flex items-center gap-1 tabular-nums">
            <IconButton
              label="Smaller"
              disabled={fontSize === FONT_SIZES[0]}
              onClick={() => onOptions(resized(options, -1))}
            >
              <Minus size={14} aria-hidden />
            </IconButton>
            <output className="w-10 text-center">{fontSize} px</output>
            <IconButton
              label="Larger"
              disabled={fontSize === FONT_SIZES.at(-1)}
              onClick={() => onOptions(resized(options, 1))}
            >
              <Plus size={14} aria-hidden />
            </IconButton>
          </span>
        </div>
        <CheckField
          label="Marks for spaces and line ends"
          checked={options.showsWhitespace}
          onChange={(event) => onOptions({ ...options, showsWhitespace: event.target.checked })}
        />
        <Button className="text-xs" onClick={() => onFolds(allToggled(folds, trajectory))}>
          Fold or unfold all segments
        </Button>
        <Button className="text-xs" onClick={() => onFolds(thinksToggled(folds, trajectory))}>
          Fold or unfold all think blocks
        </Button>
      </div>
    </Popover>
  )
}
