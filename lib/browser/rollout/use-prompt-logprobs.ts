import { useQuery } from '@tanstack/react-query'
import { scoringRefusals } from '#lib/api/engine/scoring-refusals.ts'
import { imageDataOf } from '#lib/trajectory/images/image-boxes.ts'
import { adaptersOf } from '#lib/trajectory/scoring/adapters.ts'
import { unscoredPrompts } from '#lib/trajectory/scoring/prompt-logprobs.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { hintOf } from '../hint-of.ts'
import { knownStatusOptions, promptLogprobsOptions, serversOptions } from '../queries.ts'

/** The state of a request for prompt logprobs. */
export interface PromptLogprobs {
  readonly isRequesting: boolean
  /** Why the request failed; only `retry` repeats it. Without `retry` the server cannot serve it, and it is not sent. */
  readonly failure:
    | { readonly title: string; readonly hint: string | undefined; readonly retry?: () => void }
    | undefined
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
  const status = useQuery({ ...knownStatusOptions(server), enabled: isNeeded && isPossible })
  const [refusal] =
    status.data?.state === 'ready'
      ? scoringRefusals(status.data, {
          images: imageDataOf(trajectory).length > 0,
          adapters: adaptersOf(trajectory),
        })
      : []
  const { error, isFetching, refetch } = useQuery({
    ...promptLogprobsOptions(storedKey, trajectory.segments.length),
    enabled: isNeeded && isPossible && !status.isPending && refusal === undefined,
  })
  if (!isNeeded || !isPossible) return { isRequesting: isFetching, failure: undefined }
  if (refusal)
    return {
      isRequesting: false,
      failure: { title: `The prompt logprobs cannot be requested: ${refusal.detail}`, hint: refusal.hint },
    }
  return {
    isRequesting: isFetching,
    failure:
      error && !isFetching
        ? {
            title: `The prompt logprobs could not be requested: ${error.message}`,
            hint: hintOf(error),
            retry: () => void refetch(),
          }
        : undefined,
  }
}
