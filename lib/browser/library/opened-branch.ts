import { queryOptions } from '@tanstack/react-query'

/** Query for the key of the trajectory that this page opens, whose tokens receive the focus when they are shown; it requests nothing. */
export const openedBranchOptions = () =>
  queryOptions<string | null>({
    queryKey: ['opened-branch'],
    queryFn: () => null,
    staleTime: Number.POSITIVE_INFINITY,
  })
