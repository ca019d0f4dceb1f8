'use client'
/** The run that the page shows, alone or as a sample of a group: followed live while it is running, else as stored. */
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

/** The shown run and the state of its connection. */
export interface ShownRun {
  readonly rollout: Rollout
  readonly group: GroupView
  /** Undefined if no run is shown, or until it is known. */
  readonly trajectory: TrajectoryView | undefined
  readonly hasTokens: boolean
  /** Whether the trajectory of the address is being loaded. */
  readonly isLoading: boolean
  readonly isRunning: boolean
  /** The shown sample while it is running. */
  readonly runningSample: SampleRow | undefined
  /** Whether the page waits for the trajectory or its first tokens. */
  readonly isAwaited: boolean
  /** Whether the page waits for the samples of the group. */
  readonly isGroupAwaited: boolean
  /** Why the run cannot be followed or loaded. */
  readonly error: ApiError | undefined
  readonly isConnected: boolean
}

/** Loads and follows the run that the address names. */
export function useDisplayedRun(view: ReturnType<typeof useViewState>): ShownRun {
  const { data: stored, error: loadError } = useQuery(trajectoryOptions(view.key))
  const rollout = useRollout(view.key)
  const group = useGroup(view.group, view.key)

  // The address of a single sample also shows the other samples of its group.
  const foundGroup = stored && view.group === undefined ? groupOf(stored) : undefined
  const showGroup = useEffectEvent(
    (id: string) => view.key !== undefined && view.setSample({ key: view.key, group: id }, 'replace'),
  )
  useEffect(() => {
    if (foundGroup !== undefined) showGroup(foundGroup)
  }, [foundGroup])
  // The address of a group without a sample shows its first sample.
  const firstOfGroup = view.key === undefined ? group.rows[0]?.key : undefined
  const showFirst = useEffectEvent(
    (key: string) => view.group !== undefined && view.setSample({ key, group: view.group }, 'replace'),
  )
  useEffect(() => {
    if (firstOfGroup !== undefined) showFirst(firstOfGroup)
  }, [firstOfGroup])
  // After a reload during a run, the stored trajectory names the rollout that writes it. A group is followed as a whole,
  // which does not report a sample that continues by itself.
  const writing = stored?.outcome.kind === 'running' ? stored.outcome.rolloutId : undefined
  const rolloutOfSample = group.rolloutOf(view.key)
  const isFollowedAlone =
    foundGroup === undefined &&
    (group.state === 'none' ||
      group.state === 'ended' ||
      (rolloutOfSample !== undefined && rolloutOfSample !== writing))
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
  const isLoading = view.key !== undefined && trajectory === undefined && !loadError
  return {
    rollout,
    group,
    trajectory,
    hasTokens: trajectory !== undefined && segmentsOf(trajectory).length > 0,
    isLoading,
    isRunning,
    runningSample,
    isAwaited:
      isRunning ||
      (view.key !== undefined && !stored && !loadError) ||
      (view.key === undefined && group.state === 'unknown'),
    isGroupAwaited: (view.group ?? foundGroup) !== undefined && group.rows.length === 0 && group.error === undefined,
    error: (state.kind === 'failed' ? state.error : undefined) ?? apiErrorIn(group.error) ?? apiErrorIn(loadError),
    isConnected: group.isConnected && (state.kind !== 'following' || state.isConnected),
  }
}

const groupOf = ({ group, provenance }: TrajectoryView): string | undefined =>
  provenance.kind === 'import' ? undefined : group?.id

const apiErrorIn = (error: Error | null | undefined): ApiError | undefined =>
  error instanceof ApiError ? error : undefined
