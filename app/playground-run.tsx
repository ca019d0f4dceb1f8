'use client'
import { RangeCard } from '#components/inspector/range-card.tsx'
import { isSingle, single } from '#components/trajectory/selection.ts'
import { TokenCard } from '#components/trajectory/token-card.tsx'
import { ToolCalls } from '#components/trajectory/tool-calls.tsx'
import { Totals } from '#components/trajectory/totals.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { Token } from '#lib/core/tokens.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import type { useViewState } from './view-state.ts'

interface PlaygroundRunProps {
  readonly trajectory: TrajectoryView
  readonly view: ReturnType<typeof useViewState>
  /** The token that is chosen, or under the pointer. */
  readonly shown: Token | undefined
}

/** What is known of a run and of its chosen tokens. Loaded with the first question. */
export function PlaygroundRun({ trajectory, view, shown }: PlaygroundRunProps) {
  const { selection } = view.view
  return (
    <>
      {selection && !isSingle(selection) ? (
        <RangeCard inspection={{ trajectory, view: view.view, onSelect: (chosen) => view.setSelection(chosen) }} />
      ) : (
        shown && <TokenCard trajectory={trajectory} token={shown} state={selection ? 'pinned' : 'pointed'} />
      )}
      <Heading>This run</Heading>
      <Totals trajectory={trajectory} />
      <Heading>Tool calls</Heading>
      <ToolCalls trajectory={trajectory} onSelect={(index) => view.setSelection(single(index))} />
    </>
  )
}
