/** Changes to the saved servers. Each throws ApiError; its field is that of the input which is wrong. */
import { type ServerEntry, serverEntrySchema } from '#lib/core/servers.ts'
import { callApi } from './api.ts'

export interface ServerInput {
  readonly name: string
  readonly baseUrl: string
  /** null: none. Omitted: as before, while the origin stays. */
  readonly apiKey?: string | null
}

/** `replaced`: the name that it has so far; undefined for a new one. */
export async function saveServer(input: ServerInput, replaced: string | undefined): Promise<ServerEntry> {
  const answer =
    replaced === undefined
      ? await callApi('/api/servers', { method: 'POST', json: input })
      : await callApi(pathOf(replaced), { method: 'PUT', json: input })
  return serverEntrySchema.parse(await answer.json())
}

export async function removeServer(name: string): Promise<void> {
  await callApi(pathOf(name), { method: 'DELETE' })
}

const pathOf = (name: string): string => `/api/servers/${encodeURIComponent(name)}`
