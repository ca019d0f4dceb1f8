/** Lists of stored trajectories, and what they can be filtered by. */
import { queryOptions } from '@tanstack/react-query'
import { choicesSchema, type ListSort, pageSchema, type TrajectoryPage } from '#lib/api/library.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { fetchJson } from '../api.ts'
import { TRAJECTORIES } from '../queries.ts'

/** Of GET /api/trajectories. */
export interface TrajectoriesQuery {
  readonly q?: string
  readonly outcome?: string
  readonly tag?: string
  readonly source?: string
  readonly health?: string
  /** The id of a group of samples. */
  readonly group?: string
  readonly groups?: 'folded'
  /** The most tokens that the trainer takes. */
  readonly cut?: number
  readonly overlong?: TrainerCut['overlong']
  readonly sort?: ListSort['by']
  readonly order?: ListSort['order']
  readonly limit: number
  readonly cursor?: string
}

const POLL_RUNNING_MS = 3_000
/** The server checks what it has stored since. */
const POLL_UNCHECKED_MS = 700

/** Throws ApiError. */
export async function listTrajectories(query: TrajectoriesQuery, signal: AbortSignal): Promise<TrajectoryPage> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return fetchJson(`/api/trajectories?${search}`, pageSchema, { signal })
}

/** Asked again soon while one in it is running, or not checked yet. */
export const trajectoriesOptions = (query: TrajectoriesQuery) =>
  queryOptions({
    queryKey: [...TRAJECTORIES, query],
    queryFn: ({ signal }) => listTrajectories(query, signal),
    refetchInterval: ({ state }) =>
      state.data?.trajectories.some(({ outcomeKind, health }) => outcomeKind !== 'running' && health === null)
        ? POLL_UNCHECKED_MS
        : state.data?.trajectories.some(({ outcomeKind }) => outcomeKind === 'running') ||
            state.data?.groups?.some(({ running }) => running > 0)
          ? POLL_RUNNING_MS
          : false,
  })

export const choicesOptions = () =>
  queryOptions({
    queryKey: [...TRAJECTORIES, 'choices'],
    queryFn: ({ signal }) => fetchJson('/api/library', choicesSchema, { signal }),
  })
