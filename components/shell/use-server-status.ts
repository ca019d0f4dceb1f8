'use client'
import { useQuery } from '@tanstack/react-query'
import type { ServerEntry, ServerStatus } from '#lib/api/server-status.ts'
import { ApiError, unreachableError } from '#lib/browser/api.ts'
import { serverStatusOptions, serversOptions } from '#lib/browser/queries.ts'
import { useNavigation } from './navigation.tsx'
import type { ShownStatus } from './server-state.tsx'

interface ServerView {
  readonly servers: readonly ServerEntry[]
  /** Name of the chosen or default server; '' until the list is loaded. */
  readonly name: string
  readonly status: ShownStatus
}

/** Returns the servers and the status of one of them; '' selects the default server. */
export function useServerStatus(chosen: string): ServerView {
  const { data } = useQuery(serversOptions())
  const name = chosen === '' ? data?.default : chosen
  const status = displayedStatus(useQuery(serverStatusOptions(name)))
  const { application } = useNavigation()
  return {
    servers: data?.servers ?? [],
    name: name ?? '',
    status: application === 'unreachable' ? UNREACHABLE : status,
  }
}

/** Status of every server while the application does not respond. */
const UNREACHABLE = displayedStatus({ data: undefined, error: unreachableError() })

interface Answer {
  readonly data: ServerStatus | undefined
  readonly error: Error | null
}

/** Returns the status to show for the result of a query. */
export function displayedStatus({ data, error }: Answer): ShownStatus {
  if (data) return data
  if (!error) return { state: 'asking' }
  const { code, hint } = error instanceof ApiError ? error : { code: 'UNKNOWN', hint: undefined }
  return { state: 'failed', code, message: error.message, hint }
}
