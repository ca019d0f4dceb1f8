import { Minus, Plus, Settings2 } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { CheckField } from '#components/ui/field.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Popover } from '#components/ui/popover.tsx'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { FONT_SIZES, type Folds, type GridOptions, resizeText } from './grid-options.ts'
import { allToggled, thinksToggled } from './pieces/folding.ts'

/** Settings of the token view and what a change does. */
export interface ViewOptionsProps {
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
  /** Folds or unfolds everything at once. If omitted, nothing can be folded here. */
  readonly folding?: {
    readonly trajectory: TrajectoryView
    readonly folds: Folds
    readonly onFolds: (folds: Folds) => void
  }
}

/** Shows the menu of the display settings, which the browser stores and which are not part of links. */
export function ViewOptions({ options, onOptions, folding }: ViewOptionsProps) {
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
              onClick={() => onOptions(resizeText(options, -1))}
            >
              <Minus size={14} aria-hidden />
            </IconButton>
            <output className="w-10 text-center">{fontSize} px</output>
            <IconButton
              label="Larger"
              disabled={fontSize === FONT_SIZES.at(-1)}
              onClick={() => onOptions(resizeText(options, 1))}
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
        <CheckField
          label="Token boundaries"
          checked={options.showsBoundaries}
          onChange={(event) => onOptions({ ...options, showsBoundaries: event.target.checked })}
        />
        {folding && <FoldButtons {...folding} />}
      </div>
    </Popover>
  )
}

const FoldButtons = ({ trajectory, folds, onFolds }: NonNullable<ViewOptionsProps['folding']>) => (
  <>
    <Button className="text-xs" onClick={() => onFolds(allToggled(folds, trajectory))}>
      Fold or unfold all segments
    </Button>
    <Button className="text-xs" onClick={() => onFolds(thinksToggled(folds, trajectory))}>
      Fold or unfold all think blocks
    </Button>
  </>
)
