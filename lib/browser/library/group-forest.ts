/** The trees of a group, or of selected trajectories. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import type { AdvantageFormula } from '#lib/trajectory/reward/advantage.ts'
import { callApi, readJsonAnswer } from '../api.ts'
import { GROUPS } from '../queries.ts'

/** The samples of a page: those of a group, or trajectories that were selected by their keys. */
export type ForestSource =
  | { readonly kind: 'group'; readonly id: string }
  | { readonly kind: 'keys'; readonly keys: readonly string[] }

const POLL_RUNNING_MS = 1_500

// The schema loads beside the request: the page needs it only for the answer.
const loadSchema = () => import('#lib/api/forest/group-forest.ts')

/**
 * Query for the trees of some samples, repeated while one of them is running. The server sends nothing while its answer is the same, so
 * that nothing is drawn again.
 */
export const groupForestOptions = (source: ForestSource, formula: AdvantageFormula) => {
  const name = source.kind === 'group' ? source.id : source.keys
  const queryKey = [...GROUPS, name, 'forest', formula] as const
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<GroupForest> => {
      const before = client.getQueryData<GroupForest>(queryKey)
      const known = before?.revision
      const schema = loadSchema()
      // Of two failures the one of the request is reported.
      schema.catch(() => {})
      const { path, response } = await requestForest(
        source,
        { advantage: formula, ...(known !== undefined && { known }) },
        signal,
      )
      if (response.status === 204 && before) return before
      return readJsonAnswer(path, response, (await schema).groupForestSchema, signal)
    },
    enabled: source.kind === 'group' || source.keys.length > 0,
    structuralSharing: false,
    // Another formula changes numbers only, so the tree stays.
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.isRunning ? POLL_RUNNING_MS : false),
  })
}

async function requestForest(
  source: ForestSource,
  query: { readonly advantage: AdvantageFormula; readonly known?: string },
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly response: Response }> {
  if (source.kind === 'keys') {
    const path = '/api/forest'
    return { path, response: await callApi(path, { method: 'POST', json: { keys: source.keys, ...query }, signal }) }
  }
  const path = `/api/groups/${encodeURIComponent(source.id)}/forest?${new URLSearchParams(query)}`
  return { path, response: await callApi(path, { signal }) }
}
