'use client'
/** The run that the page shows, by itself or as a sample of a group: followed while it goes on, else as it is stored. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import type { useViewState } from '#components/shell/view-state.ts'
import type { SampleRow } from '#lib/api/sample-progress.ts'
import { ApiError } from '#lib/browser/api.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { type GroupView, useGroup } from '#lib/browser/rollout/use-group.ts'
import { type Rollout, useRollout } from '#lib/browser/rollout/use-rollout.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

export interface ShownRun {
  readonly rollout: Rollout
  readonly group: GroupView
  /** undefined: none is shown, or it is not known yet. */
  readonly trajectory: TrajectoryView | undefined
  readonly hasTokens: boolean
  readonly isRunning: boolean
  /** The sample that is shown, while it runs. */
  readonly runningSample: SampleRow | undefined
  /** What is shown is being asked for, or its first tokens are waited for. */
  readonly isAwaited: boolean
  /** Why it cannot be followed or read. */
  readonly error: ApiError | undefined
  readonly isConnected: boolean
}

export function useShownRun(view: ReturnType<typeof useViewState>): ShownRun {
  const { data: stored, error: loadError } = useQuery(trajectoryOptions(view.key))
  const rollout = useRollout(view.key)
  const group = useGroup(view.group, view.key)

  // Whoever comes by the address of one sample gets those beside it.
  const foundGroup = stored && view.group === undefined ? groupOf(stored) : undefined
  const showGroup = useEffectEvent(
    (id: string) => view.key !== undefined && view.setSample({ key: view.key, group: id }, 'replace'),
  )
  useEffect(() => {
    if (foundGroup !== undefined) showGroup(foundGroup)
  }, [foundGroup])
  // Whoever comes by the address of the group alone gets its first sample.
  const firstOfGroup = view.key === undefined ? group.rows[0]?.key : undefined
  const showFirst = useEffectEvent(
    (key: string) => view.group !== undefined && view.setSample({ key, group: view.group }, 'replace'),
  )
  useEffect(() => {
    if (firstOfGroup !== undefined) showFirst(firstOfGroup)
  }, [firstOfGroup])
  // A reload in mid-run: the stored trajectory names the rollout that is writing it; a group is followed as one, and tells
  // nothing of a sample that goes on by itself.
  const writing = stored?.outcome.kind === 'running' ? stored.outcome.rolloutId : undefined
  const told = group.rolloutOf(view.key)
  const isFollowedAlone =
    foundGroup === undefined &&
    (group.state === 'none' || group.state === 'ended' || (told !== undefined && told !== writing))
  const running = isFollowedAlone ? writing : undefined
  const catchUp = useEffectEvent((rolloutId: string) => rollout.state.kind === 'idle' && rollout.follow(rolloutId))
  useEffect(() => {
    if (running !== undefined) catchUp(running)
  }, [running])

  const runningSample =
    group.state === 'following'
      ? group.rows.find(({ key, progress }) => key === view.key && progress.state !== 'ended')
      : undefined
  const { state } = rollout
  const trajectory = ('trajectory' in state ? state.trajectory : undefined) ?? group.trajectory ?? stored
  const isRunning = state.kind === 'following' || runningSample !== undefined
  return {
    rollout,
    group,
    trajectory,
    hasTokens: trajectory !== undefined && segmentsOf(trajectory).length > 0,
    isRunning,
    runningSample,
    isAwaited:
      isRunning ||
      (view.key !== undefined && !stored && !loadError) ||
      (view.key === undefined && group.state === 'unknown'),
    error: (state.kind === 'failed' ? state.error : undefined) ?? apiErrorIn(group.error) ?? apiErrorIn(loadError),
    isConnected: group.isConnected && (state.kind !== 'following' || state.isConnected),
  }
}

const groupOf = ({ group, provenance }: TrajectoryView): string | undefined =>
  provenance.kind === 'import' ? undefined : group?.id

const apiErrorIn = (error: Error | null | undefined): ApiError | undefined =>
  error instanceof ApiError ? error : undefined
