import { queryOptions } from '@tanstack/react-query'
import { ApiError, fetchJson } from '../api.ts'
import { trajectoryOptions } from '../queries.ts'
import { REVISION, showLabels } from './shown-labels.ts'

const POLL_REVISION_MS = 5_000

/**
 * Query for the revision of a stored trajectory while its page is visible, so that columns of another program and labels of another page
 * appear. The answer is a number and the labels, and the trajectory is read again only if the number grows. A deleted trajectory is
 * requested again only when the window gets the focus, or another window has restored one.
 */
export const revisionOptions = (key: string | undefined, isEnabled: boolean) =>
  queryOptions({
    queryKey: [...REVISION, key],
    queryFn: async ({ client, signal }) => {
      const path = `/api/trajectories/${encodeURIComponent(key ?? '')}/revision`
      // The schema is loaded after the page, which shows the trajectory without it.
      const { revisionSchema } = await import('#lib/api/trajectory-labels.ts')
      const { revision, labels } = await fetchJson(path, revisionSchema, { signal })
      const before = client.getQueryData<number>([...REVISION, key])
      if (before !== undefined && revision > before)
        await client.invalidateQueries({ queryKey: trajectoryOptions(key).queryKey })
      else showLabels(client, key, () => labels)
      return revision
    },
    enabled: key !== undefined && isEnabled,
    staleTime: 0,
    retry: false,
    refetchInterval: ({ state }) => (isMissing(state.error) ? false : POLL_REVISION_MS),
    refetchOnWindowFocus: 'always',
  })

/** Returns whether the error of the server is that the trajectory was deleted, or that there is none any more. */
export const isMissing = (error: Error | null): error is ApiError => error instanceof ApiError && error.status === 404
