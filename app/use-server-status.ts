'use client'
import { useQuery } from '@tanstack/react-query'
import type { ShownStatus } from '#components/servers/server-state.tsx'
import { ApiError } from '#lib/client/api.ts'
import { serverStatusOptions, serversOptions } from '#lib/client/queries.ts'
import type { ServerEntry } from '#lib/core/servers.ts'

interface ServerView {
  readonly servers: readonly ServerEntry[]
  /** The server meant: the one named, or the default. */
  readonly name: string
  readonly status: ShownStatus
}

/** '' = the default server. */
export function useServerStatus(chosen: string): ServerView {
  const { data } = useQuery(serversOptions())
  const name = chosen === '' ? data?.default : chosen
  const { data: status, error } = useQuery(serverStatusOptions(name))
  return {
    servers: data?.servers ?? [],
    name: name ?? '',
    status: status ?? (error ? failed(error) : { state: 'asking' }),
  }
}

const failed = (error: Error): ShownStatus => ({
  state: 'failed',
  code: error instanceof ApiError ? error.code : 'UNKNOWN',
  message: error.message,
  hint: error instanceof ApiError ? error.hint : undefined,
})
