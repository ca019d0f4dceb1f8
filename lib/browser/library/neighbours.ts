import { queryOptions } from '@tanstack/react-query'
import { neighboursSchema } from '#lib/api/library.ts'
import { callApi } from '../api.ts'
import { TRAJECTORIES } from '../queries.ts'

/** The rows beside a trajectory in a list. `list`: the query of that list, as GET /api/trajectories takes it. */
export const neighboursOptions = (key: string | undefined, list: string) =>
  queryOptions({
    queryKey: [...TRAJECTORIES, 'neighbours', key, list],
    queryFn: async ({ signal }) => {
      const path = `/api/trajectories/${encodeURIComponent(key ?? '')}/neighbours?${list}`
      return neighboursSchema.parse(await (await callApi(path, { signal })).json())
    },
    enabled: key !== undefined,
  })
