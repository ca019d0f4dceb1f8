/** What the pages ask the server for, keyed by what it is. */
import { queryOptions } from '@tanstack/react-query'
import * as z from 'zod'
import { decodeValue } from '#lib/core/codec.ts'
import { violationText } from '#lib/core/schema-violation.ts'
import { serverEntrySchema, serverStatusSchema } from '#lib/core/server-status.ts'
import { downloadSchema } from '#lib/core/tokenizer-download.ts'
import { schemas, type Trajectory } from '#lib/core/trajectory.ts'
import { ApiError, callApi } from './api.ts'

const serversSchema = z.object({ servers: z.array(serverEntrySchema), default: z.string() })

const capabilitiesSchema = z.object({
  parsers: z.array(z.string()),
  defaultParser: z.string(),
  tools: z.array(schemas.toolSpec),
  toolTimeoutMs: z.number(),
})

const POLL_STARTING_MS = 1_000
const POLL_READY_MS = 30_000

export const serversOptions = () =>
  queryOptions({
    queryKey: ['servers'],
    queryFn: async ({ signal }) => serversSchema.parse(await (await callApi('/api/servers', { signal })).json()),
  })

/** Asked again soon while a server starts or is away, seldom when it is there. */
export const serverStatusOptions = (name: string | undefined) =>
  queryOptions({
    queryKey: ['server-status', name],
    queryFn: async ({ signal }) =>
      serverStatusSchema.parse(
        await (await callApi(`/api/servers/${encodeURIComponent(name ?? '')}/status`, { signal })).json(),
      ),
    enabled: name !== undefined,
    refetchInterval: ({ state }) =>
      state.data?.state === 'ready'
        ? POLL_READY_MS
        : state.data?.state === 'starting'
          ? POLL_STARTING_MS
          : 5 * POLL_STARTING_MS,
  })

const POLL_DOWNLOADS_MS = 300
const downloadsSchema = z.object({ downloads: z.array(downloadSchema) })

/** Looked at while a start waits for its answer: it may wait for a download. */
export const downloadsOptions = (isWaiting: boolean) =>
  queryOptions({
    queryKey: ['downloads'],
    queryFn: async ({ signal }) => downloadsSchema.parse(await (await callApi('/api/tokenizers', { signal })).json()),
    enabled: isWaiting,
    refetchInterval: POLL_DOWNLOADS_MS,
    staleTime: 0,
    gcTime: 0,
  })

export const capabilitiesOptions = () =>
  queryOptions({
    queryKey: ['capabilities'],
    queryFn: async ({ signal }) =>
      capabilitiesSchema.parse(await (await callApi('/api/capabilities', { signal })).json()),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Begins the key of every list: what is stored, deleted or changed makes them all stale. */
export const TRAJECTORIES = ['trajectories'] as const

/** A trajectory goes stale only while it is being written: a rollout followed here puts its result in itself. */
export const trajectoryOptions = (key: string | undefined) =>
  queryOptions({
    queryKey: ['trajectory', key],
    queryFn: async ({ signal }): Promise<Trajectory> =>
      opened(await (await callApi(`/api/trajectories/${encodeURIComponent(key ?? '')}`, { signal })).json()),
    enabled: key !== undefined,
    staleTime: ({ state }) => (state.data?.outcome.kind === 'running' ? 0 : Number.POSITIVE_INFINITY),
    structuralSharing: false,
  })

/** An example that comes with the application: a file like any other. */
export const exampleOptions = (name: string | undefined) =>
  queryOptions({
    queryKey: ['example', name],
    queryFn: async ({ signal }): Promise<Trajectory> =>
      opened(await (await callApi(`/examples/${encodeURIComponent(name ?? '')}.json`, { signal })).json()),
    enabled: name !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })

/** Texts for a trajectory that was imported as ids. Throws ApiError. */
export const chooseTokenizer = async (
  key: string,
  choice: { readonly tokenizer: string; readonly parser?: string },
): Promise<Trajectory> =>
  opened(
    await (
      await callApi(`/api/trajectories/${encodeURIComponent(key)}/tokenizer`, { method: 'POST', json: choice })
    ).json(),
  )

function opened(value: unknown): Trajectory {
  const decoded = decodeValue(value)
  if (!decoded.ok)
    throw new ApiError(200, 'BAD_TRAJECTORY', `the trajectory cannot be read: ${violationText(decoded.error)}`)
  return decoded.trajectory
}
