'use client'
import { ChevronDown, ChevronUp, CircleHelp } from 'lucide-react'
import { useRef, useState } from 'react'
import { latePart } from '#components/token-view/late-part.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { Popover } from '#components/ui/popover.tsx'
import type { InspectorPartProps } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'
import { FindField } from './find-field.tsx'
import { withRecent } from './recent-finds.ts'
import { useHitSteps } from './use-hit-steps.ts'
import { useQueryField } from './use-query-field.ts'

const FindHelp = latePart(async () => (await import('./find-help.tsx')).FindHelp)

interface FindBarProps extends InspectorPartProps {
  /** Recent queries, the latest first. */
  readonly recent: readonly string[]
  readonly onRecent: (recent: readonly string[]) => void
}

/** Shows the search field, the number of hits and the buttons that step through them. */
export function FindBar({ inspection, recent, onRecent }: FindBarProps) {
  const { view, onView, grid, offer } = inspection
  const field = useRef<HTMLInputElement>(null)
  const [hasHelp, setHasHelp] = useState(false)
  const typing = useQueryField({ query: view.find, onQuery: (find) => onView({ find }), recent })
  const steps = useHitSteps(inspection)
  const hasNoHits = steps.state.hits.length === 0
  usePanelCommand(offer, 'find', () => {
    field.current?.focus()
    field.current?.select()
  })
  const lookForAndStay = (query: string) => {
    typing.lookFor(query)
    field.current?.focus()
  }
  return (
    <search className="relative flex min-w-0 grow items-center gap-0.5 lg:max-w-xl">
      <FindField
        fieldRef={field}
        query={view.find}
        typing={typing}
        steps={steps}
        onClear={() => lookForAndStay('')}
        onLeave={() => grid.current?.focus()}
        onRemember={() => onRecent(withRecent(recent, typing.text))}
      />
      <IconButton label="Previous hit (⇧ Enter)" disabled={hasNoHits} onClick={() => steps.step(-1)}>
        <ChevronUp size={15} aria-hidden />
      </IconButton>
      <IconButton label="Next hit (Enter)" disabled={hasNoHits} onClick={() => steps.step(1)}>
        <ChevronDown size={15} aria-hidden />
      </IconButton>
      <Popover label="Search help" button={<CircleHelp size={15} aria-hidden />} onOpen={setHasHelp}>
        <div className="h-[min(70vh,640px)] w-[min(420px,calc(100vw-48px))] overflow-y-auto text-xs">
          {hasHelp && (
            <FindHelp
              trajectory={inspection.trajectory}
              recent={recent}
              onChoose={lookForAndStay}
              onForget={() => onRecent([])}
            />
          )}
        </div>
      </Popover>
    </search>
  )
}
