import { queryOptions } from '@tanstack/react-query'
import { applicationCapabilitiesSchema } from '#lib/api/capabilities.ts'
import { fetchJson } from './api.ts'

/** Query for the parsers and tools of the server. */
export const capabilitiesOptions = () =>
  queryOptions({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => fetchJson('/api/capabilities', applicationCapabilitiesSchema, { signal }),
    // A tool that is unavailable may have been repaired: a user who returns to the window sees that.
    refetchOnWindowFocus: 'always',
  })
