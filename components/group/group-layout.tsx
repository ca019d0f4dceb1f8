'use client'
import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Segmented } from '#components/ui/segmented.tsx'

/** Part that a narrow window shows above the sheet. */
export type GroupPart = 'samples' | 'tree'

interface GroupLayoutProps {
  readonly samples: ReactNode
  readonly tree: ReactNode
  readonly token: ReactNode
  /** Summary of the pinned token for the top of the sheet of a narrow window; undefined hides the sheet. */
  readonly gist: ReactNode | undefined
  /** Buttons beside the switch of a narrow window. */
  readonly buttons: ReactNode
  readonly part: GroupPart
  readonly onShow: (part: GroupPart) => void
  readonly onUnpin: () => void
}

/**
 * Shows the samples, the tree and the card of a token side by side. In a narrow window the first two are tabs, and the card is a sheet at
 * the bottom. The parts beside the tree are stacking contexts of their own, so that browsers keep their painting while the tree scrolls.
 */
export function GroupLayout({ samples, tree, token, gist, buttons, part, onShow, onUnpin }: GroupLayoutProps) {
  // In a low window, as at a zoom of 200 %, the sheet would leave no room for the tree.
  const [isOpen, setIsOpen] = useState(() => !matchMedia('(max-height: 600px)').matches)
  const hasSheet = gist !== undefined && part === 'tree'
  return (
    <div className="flex min-h-0 flex-col">
      <div className="flex items-center justify-between gap-2 border-line border-b px-3 py-1.5 lg:hidden">
        <nav aria-label="Parts of the page">
          <Segmented<GroupPart>
            label="Part"
            value={part}
            onChange={onShow}
            options={[
              { value: 'samples', text: 'Samples' },
              { value: 'tree', text: 'Tree' },
            ]}
          />
        </nav>
        {part === 'tree' && buttons}
      </div>
      <main className="flex min-h-0 flex-1 flex-col lg:grid lg:grid-cols-[280px_minmax(0,1fr)_300px] lg:grid-rows-[minmax(0,1fr)] 2xl:grid-cols-[300px_minmax(0,1fr)_340px]">
        <aside
          aria-label="Samples"
          className={`isolate min-h-0 overflow-y-auto bg-panel p-3.5 max-lg:flex-1 lg:block lg:border-line lg:border-r ${part === 'samples' ? '' : 'hidden'}`}
        >
          {samples}
        </aside>
        <section
          aria-label="Tree"
          className={`min-h-0 min-w-0 max-lg:flex-1 lg:block ${part === 'tree' ? '' : 'hidden'}`}
        >
          {tree}
        </section>
        <aside
          aria-label="Token"
          className={`isolate min-h-0 bg-panel lg:block lg:overflow-y-auto lg:border-line lg:border-l lg:p-3.5 ${hasSheet ? 'flex flex-col border-line max-lg:max-h-[38dvh] max-lg:border-t max-lg:shadow-[0_-4px_16px_rgb(0_0_0/12%)]' : 'hidden'}`}
        >
          {hasSheet && (
            <div className="flex shrink-0 items-center gap-2 px-3.5 py-1 lg:hidden">
              <button
                type="button"
                aria-expanded={isOpen}
                onClick={() => setIsOpen(!isOpen)}
                className="flex min-h-9 min-w-0 flex-1 items-center gap-2 text-left"
              >
                {isOpen ? <ChevronDown size={15} aria-hidden /> : <ChevronUp size={15} aria-hidden />}
                <span className="min-w-0 truncate">{gist}</span>
              </button>
              <IconButton label="Unpin the token" onClick={onUnpin}>
                <X size={15} aria-hidden />
              </IconButton>
            </div>
          )}
          <div
            className={`min-h-0 max-lg:overflow-y-auto max-lg:px-3.5 max-lg:pb-3.5 lg:block ${isOpen ? '' : 'hidden'}`}
          >
            {token}
          </div>
        </aside>
      </main>
    </div>
  )
}
