'use client'
/** The first token of a call that differs from another call. */
import { useQuery } from '@tanstack/react-query'
import { countText } from '#components/token-view/numbers.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'

interface FirstDifferingTokenProps {
  /** Key of the trajectory of a call. */
  readonly own: string
  /** Key of the trajectory of the other call. */
  readonly other: string
}

/** Names the first token at which the trajectories of two calls differ, if any does; shows nothing until both are known. */
export function FirstDifferingToken({ own, other }: FirstDifferingTokenProps) {
  const { data: ownTrajectory } = useQuery(trajectoryOptions(own))
  const { data: otherTrajectory } = useQuery(trajectoryOptions(other))
  if (!ownTrajectory || !otherTrajectory) return null
  const [ownIds, otherIds] = [ids(ownTrajectory), ids(otherTrajectory)]
  const position = commonIds(ownIds, otherIds)
  const isSame = position === ownIds.length && position === otherIds.length
  return (
    <span className="ml-auto text-dim">
      {isSame ? 'the same tokens' : `first difference at token ${countText(position)}`}
    </span>
  )
}
