'use client'
/** Changes stored trajectories, and updates the cached lists and trajectories. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { summarySchema, type TrajectoryPage, type TrajectorySummary } from '#lib/api/library.ts'
import { changedLabels, type LabelChange } from '#lib/trajectory/format/labels.ts'
import { ApiError, CHANGE_MS, callApi, fetchJson } from '../api.ts'
import { TRAJECTORIES, trajectoryOptions } from '../queries.ts'
import { tellOtherWindows } from './other-windows.ts'
import { forgetRemoved, keepRemoval } from './removals.ts'
import { REVISION, showStoredLabels } from './shown-labels.ts'

/** Actions on stored trajectories. */
export interface Library {
  /** Throws ApiError. */
  label(key: string, change: LabelChange): Promise<void>
  remove(keys: readonly string[]): Promise<Settled>
  restore(keys: readonly string[]): Promise<Settled>
}

/** Result for several trajectories: a refused one does not stop the others. */
interface Settled {
  readonly done: readonly string[]
  readonly refused: readonly { readonly key: string; readonly error: ApiError }[]
}

/** Returns the actions on stored trajectories. */
export function useLibrary(): Library {
  const cache = useQueryClient()
  return {
    async label(key, change) {
      const row = await fetchJson(addressOf(key), summarySchema, {
        method: 'PATCH',
        json: change,
        limitMs: CHANGE_MS,
      })
      await showStoredLabels(cache, key, (labels) => changedLabels(labels, change))
      await putRow(cache, row)
    },
    async remove(keys) {
      // The deletion is kept immediately, so that it can be undone before the server answers.
      keepRemoval({ keys, at: Date.now() })
      const settled = await settle(keys, deleteTrajectory)
      forgetRemoved(settled.refused.map(({ key }) => key))
      for (const key of settled.done) cache.removeQueries({ queryKey: trajectoryOptions(key).queryKey })
      tellOtherWindows()
      await cache.invalidateQueries({ queryKey: TRAJECTORIES })
      return settled
    },
    async restore(keys) {
      const settled = await settle(keys, (key) =>
        callApi(`${addressOf(key)}/restore`, { method: 'POST', limitMs: CHANGE_MS }),
      )
      for (const key of keys) {
        void cache.invalidateQueries({ queryKey: trajectoryOptions(key).queryKey })
        // A page that reports the deletion follows the trajectory again.
        void cache.resetQueries({ queryKey: [...REVISION, key] })
      }
      const gone = settled.refused.filter(({ error }) => error.status === 404).map(({ key }) => key)
      forgetRemoved([...settled.done, ...gone])
      tellOtherWindows()
      await cache.invalidateQueries({ queryKey: TRAJECTORIES })
      return settled
    },
  }
}

const addressOf = (key: string): string => `/api/trajectories/${encodeURIComponent(key)}`

/** Deletes a trajectory. One that another window has deleted is deleted, and both windows can undo it. Throws ApiError. */
async function deleteTrajectory(key: string): Promise<void> {
  try {
    await callApi(addressOf(key), { method: 'DELETE', limitMs: CHANGE_MS })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'DELETED')) throw error
  }
}

/** Number of requests at once. Browsers open six connections to a host, and the check that the application answers needs one of them. */
const AT_ONCE = 4

async function settle(keys: readonly string[], call: (key: string) => Promise<unknown>): Promise<Settled> {
  const results: { readonly key: string; readonly error: ApiError | undefined }[] = []
  const rest = keys.entries()
  const callRest = async () => {
    for (const [at, key] of rest) {
      try {
        await call(key)
        results[at] = { key, error: undefined }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        results[at] = { key, error }
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, callRest))
  return {
    done: results.flatMap(({ key, error }) => (error ? [] : [key])),
    refused: results.flatMap(({ key, error }) => (error ? [{ key, error }] : [])),
  }
}

/** Updates a row in place in shown lists, so that it does not move while the user edits it. */
async function putRow(cache: QueryClient, row: TrajectorySummary): Promise<void> {
  await cache.cancelQueries({ queryKey: TRAJECTORIES })
  cache.setQueriesData<TrajectoryPage>(
    { queryKey: TRAJECTORIES, predicate: ({ queryKey }) => typeof queryKey[1] === 'object' },
    (page) => page && { ...page, trajectories: page.trajectories.map((old) => (old.key === row.key ? row : old)) },
  )
  await cache.invalidateQueries({ queryKey: TRAJECTORIES, refetchType: 'none' })
  void cache.invalidateQueries({ queryKey: [...TRAJECTORIES, 'choices'] })
  // The row lacks the rewards of its folded group.
  const { group } = row
  if (group)
    void cache.invalidateQueries({
      queryKey: TRAJECTORIES,
      predicate: ({ state }) =>
        (state.data as TrajectoryPage | undefined)?.groups?.some(({ id }) => id === group.id) === true,
    })
}
