'use client'
import { Shapes } from 'lucide-react'
import { type Ref, useState } from 'react'
import { Popover, type PopoverControl } from '#components/ui/popover.tsx'
import { latePart } from '../late-part.tsx'
import type { LegendSource } from './legend-entries.ts'

// The legend is loaded when it is opened, so that the first load of the page is smaller.
const TokenLegend = latePart(async () => (await import('./token-legend.tsx')).TokenLegend)

interface LegendButtonProps {
  readonly source: LegendSource
  /** Opens and closes the legend from a key or a command. */
  readonly control?: Ref<PopoverControl>
}

/** Shows a button that opens the legend of the token view. */
export function LegendButton({ source, control }: LegendButtonProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover
      label="Legend (L)"
      button={
        <>
          <Shapes size={15} aria-hidden className="sm:hidden" />
          <span className="max-sm:hidden">Legend</span>
        </>
      }
      control={control}
      onOpen={setIsOpen}
    >
      {/* The box has its full size before the legend has loaded, so that it is positioned once. */}
      <section
        aria-label="Legend"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        tabIndex={0}
        className="-m-1 h-[min(70dvh,620px)] w-[min(400px,calc(100vw-48px))] overflow-y-auto p-1 text-xs"
      >
        {isOpen && <TokenLegend source={source} />}
      </section>
    </Popover>
  )
}
