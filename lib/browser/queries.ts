/** What the pages ask the server for, keyed by what it is. */
import { queryOptions } from '@tanstack/react-query'
import { capabilitiesSchema } from '#lib/api/capabilities.ts'
import { serverListSchema, serverStatusSchema } from '#lib/api/server-status.ts'
import { tokenizersSchema } from '#lib/api/tokenizer-download.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { fetchJson } from './api.ts'
import { reader } from './workers/reader.ts'

const POLL_STARTING_MS = 1_000
const POLL_READY_MS = 30_000

export const serversOptions = () =>
  queryOptions({
    queryKey: ['servers'],
    queryFn: ({ signal }) => fetchJson('/api/servers', serverListSchema, { signal }),
  })

/** Asked again soon while a server starts or is away, seldom when it is there. */
export const serverStatusOptions = (name: string | undefined) =>
  queryOptions({
    queryKey: ['server-status', name],
    queryFn: ({ signal }) =>
      fetchJson(`/api/servers/${encodeURIComponent(name ?? '')}/status`, serverStatusSchema, { signal }),
    enabled: name !== undefined,
    refetchInterval: ({ state }) =>
      state.data?.state === 'ready'
        ? POLL_READY_MS
        : state.data?.state === 'starting'
          ? POLL_STARTING_MS
          : 5 * POLL_STARTING_MS,
  })

const POLL_DOWNLOADS_MS = 300
const askTokenizers = (signal: AbortSignal) => fetchJson('/api/tokenizers', tokenizersSchema, { signal })

/** Names of the tokenizers in the folders of ROLLSCOPE_TOKENIZERS: read anew each time a dialog opens. */
export const tokenizerNamesOptions = () =>
  queryOptions({
    queryKey: ['tokenizer-names'],
    queryFn: async ({ signal }) => (await askTokenizers(signal)).names,
    staleTime: 0,
  })

/** Looked at while a start waits for its answer: it may wait for a download. */
export const downloadsOptions = (isWaiting: boolean) =>
  queryOptions({
    queryKey: ['downloads'],
    queryFn: ({ signal }) => askTokenizers(signal),
    enabled: isWaiting,
    refetchInterval: POLL_DOWNLOADS_MS,
    staleTime: 0,
    gcTime: 0,
  })

export const capabilitiesOptions = () =>
  queryOptions({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => fetchJson('/api/capabilities', capabilitiesSchema, { signal }),
    // What is off may be mended meanwhile: whoever comes back to the window sees it.
    refetchOnWindowFocus: 'always',
  })

/** Begins the key of every list: what is stored, deleted or changed makes them all stale. */
export const TRAJECTORIES = ['trajectories'] as const

/** Begins the key of each trajectory that is read. */
const READ_TRAJECTORY = 'read-trajectory'

/**
 * For every trajectory that is read: what no page shows any more is let go. The moment is for one page handing it to the
 * next.
 */
export const TRAJECTORY_DEFAULTS = {
  queryKey: [READ_TRAJECTORY],
  options: { gcTime: 2_000, structuralSharing: false },
} as const

/** Begins the key of each that is read from the store. */
export const STORED_TRAJECTORIES = [READ_TRAJECTORY, 'stored'] as const

/** A trajectory goes stale only while it is being written: a rollout followed here puts its result in itself. */
export const trajectoryOptions = (key: string | undefined) =>
  queryOptions({
    queryKey: [...STORED_TRAJECTORIES, key],
    queryFn: async ({ signal }): Promise<TrajectoryView> =>
      (await reader.call(`/api/trajectories/${encodeURIComponent(key ?? '')}`, signal)).trajectory,
    enabled: key !== undefined,
    staleTime: ({ state }) => (state.data?.outcome.kind === 'running' ? 0 : Number.POSITIVE_INFINITY),
    ...TRAJECTORY_DEFAULTS.options,
  })

/**
 * Requests the prompt logprobs that a run did not, and shows the trajectory with them. Once for each record of its tokens: what
 * failed is requested again by hand only.
 */
export const promptLogprobsOptions = (key: string | undefined, segmentCount: number) =>
  queryOptions({
    queryKey: ['prompt-logprobs', key, segmentCount],
    queryFn: async ({ client, signal }) => {
      const path = `/api/trajectories/${encodeURIComponent(key ?? '')}/prompt-logprobs`
      const { trajectory } = await reader.call(path, signal, {})
      client.setQueryData(trajectoryOptions(key).queryKey, trajectory)
      return 'stored'
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    retryOnMount: false,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  })

/** Begins the key of every group. */
export const GROUPS = ['group'] as const

/** The samples of a group, as they are stored. */
export const groupOptions = (groupId: string | undefined) =>
  queryOptions({
    queryKey: [...GROUPS, groupId],
    queryFn: async ({ signal }) => {
      // Most pages show no group.
      const { groupSchema } = await import('#lib/api/group.ts')
      return fetchJson(`/api/groups/${encodeURIComponent(groupId ?? '')}`, groupSchema, { signal })
    },
    enabled: groupId !== undefined,
  })

/** An example that comes with the application: a file like any other. */
export const exampleOptions = (name: string | undefined) =>
  queryOptions({
    queryKey: [READ_TRAJECTORY, 'example', name],
    queryFn: async ({ signal }): Promise<TrajectoryView> =>
      (await reader.call(`/examples/${encodeURIComponent(name ?? '')}.json`, signal)).trajectory,
    enabled: name !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    ...TRAJECTORY_DEFAULTS.options,
  })

/** Texts for a trajectory that was imported as ids. Throws ApiError. */
export const chooseTokenizer = async (
  key: string,
  choice: { readonly tokenizer: string; readonly parser?: string },
): Promise<TrajectoryView> => {
  const path = `/api/trajectories/${encodeURIComponent(key)}/tokenizer`
  return (await reader.call(path, new AbortController().signal, choice)).trajectory
}
