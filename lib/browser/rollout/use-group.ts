'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'
import type { Group, ServerRefusal } from '#lib/api/group.ts'
import { progressOf, type SampleRow } from '#lib/api/sample-progress.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { fetchJson } from '../api.ts'
import { groupOptions, STORED_TRAJECTORIES, TRAJECTORIES, trajectoryOptions } from '../queries.ts'
import { requestCancel } from './cancel.ts'
import { createGroupStore, type GroupState, type LiveSample } from './group-store.ts'

/** The group of a page, whether followed or stored. */
export interface GroupView {
  /** The samples by index; empty if no group is open, or while it is being requested. */
  readonly rows: readonly SampleRow[]
  readonly rule: RewardRule | null
  /** Servers that refused the request before the run. */
  readonly refused: readonly ServerRefusal[]
  /** Trajectory of the shown sample while the group is followed. */
  readonly trajectory: TrajectoryView | undefined
  /** `unknown` means that the group is being requested. */
  readonly state: 'none' | 'unknown' | 'following' | 'ended'
  readonly isConnected: boolean
  readonly error: Error | undefined
  /** Starts a group and follows it. Throws ApiError, or the signal’s reason. */
  start(request: object, signal: AbortSignal): Promise<{ readonly groupId: string; readonly firstKey: string }>
  /** Stops a sample. Throws ApiError. */
  stop(row: SampleRow): Promise<void>
  /** Stops all samples. Throws ApiError. */
  stopAll(): Promise<void>
  /** Changes the reward rule of the group. Throws ApiError. */
  changeReward(rule: RewardRule | undefined): Promise<void>
  /** Returns the rollout of a sample while the group is followed; undefined until it has begun. */
  rolloutOf(key: string | undefined): string | undefined
  /** Stops showing the group's events of a sample that continues by itself. */
  leaveOut(key: string): void
  reset(): void
}

/** Follows the group of a page. `groupId` is the shown group; `key` is its shown sample. */
export function useGroup(groupId: string | undefined, key: string | undefined): GroupView {
  const [store] = useState(() => createGroupStore((action) => requestAnimationFrame(action)))
  const all = useSyncExternalStore(store.subscribe, store.state, store.state)
  const live = all.kind !== 'idle' && all.groupId === groupId ? all : IDLE
  const cache = useQueryClient()
  const { data: group, error } = useQuery(groupOptions(groupId))
  const shownIndex = indexOf(group, key)

  // After a reload during the run, the group is followed again.
  const catchUp = useEffectEvent((found: Group) => {
    if (all.kind === 'idle' && found.isRunning) store.follow(found.groupId, lastIndex(found) + 1)
  })
  useEffect(() => {
    if (group) catchUp(group)
  }, [group])
  useEffect(() => store.show(shownIndex), [store, shownIndex])
  useEffect(() => {
    const followed = store.state()
    if (followed.kind !== 'idle' && followed.groupId !== groupId) store.reset()
  }, [store, groupId])
  useEffect(() => () => store.reset(), [store])
  const settle = useEffectEvent(async (ended: Exclude<GroupState, { kind: 'idle' | 'following' }>) => {
    if (ended.kind === 'ended' && key !== undefined && ended.trajectory)
      cache.setQueryData(trajectoryOptions(key).queryKey, ended.trajectory)
    // The followed trajectory lacks its reward, so it is read again.
    void cache.invalidateQueries({ queryKey: STORED_TRAJECTORIES })
    void cache.invalidateQueries({ queryKey: TRAJECTORIES })
    // The stored group says how it ended, and is read from here on.
    await cache.invalidateQueries({ queryKey: groupOptions(ended.groupId).queryKey })
    if (store.state() === ended && ended.kind === 'ended') store.reset()
  })
  useEffect(() => {
    if (all.kind === 'ended' || all.kind === 'unavailable') void settle(all)
  }, [all])

  const address = `/api/groups/${encodeURIComponent(groupId ?? '')}`
  return {
    rows: group ? rowsOf(group, 'samples' in live ? live.samples : []) : [],
    rule: group?.reward ?? null,
    refused: group?.refused ?? [],
    trajectory: 'trajectory' in live ? live.trajectory : undefined,
    state:
      groupId === undefined ? 'none' : live.kind === 'following' ? 'following' : group || error ? 'ended' : 'unknown',
    isConnected: live.kind !== 'following' || live.isConnected,
    error: live.kind === 'unavailable' ? (live.error ?? error ?? undefined) : (error ?? undefined),
    async start(request, signal) {
      const { groupStartedSchema } = await import('#lib/api/group.ts')
      const started = await fetchJson('/api/groups', groupStartedSchema, { method: 'POST', json: request, signal })
      store.follow(started.groupId, started.samples.length)
      await cache.fetchQuery(groupOptions(started.groupId))
      return { groupId: started.groupId, firstKey: started.samples[0]?.trajectoryId ?? '' }
    },
    async stop({ rolloutId }) {
      if (rolloutId !== undefined) await requestCancel('rollouts', rolloutId)
    },
    async stopAll() {
      await requestCancel('groups', groupId ?? '')
    },
    async changeReward(rule) {
      const { groupSchema } = await import('#lib/api/group.ts')
      const options = { method: 'PUT', json: { reward: rule ?? null } }
      const changed = await fetchJson(`${address}/reward`, groupSchema, options)
      cache.setQueryData(groupOptions(groupId).queryKey, changed)
      void cache.invalidateQueries({ queryKey: STORED_TRAJECTORIES })
      void cache.invalidateQueries({ queryKey: TRAJECTORIES })
    },
    rolloutOf: (wanted) => ('samples' in live ? live.samples[indexOf(group, wanted) ?? -1]?.rolloutId : undefined),
    leaveOut(left) {
      const index = indexOf(group, left)
      if (index === undefined) return
      if ('trajectory' in live && left === key && live.trajectory)
        cache.setQueryData(trajectoryOptions(left).queryKey, live.trajectory)
      store.leaveOut(index)
    },
    reset: store.reset,
  }
}

const IDLE: GroupState = { kind: 'idle' }

const indexOf = (group: Group | undefined, key: string | undefined): number | undefined =>
  group?.samples.find((sample) => sample.key === key)?.group?.index

const lastIndex = ({ samples }: Group): number => Math.max(...samples.map(({ group }) => group?.index ?? 0))

const rowsOf = (group: Group, live: readonly LiveSample[]): readonly SampleRow[] =>
  group.samples.map((row, place) => {
    const index = row.group?.index ?? place
    const liveSample = live[index]
    // A group that was read after its end has rewards that were given since.
    const scored = row.outcomeKind === 'running' ? liveSample?.scored : undefined
    return {
      index,
      key: row.key,
      server: row.group?.server,
      rolloutId: liveSample && liveSample.progress.state !== 'ended' ? liveSample.rolloutId : undefined,
      progress: liveSample?.progress ?? progressOf(row),
      reward: scored ? scored.reward : row.reward,
      rewardWhy: scored ? scored.why : row.rewardWhy,
    }
  })
