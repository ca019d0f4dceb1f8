import { type ReactNode, useRef } from 'react'
import { AFTER_AWAITED, AWAITED } from '#components/inspector/ratios/awaited.tsx'
import type { RatiosState } from '#components/inspector/ratios/use-ratios.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useNavigation } from '#components/shell/navigation.tsx'
import { Origin } from '#components/token-view/overview/origin.tsx'
import { Outline } from '#components/token-view/overview/outline.tsx'
import { TrajectoryTotals } from '#components/token-view/overview/totals.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { InspectorPartProps } from './inspection.ts'
import { type ListPlace, ListWalk } from './list-walk.tsx'
import type { TokenNotes } from './notes/use-token-notes.ts'
import { LaterParts } from './warm-up/later-parts.tsx'

const ForkOutline = lazyPart(async () => (await import('#components/inspector/branch/fork-outline.tsx')).ForkOutline)
const RepairButton = lazyPart(async () => (await import('#components/inspector/health/repair-button.tsx')).RepairButton)
const RatioFacts = lazyPart(
  async () => (await import('#components/inspector/ratios/ratio-facts.tsx')).RatioFacts,
  AWAITED,
)

interface OutlinePaneProps extends InspectorPartProps {
  readonly ratios: RatiosState
  readonly place: ListPlace | undefined
  readonly notes: TokenNotes
  /** Selects a token. */
  readonly onChoose: (index: number) => void
  /** `undefined` means that the trajectory cannot have another tokenizer. */
  readonly onChooseTokenizer: (() => void) | undefined
  /** Title, tags, note and reward, as text or as fields. */
  readonly labels: ReactNode
  /** Further links for this trajectory. */
  readonly children: ReactNode
}

/** Shows the position in the list, the totals, the outline and the origin of the trajectory. */
export function OutlinePane({
  inspection,
  ratios,
  place,
  notes,
  onChoose,
  onChooseTokenizer,
  labels,
  children,
}: OutlinePaneProps) {
  const { trajectory, marks, view, storedKey } = inspection
  const { go } = useNavigation()
  const origin = useRef<HTMLDivElement>(null)
  const drift = marks.find(({ kind }) => kind === 'drift')
  const parts = (
    <>
      {ratios.kind === 'shown' && <RatioFacts trajectory={trajectory} ratios={ratios.ratios} onChoose={onChoose} />}
      {ratios.kind === 'loading' && AWAITED}
      <div className={`mt-5 ${AFTER_AWAITED}`}>
        <Heading>Segments</Heading>
        <Outline
          trajectory={trajectory}
          selected={view.selection?.focus}
          pointed={marks.find(({ kind }) => kind === 'linked')?.ranges[0]}
          inSight={inspection.inSight}
          folds={inspection.folds}
          onSelect={onChoose}
        />
        {/* Without it, an example without notes would have the placeholder of an empty list for a moment. */}
        {(notes.notes.length > 0 || notes.actions) && (
          <LaterParts.NoteList
            notes={notes.notes}
            selection={view.selection}
            onShow={(selection) => inspection.onSelect(selection, 'tokens')}
            actions={notes.actions}
          />
        )}
        {labels}
        <Heading>Origin</Heading>
        {/* The button that undoes a repair disappears, so the focus stays at its place. */}
        <div ref={origin} tabIndex={-1} className="rounded-md">
          <Origin
            trajectory={trajectory}
            repairAction={({ name, undo }) =>
              undo &&
              storedKey !== undefined && (
                <RepairButton
                  storedKey={storedKey}
                  repair={{ name, title: 'Undo repair' }}
                  isUndo
                  onDone={() => {
                    origin.current?.focus()
                    inspection.say('The repair was undone: the trajectory is as in its file again.')
                  }}
                />
              )
            }
          />
        </div>
        {trajectory.model.tokenizer && onChooseTokenizer && (
          <Button className="mt-2 text-xs" onClick={onChooseTokenizer}>
            Choose another tokenizer…
          </Button>
        )}
        <div className="mt-4">{children}</div>
      </div>
    </>
  )
  return (
    <>
      {/* The list of a stored trajectory has its space until it is known. */}
      {place ? <ListWalk place={place} onOpen={go} /> : storedKey !== undefined && <div className="h-7" />}
      <Heading>Trajectory</Heading>
      <TrajectoryTotals trajectory={trajectory} driftSpans={drift ? drift.ranges.length / 2 : null} />
      {trajectory.forkedFrom && storedKey !== undefined ? (
        <ForkOutline
          forkedFrom={trajectory.forkedFrom}
          trajectory={trajectory}
          storedKey={storedKey}
          onChoose={onChoose}
        >
          {parts}
        </ForkOutline>
      ) : (
        parts
      )}
    </>
  )
}
