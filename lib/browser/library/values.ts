/** Value estimates of a stored trajectory: their list, their start and their end. */
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { type ValueBody, type ValueEstimate, valueEstimateSchema, valueEstimatesSchema } from '#lib/api/forest/value.ts'
import { fetchJson } from '../api.ts'
import { TRAJECTORIES } from '../queries.ts'

const ESTIMATE = 'value-estimate'
const ESTIMATES = 'value-estimates'
const POLL_MS = 1_000

/** Query for the list of the value estimates of a trajectory, and of those that a branch has from others. */
export const valueEstimatesOptions = (key: string) =>
  queryOptions({
    queryKey: [ESTIMATES, key],
    queryFn: ({ signal }) => fetchJson(pathOf(key), valueEstimatesSchema, { signal }),
  })

/** Query for a value estimate, repeated while it runs. */
export const valueEstimateOptions = (id: string) =>
  queryOptions({
    queryKey: [ESTIMATE, id],
    queryFn: ({ signal }): Promise<ValueEstimate> =>
      fetchJson(`/api/values/${encodeURIComponent(id)}`, valueEstimateSchema, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? POLL_MS : false),
  })

/** Starts a value estimate. Throws ApiError. */
export async function startEstimate(key: string, body: ValueBody, client: QueryClient): Promise<ValueEstimate> {
  const estimate = await fetchJson(pathOf(key), valueEstimateSchema, { method: 'POST', json: body })
  await showEstimate(estimate, client)
  return estimate
}

/** Stops a value estimate, or samples what is missing of it. Throws ApiError. */
export async function changeEstimate(id: string, change: 'cancel' | 'resume', client: QueryClient): Promise<void> {
  const path = `/api/values/${encodeURIComponent(id)}/${change}`
  await showEstimate(await fetchJson(path, valueEstimateSchema, { method: 'POST' }), client)
}

async function showEstimate(estimate: ValueEstimate, client: QueryClient): Promise<void> {
  client.setQueryData(valueEstimateOptions(estimate.id).queryKey, estimate)
  await Promise.all([
    // The branches of the trajectory show its estimates too.
    client.invalidateQueries({ queryKey: [ESTIMATES] }),
    client.invalidateQueries({ queryKey: TRAJECTORIES }),
  ])
}

const pathOf = (key: string): string => `/api/trajectories/${encodeURIComponent(key)}/value`
