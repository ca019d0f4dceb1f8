/** Branches of a stored trajectory: their start, their tree and their cancellation. */
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { type BranchBody, type BranchesStarted, branchesStartedSchema } from '#lib/api/forest/branch.ts'
import { treeSchema } from '#lib/api/forest/tree.ts'
import { fetchJson } from '../api.ts'
import { TRAJECTORIES } from '../queries.ts'
import { requestCancel } from '../rollout/cancel.ts'

const TREE = 'tree'
const POLL_TREE_MS = 1_000

/** Query for the tree of a trajectory, repeated while one of its trajectories is running. */
export const treeOptions = (key: string) =>
  queryOptions({
    queryKey: [TREE, key],
    queryFn: ({ signal }) => fetchJson(`${pathOf(key)}/tree`, treeSchema, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.leaves.some(({ row }) => row.outcomeKind === 'running') ? POLL_TREE_MS : false,
  })

/** Query for the branches that this page started last from a trajectory; it requests nothing. */
export const startedOptions = (key: string) =>
  queryOptions<BranchesStarted | null>({
    queryKey: ['started-branches', key],
    queryFn: () => null,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Starts branches, and makes the lists and trees that show them stale. Throws ApiError. */
export async function startBranches(key: string, body: BranchBody, client: QueryClient): Promise<BranchesStarted> {
  const started = await fetchJson(`${pathOf(key)}/branch`, branchesStartedSchema, { method: 'POST', json: body })
  await Promise.all([
    client.invalidateQueries({ queryKey: [TREE] }),
    client.invalidateQueries({ queryKey: TRAJECTORIES }),
  ])
  return started
}

/** Stops the runs of branches. Those that have ended are left alone. Throws ApiError. */
export async function cancelBranches(rollouts: readonly string[]): Promise<void> {
  await Promise.all(rollouts.map((rollout) => requestCancel('rollouts', rollout)))
}

const pathOf = (key: string): string => `/api/trajectories/${encodeURIComponent(key)}`
