import { queryOptions } from '@tanstack/react-query'
import { neighboursSchema } from '#lib/api/library.ts'
import { fetchJson } from '../api.ts'
import { TRAJECTORIES } from '../queries.ts'

/** Query for the neighbours of a trajectory in a list. `list` is the query of that list, as GET /api/trajectories takes it. */
export const neighboursOptions = (key: string | undefined, list: string) =>
  queryOptions({
    queryKey: [...TRAJECTORIES, 'neighbours', key, list],
    queryFn: ({ signal }) =>
      fetchJson(`/api/trajectories/${encodeURIComponent(key ?? '')}/neighbours?${list}`, neighboursSchema, { signal }),
    enabled: key !== undefined,
  })
