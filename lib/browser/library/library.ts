/** Lists stored trajectories, and the values by which they can be filtered. */
import { queryOptions } from '@tanstack/react-query'
import { filterChoicesSchema, type ListSort, pageSchema, type TrajectoryPage } from '#lib/api/library.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { fetchJson } from '../api.ts'
import { TRAJECTORIES } from '../queries.ts'

/** Query of GET /api/trajectories. */
export interface TrajectoriesQuery {
  readonly q?: string
  readonly outcome?: string
  readonly tag?: string
  readonly source?: string
  readonly health?: string
  /** Id of a group of samples. */
  readonly group?: string
  readonly groups?: 'folded'
  /** Leaves out the samples of value estimates. */
  readonly estimates?: 'hidden'
  /** Largest number of tokens of a sample for the trainer. */
  readonly cut?: number
  readonly overlong?: TrainerCut['overlong']
  readonly sort?: ListSort['by']
  readonly order?: ListSort['order']
  readonly limit: number
  readonly cursor?: string
}

const POLL_RUNNING_MS = 3_000
/** Milliseconds between requests while the server checks trajectories that were stored recently. */
const POLL_UNCHECKED_MS = 700

/** Returns a page of the list. Throws ApiError. */
export async function listTrajectories(query: TrajectoriesQuery, signal: AbortSignal): Promise<TrajectoryPage> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return fetchJson(`/api/trajectories?${search}`, pageSchema, { signal })
}

/** Query for the latest trajectories that somebody made, without the many samples of value estimates. */
export const latestTrajectoriesOptions = (limit: number) => trajectoriesOptions({ limit, estimates: 'hidden' })

/** Query for a page of the list, which is repeated soon while a trajectory in it runs or is unchecked. */
export const trajectoriesOptions = (query: TrajectoriesQuery) =>
  queryOptions({
    queryKey: [...TRAJECTORIES, query],
    queryFn: ({ signal }) => listTrajectories(query, signal),
    // Another page may have changed titles and tags: a user who returns to the window sees that.
    refetchOnWindowFocus: 'always',
    refetchInterval: ({ state }) =>
      state.data?.trajectories.some(({ outcomeKind, health }) => outcomeKind !== 'running' && health === null)
        ? POLL_UNCHECKED_MS
        : state.data?.trajectories.some(({ outcomeKind }) => outcomeKind === 'running') ||
            state.data?.groups?.some(({ running }) => running > 0)
          ? POLL_RUNNING_MS
          : false,
  })

/** Query for the values of the filters. */
export const choicesOptions = () =>
  queryOptions({
    queryKey: [...TRAJECTORIES, 'choices'],
    queryFn: ({ signal }) => fetchJson('/api/library', filterChoicesSchema, { signal }),
  })
