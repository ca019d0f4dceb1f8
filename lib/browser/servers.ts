/** What only the page of servers asks for: their load, and changes to those that are saved. */
import { queryOptions } from '@tanstack/react-query'
import { serverLoadSchema } from '#lib/api/server-load.ts'
import { type ServerEntry, serverEntrySchema } from '#lib/api/server-status.ts'
import { ApiError, callApi, fetchJson } from './api.ts'

const POLL_LOAD_MS = 2_000

/** Asked again while somebody looks; never of a server that does not tell. */
export const serverLoadOptions = (name: string) =>
  queryOptions({
    queryKey: ['server-load', name],
    queryFn: ({ signal }) => fetchJson(`${pathOf(name)}/load`, serverLoadSchema, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'not-told' ? false : POLL_LOAD_MS),
  })

export interface ServerInput {
  readonly name: string
  readonly baseUrl: string
  /** null: none. Omitted: as before, while the origin stays. */
  readonly apiKey?: string | null
}

/** Throws ApiError; its field is that of the input which is wrong. `replaced`: the name that it has so far; undefined for a new one. */
export async function saveServer(input: ServerInput, replaced: string | undefined): Promise<ServerEntry> {
  return replaced === undefined
    ? fetchJson('/api/servers', serverEntrySchema, { method: 'POST', json: input })
    : fetchJson(pathOf(replaced), serverEntrySchema, { method: 'PUT', json: input })
}

export interface ServerToSave {
  readonly input: ServerInput
  /** As of saveServer. */
  readonly replaced: string | undefined
}

/** One after the other; returns what was refused, by the server's name: the others are saved all the same. */
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

export async function removeServer(name: string): Promise<void> {
  await callApi(pathOf(name), { method: 'DELETE' })
}

const pathOf = (name: string): string => `/api/servers/${encodeURIComponent(name)}`
