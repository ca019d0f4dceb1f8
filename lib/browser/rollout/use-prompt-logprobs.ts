import { useQuery } from '@tanstack/react-query'
import { unscoredPrompts } from '#lib/trajectory/scoring/prompt-logprobs.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError } from '../api.ts'
import { promptLogprobsOptions, serversOptions } from '../queries.ts'

/** The state of a request for prompt logprobs. */
export interface PromptLogprobs {
  readonly isRequesting: boolean
  /** Why the request failed; only `retry` repeats it. */
  readonly failure: { readonly title: string; readonly hint: string | undefined; retry(): void } | undefined
}

/**
 * Requests prompt logprobs that a run did not request, when the page first needs them: only for a stored trajectory that has ended, and
 * only if its server is among the saved ones.
 */
export function usePromptLogprobs(
  trajectory: TrajectoryView,
  storedKey: string | undefined,
  isNeeded: boolean,
): PromptLogprobs {
  const { data } = useQuery(serversOptions())
  const server = trajectory.segments.findLast((segment) => segment.kind === 'response')?.request?.server
  const isPossible =
    storedKey !== undefined &&
    trajectory.outcome.kind !== 'running' &&
    unscoredPrompts(trajectory).length > 0 &&
    data?.servers.some(({ name }) => name === server) === true
  const { error, isFetching, refetch } = useQuery({
    ...promptLogprobsOptions(storedKey, trajectory.segments.length),
    enabled: isNeeded && isPossible,
  })
  return {
    isRequesting: isFetching,
    failure:
      isNeeded && isPossible && error && !isFetching
        ? {
            title: `The prompt logprobs could not be requested: ${error.message}`,
            hint: error instanceof ApiError ? error.hint : undefined,
            retry: () => refetch(),
          }
        : undefined,
  }
}
