'use client'
import { Command } from 'lucide-react'
import type { Ref } from 'react'
import { NO_FOLDS } from '#components/token-view/grid-options.ts'
import { keyLabel } from '#components/token-view/key-name.ts'
import { LegendButton } from '#components/token-view/legend/legend-button.tsx'
import type { LegendSource } from '#components/token-view/legend/legend-entries.ts'
import { ViewOptions, type ViewOptionsProps } from '#components/token-view/view-options.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { PopoverControl } from '#components/ui/popover.tsx'
import { isMac } from './is-mac.ts'

interface TokenViewButtonsProps extends ViewOptionsProps {
  /** Contents of the view, for its legend. */
  readonly shown: Omit<LegendSource, 'options' | 'folds'>
  /** Opens and closes the legend from a key or a command. */
  readonly legend: Ref<PopoverControl>
  /** Opens the command palette. Omitted if the page has none. */
  readonly onCommands?: () => void
}

/** Buttons for commands, legend and view options, at the end of the toolbar of every token view. */
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
