'use client'
import { useEffect, useState } from 'react'
import { AFTER_AWAITED, AWAITED } from '#components/inspector/ratios/awaited.tsx'
import type { RatiosState } from '#components/inspector/ratios/use-ratios.ts'
import { compareBothHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useScorer } from '#components/shell/use-scoring.ts'
import { ToolCalls } from '#components/token-view/overview/tool-calls.tsx'
import { isSingle, single } from '#components/token-view/selection.ts'
import { Heading } from '#components/ui/facts.tsx'
import type { AddedColumn } from '#lib/trajectory/tokens/added-columns.ts'
import { isTextOnly } from '#lib/trajectory/tokens/texts.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { Insertion } from './branch/branch-draft.ts'
import { branchObstacle } from './branch/branch-obstacle.ts'
import { BranchPart } from './branch/branch-part.ts'
import type { InspectionState } from './use-inspection-state.ts'
import { LaterParts } from './warm-up/later-parts.tsx'

const RangeCard = lazyPart(async () => (await import('#components/inspector/selection/range-card.tsx')).RangeCard)
const OutlierList = lazyPart(
  async () => (await import('#components/inspector/ratios/outlier-list.tsx')).OutlierList,
  AWAITED,
)

interface DetailsPaneProps {
  /** Key of the stored trajectory; undefined if it is not stored. */
  readonly storedKey: string | undefined
  readonly state: InspectionState
  readonly ratios: RatiosState
  /** The selected token, or else the one under the pointer. */
  readonly shown: Token | undefined
  /** Whether the logprobs of the prompt are requested. */
  readonly isRequesting: boolean
  /** Selects a token. */
  readonly onChoose: (index: number) => void
  readonly onColumns: (columns: readonly AddedColumn[]) => void
}

/** Shows the card of the selected tokens, the tool calls and the rescoring. */
export function DetailsPane(props: DetailsPaneProps) {
  const { storedKey, state, ratios, shown, isRequesting, onChoose, onColumns } = props
  const { inspection, link } = state
  const { trajectory, view } = inspection
  const { selection } = view
  const scorer = useScorer()
  /** What a branch inserts at a token. It belongs to the card and to the panel of branches, and another token begins without. */
  const [inserted, setInserted] = useState<{ readonly token: number; readonly insertion: Insertion }>()
  // The card is loaded early, so that it appears immediately for the first token under the pointer.
  useEffect(LaterParts.TokenCard.preload, [])
  if (isTextOnly(trajectory))
    return (
      <p className="text-faint text-xs">
        This file has no tokens, so there are none to show here. Its tool calls are among the messages.
      </p>
    )
  const pinned = selection && isSingle(selection) && storedKey !== undefined ? shown : undefined
  const insertion = inserted && inserted.token === pinned?.index ? inserted.insertion : 'nothing'
  const insert = (chosen: Insertion) => pinned && setInserted({ token: pinned.index, insertion: chosen })
  const canChoose = pinned?.segment.kind === 'response' && branchObstacle(trajectory, pinned) === undefined
  return (
    <>
      {ratios.kind === 'shown' && (
        <OutlierList trajectory={trajectory} ratios={ratios.ratios} selected={selection?.focus} onChoose={onChoose} />
      )}
      {ratios.kind === 'loading' && AWAITED}
      <div className={AFTER_AWAITED}>
        {selection && !isSingle(selection) ? (
          <RangeCard inspection={inspection} />
        ) : shown ? (
          <LaterParts.TokenCard
            trajectory={trajectory}
            token={shown}
            state={selection ? 'pinned' : 'pointed'}
            isRequesting={isRequesting}
            choice={
              canChoose
                ? {
                    chosen: typeof insertion === 'number' ? insertion : undefined,
                    onChoose: (id) => insert(id ?? 'nothing'),
                  }
                : undefined
            }
            linkTo={(index) => link({ selection: single(index) })}
          />
        ) : (
          <p className="text-faint text-xs">
            Point at a token to see it here; click to pin it, drag to select several. Arrow keys move, Esc clears the
            selection.
          </p>
        )}
        {pinned && storedKey !== undefined && (
          <BranchPart
            key={pinned.index}
            trajectory={trajectory}
            token={pinned}
            storedKey={storedKey}
            insertion={insertion}
            onInsertion={insert}
            offer={inspection.offer}
            say={inspection.say}
          />
        )}
        <Heading>Tool calls</Heading>
        <ToolCalls trajectory={trajectory} onSelect={onChoose} />
        <LaterParts.VerifyPanel inspection={inspection} scorer={scorer} onColumns={onColumns} />
        {storedKey !== undefined && (scorer.servers?.length ?? 0) > 1 && (
          <p className="mt-2 text-xs">
            <a
              href={compareBothHref(storedKey, storedKey)}
              className="inline-flex min-h-6 items-center font-medium text-accent hover:underline"
            >
              Score on two servers
            </a>
          </p>
        )}
      </div>
    </>
  )
}
