'use client'
import { Command } from 'lucide-react'
import type { Ref } from 'react'
import { isMac } from '../commands/is-mac.ts'
import { NO_FOLDS } from '../trajectory/grid-options.ts'
import { keyLabel } from '../trajectory/key-name.ts'
import { LegendButton } from '../trajectory/legend-button.tsx'
import type { LegendSource } from '../trajectory/legend-entries.ts'
import { ViewOptions, type ViewOptionsProps } from '../trajectory/view-options.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import type { PopoverControl } from '../ui/popover.tsx'

interface TokenViewButtonsProps extends ViewOptionsProps {
  /** What the view shows, for its legend. */
  readonly shown: Omit<LegendSource, 'options' | 'folds'>
  /** Opens and closes the legend by a key or a command. */
  readonly legend: Ref<PopoverControl>
  /** Opens the command palette. Omitted: the page has none. */
  readonly onCommands?: () => void
}

/** Commands, legend and view options: what every token view has at the end of its tools. */
export function TokenViewButtons({ shown, legend, onCommands, options, folding, onOptions }: TokenViewButtonsProps) {
  const folds = folding?.folds ?? NO_FOLDS
  return (
    <>
      {onCommands && (
        <IconButton label={`Commands (${keyLabel('Mod+k', isMac())})`} onClick={onCommands}>
          <Command size={15} aria-hidden />
        </IconButton>
      )}
      <LegendButton control={legend} source={{ ...shown, options, folds }} />
      <ViewOptions options={options} onOptions={onOptions} {...(folding && { folding })} />
    </>
  )
}
