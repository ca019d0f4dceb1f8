'use client'
import { Shapes } from 'lucide-react'
import { lazy, type Ref, Suspense, useState } from 'react'
import { Popover, type PopoverControl } from '#components/ui/popover.tsx'
import type { LegendSource } from './legend-entries.ts'

// Loaded when it is opened: the first load is for what is seen first.
const TokenLegend = lazy(async () => ({ default: (await import('./token-legend.tsx')).TokenLegend }))

interface LegendButtonProps {
  readonly source: LegendSource
  /** Opens and closes it by a key or a command. */
  readonly control?: Ref<PopoverControl>
}

/** Opens the legend of the token view beside it. */
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
      {/* As wide and high before its content has come: it is placed once. */}
      <section
        aria-label="Legend"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        tabIndex={0}
        className="-m-1 h-[min(70dvh,620px)] w-[min(400px,calc(100vw-48px))] overflow-y-auto p-1 text-xs"
      >
        {isOpen && (
          <Suspense fallback={<p className="text-faint">Loading…</p>}>
            <TokenLegend source={source} />
          </Suspense>
        )}
      </section>
    </Popover>
  )
}
