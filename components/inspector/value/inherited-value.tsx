'use client'
/** The value estimates of the trajectories from which a branch was forked, on the page of the branch. */
import { useQuery } from '@tanstack/react-query'
import { tokenHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText } from '#components/token-view/numbers.ts'
import type { ValueCliff, ValueEstimate, ValueEstimates } from '#lib/api/forest/value.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { cliffEvidence, cliffText } from './value-text.ts'

/** An estimate of a trajectory from which the shown one was forked. */
export type InheritedEstimate = ValueEstimates['inherited'][number]

/** Returns the name of the trajectory that an estimate belongs to, as the list of branches names it. */
export const originText = ({ fork }: InheritedEstimate): string =>
  fork === null ? 'main' : `the branch at ${countText(fork)}`

/**
 * Returns the part of an estimate that is also valid for a branch with this number of tokens: the positions before which all tokens are
 * shared, and the drop if it is between two of them.
 */
export function sharedPart(
  estimate: ValueEstimate,
  { shared }: Pick<InheritedEstimate, 'shared'>,
  tokens: number,
): ValueEstimate {
  const points = estimate.points.filter(({ at }) => at <= shared && at < tokens)
  const isShared = ({ to }: ValueCliff) => points.some(({ at }) => at === to)
  return { ...estimate, points, cliff: estimate.cliff && isShared(estimate.cliff) ? estimate.cliff : null }
}

interface DropAfterForkProps {
  readonly estimate: ValueEstimate
  readonly cliff: ValueCliff
  readonly inherited: InheritedEstimate
}

/** Names the drop of the other trajectory if the branch leaves it before the end of the drop, and links to its token there. */
export function DropAfterFork({ estimate, cliff, inherited }: DropAfterForkProps) {
  const { data: other } = useQuery(trajectoryOptions(inherited.key))
  return (
    <p role="status" className="min-h-5 text-xs tabular-nums">
      {other && (
        <>
          <Link
            href={tokenHref(inherited.key, cliff.from)}
            className="font-semibold text-sm underline decoration-1 underline-offset-2"
          >
            {cliffText(other, cliff)} of {originText(inherited)}
          </Link>{' '}
          <span className="text-dim">
            {cliffEvidence(estimate, cliff)}. This branch leaves {originText(inherited)} at token{' '}
            {countText(inherited.shared)}.
          </span>
        </>
      )}
    </p>
  )
}
