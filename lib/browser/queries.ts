/** Queries of most pages to the server, keyed by their content. Every page loads this file, so it has no schema that only some need. */
import { queryOptions } from '@tanstack/react-query'
import { serverListSchema, serverStatusSchema } from '#lib/api/server-status.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { fetchJson } from './api.ts'
import { readExample } from './library/read-example.ts'
import { pageReader } from './page-reader.ts'

const POLL_STARTING_MS = 1_000
const POLL_MS = 5_000
const POLL_READY_MS = 30_000
const POLL_RUNNING_MS = 2_000

/** Query for the list of servers, which another window or a script may change while the page is open. */
export const serversOptions = () =>
  queryOptions({
    queryKey: ['servers'],
    queryFn: ({ signal }) => fetchJson('/api/servers', serverListSchema, { signal }),
    refetchInterval: POLL_MS,
  })

/** Query for the state of a server: repeated soon while it starts or does not answer, rarely while it is ready. */
export const serverStatusOptions = (name: string | undefined) =>
  queryOptions({
    queryKey: ['server-status', name],
    queryFn: ({ signal }) =>
      fetchJson(`/api/servers/${encodeURIComponent(name ?? '')}/status`, serverStatusSchema, { signal }),
    enabled: name !== undefined,
    refetchInterval: ({ state }) =>
      state.data?.state === 'ready' ? POLL_READY_MS : state.data?.state === 'starting' ? POLL_STARTING_MS : POLL_MS,
  })

/** Query for the state of a server whose engine is needed. It is sent once, because the engine stays the same while the page is open. */
export const knownStatusOptions = (name: string | undefined) => ({
  ...serverStatusOptions(name),
  refetchInterval: false as const,
  staleTime: Number.POSITIVE_INFINITY,
})

/** Beginning of the key of every list: a trajectory that is stored, deleted or changed makes all lists stale. */
export const TRAJECTORIES = ['trajectories'] as const

/** Beginning of the key of every trajectory. */
const READ_TRAJECTORY = 'read-trajectory'

/** Defaults of every trajectory: it leaves memory when no page shows it. The delay is for one page that hands it to the next. */
export const TRAJECTORY_DEFAULTS = {
  queryKey: [READ_TRAJECTORY],
  options: { gcTime: 2_000, structuralSharing: false },
} as const

/** Beginning of the key of every stored trajectory. */
export const STORED_TRAJECTORIES = [READ_TRAJECTORY, 'stored'] as const

/**
 * Query for a stored trajectory. It becomes stale only while it is written: a rollout that this page follows puts its result into the cache
 * itself.
 */
export const trajectoryOptions = (key: string | undefined) =>
  queryOptions({
    queryKey: [...STORED_TRAJECTORIES, key],
    queryFn: async ({ signal }): Promise<TrajectoryView> =>
      pageReader.call(`/api/trajectories/${encodeURIComponent(key ?? '')}`, signal),
    enabled: key !== undefined,
    staleTime: ({ state }) => (state.data?.outcome.kind === 'running' ? 0 : Number.POSITIVE_INFINITY),
    ...TRAJECTORY_DEFAULTS.options,
  })

/** Query for a stored trajectory that is read again while it is running. The playground shows each token as it arrives instead. */
export const followedTrajectoryOptions = (key: string | undefined) =>
  queryOptions({
    ...trajectoryOptions(key),
    refetchInterval: ({ state }) => (state.data?.outcome.kind === 'running' ? POLL_RUNNING_MS : false),
  })

/**
 * Query for prompt logprobs that a run did not request; it also shows the trajectory with them. It runs once for each record of the tokens:
 * a failed request is repeated only by hand.
 */
export const promptLogprobsOptions = (key: string | undefined, segmentCount: number) =>
  queryOptions({
    queryKey: ['prompt-logprobs', key, segmentCount],
    queryFn: async ({ client, signal }) => {
      const path = `/api/trajectories/${encodeURIComponent(key ?? '')}/prompt-logprobs`
      const trajectory = await pageReader.call(path, signal, {})
      client.setQueryData(trajectoryOptions(key).queryKey, trajectory)
      return 'stored'
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    retryOnMount: false,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  })

/** Repairs a stored trajectory, or undoes a repair, and returns it. Throws ApiError. */
export const repairTrajectory = async (
  key: string,
  choice: { readonly name: string; readonly undo?: true },
): Promise<TrajectoryView> => {
  const path = `/api/trajectories/${encodeURIComponent(key)}/repairs`
  return pageReader.call(path, new AbortController().signal, choice)
}

/** Beginning of the key of every group. */
export const GROUPS = ['group'] as const

/** Query for the stored samples of a group. */
export const groupOptions = (groupId: string | undefined) =>
  queryOptions({
    queryKey: [...GROUPS, groupId],
    queryFn: async ({ signal }) => {
      // Most pages show no group, so the schema is loaded on its first use.
      const { groupSchema } = await import('#lib/api/group.ts')
      return fetchJson(`/api/groups/${encodeURIComponent(groupId ?? '')}`, groupSchema, { signal })
    },
    enabled: groupId !== undefined,
  })

/** Query for how far the samples of the servers of a group agree; without a reference, with the first server. */
export const serverComparisonOptions = (groupId: string, reference: string | undefined) =>
  queryOptions({
    queryKey: [...GROUPS, groupId, 'servers', reference],
    queryFn: async ({ signal }) => {
      const { serverComparisonSchema } = await import('#lib/api/engine/server-comparison.ts')
      const query = reference === undefined ? '' : `?${new URLSearchParams({ reference })}`
      const path = `/api/groups/${encodeURIComponent(groupId)}/servers${query}`
      return fetchJson(path, serverComparisonSchema, { signal })
    },
  })

/** Query for an example that comes with the application. */
export const exampleOptions = (name: string | undefined) =>
  queryOptions({
    queryKey: [READ_TRAJECTORY, 'example', name],
    queryFn: async ({ signal }): Promise<TrajectoryView> => readExample(pageReader, name ?? '', signal),
    enabled: name !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    ...TRAJECTORY_DEFAULTS.options,
  })
