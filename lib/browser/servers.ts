/** The load of servers and changes to saved ones, for the page of servers. */
import { queryOptions } from '@tanstack/react-query'
import { serverLoadSchema } from '#lib/api/server-load.ts'
import { type ServerEntry, serverEntrySchema } from '#lib/api/server-status.ts'
import { ApiError, callApi, fetchJson } from './api.ts'

const POLL_LOAD_MS = 2_000

/** Query for the load of a server, repeated while the page is visible unless the server does not report its load. */
export const serverLoadOptions = (name: string) =>
  queryOptions({
    queryKey: ['server-load', name],
    queryFn: ({ signal }) => fetchJson(`${pathOf(name)}/load`, serverLoadSchema, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'not-reported' ? false : POLL_LOAD_MS),
  })

/** A server to save. */
export interface ServerInput {
  readonly name: string
  readonly baseUrl: string
  /** Key of the server; null removes it. Omitted: the saved key stays while the origin does. */
  readonly apiKey?: string | null
}

/** Saves a server. `replaced` is its former name; undefined for a new one. Throws ApiError, whose field is the one of the invalid input. */
export async function saveServer(input: ServerInput, replaced: string | undefined): Promise<ServerEntry> {
  return replaced === undefined
    ? fetchJson('/api/servers', serverEntrySchema, { method: 'POST', json: input })
    : fetchJson(pathOf(replaced), serverEntrySchema, { method: 'PUT', json: input })
}

/** A server to save among several. */
export interface ServerToSave {
  readonly input: ServerInput
  /** Former name, as in saveServer. */
  readonly replaced: string | undefined
}

/** Saves servers one after the other, and returns the errors by the server's name; other servers are saved nevertheless. */
export async function saveServers(servers: readonly ServerToSave[]): Promise<ReadonlyMap<string, ApiError>> {
  const refused = new Map<string, ApiError>()
  for (const { input, replaced } of servers) {
    try {
      await saveServer(input, replaced)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refused.set(input.name, error)
    }
  }
  return refused
}

/** Removes a saved server. Throws ApiError. */
export async function removeServer(name: string): Promise<void> {
  await callApi(pathOf(name), { method: 'DELETE' })
}

const pathOf = (name: string): string => `/api/servers/${encodeURIComponent(name)}`
