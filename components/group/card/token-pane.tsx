'use client'
import { useEffect } from 'react'
import { tokenHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { LinkButton } from '#components/shell/link-button.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { Trajectories } from '../tree/use-trajectories.ts'
import { type SampleTree, splitBefore, type TreeSpot } from '../tree.ts'
import { SplitCard } from './split-card.tsx'

const loadTokenCard = () => import('#components/token-view/card/token-card.tsx')
const TokenCard = lazyPart(async () => (await loadTokenCard()).TokenCard)

interface TokenPaneProps {
  readonly tree: SampleTree
  readonly trajectories: Trajectories
  readonly pinned: TreeSpot | undefined
  readonly pointed: TreeSpot | undefined
  readonly farthest: number
  readonly onSample: (sample: number) => void
  readonly link: () => string
}

/** Shows the card of the pinned token, or of the one under the pointer, and the branches of its split. */
export function TokenPane({ tree, trajectories, pinned, pointed, farthest, onSample, link }: TokenPaneProps) {
  // The card is loaded early, so that it appears immediately for the first token.
  useEffect(() => {
    loadTokenCard().catch(() => {})
  }, [])
  const spot = pinned ?? pointed
  const branch = spot && tree.branches[spot.branch]
  const sample = branch && tree.forest.samples[branch.sample]
  if (!spot || !branch || !sample)
    return (
      <p className="text-faint text-xs">
        Point at a token to see it here; click to pin it. Press d for the decisive token, ] and [ for the next and the
        previous split.
      </p>
    )
  const trajectory = trajectories.get(branch.sample)
  const token = trajectory && tokenAt(trajectory, spot.token)
  const split = spot.token === branch.start ? splitBefore(tree, branch) : undefined
  const { decisive, splits } = tree.forest
  const isDecisive = split !== undefined && decisive !== null && splits[decisive.split] === split
  return (
    <div className="flex flex-col">
      {isDecisive && (
        <p className="mb-2 self-start rounded-full bg-accent-soft px-2 py-0.5 font-medium text-accent text-xs">
          {decisive.isSignificant ? 'decisive' : 'largest difference, may be chance'}
        </p>
      )}
      {trajectory && token ? (
        <TokenCard trajectory={trajectory} token={token} state={pinned ? 'pinned' : 'pointed'} linkTo={link} />
      ) : (
        <p role="status" className="text-faint text-xs">
          Loading sample {branch.sample + 1}…
        </p>
      )}
      {split && (
        // In the sheet of a narrow window the branches are first.
        <div className={`max-lg:-order-1 ${token ? '' : 'lg:invisible'}`}>
          <SplitCard forest={tree.forest} split={split} farthest={farthest} onSample={onSample} />
        </div>
      )}
      {pinned && (
        <section aria-label="Branch here" className={`mt-5 ${token ? '' : 'invisible'}`}>
          <Heading>Branch here</Heading>
          <LinkButton href={tokenHref(sample.row.key, spot.token)}>
            Branch sample {branch.sample + 1} at token {countText(spot.token)}
          </LinkButton>
          <p className="mt-1.5 text-faint text-xs">
            The inspector opens with this token selected. It resamples from here, inserts another token or a text.
          </p>
        </section>
      )}
    </div>
  )
}
