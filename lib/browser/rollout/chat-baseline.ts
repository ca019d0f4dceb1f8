/**
 * Runs the chat baseline of a trajectory. It is another run and stored like any other; its drift is the comparison of KEY with KEY~read.
 */
import { baselineRequest } from '#lib/analysis/compare/chat-baseline.ts'
import { runStartedSchema } from '#lib/api/run-request.ts'
import { segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, fetchJson } from '../api.ts'
import { requestCancel } from './cancel.ts'
import { createRolloutStore, type RolloutState } from './rollout-store.ts'

/** Progress of a chat baseline. */
export interface BaselineProgress {
  /** Key under which the baseline is stored, however it ends. */
  readonly key: string
  /** Number of replies so far. */
  readonly replies: number
  readonly tokens: number
}

interface BaselineOptions {
  readonly signal: AbortSignal
  readonly onProgress?: (progress: BaselineProgress) => void
}

/**
 * Runs the baseline to its end and returns the key of its trajectory. Aborting the signal stops the run and rejects with the signal's
 * reason. Throws ApiError if it cannot be started, or failed before its first reply.
 */
export async function runChatBaseline(
  trajectory: TrajectoryView,
  { signal, onProgress }: BaselineOptions,
): Promise<string> {
  const baseline = baselineRequest(trajectory)
  if (!baseline.ok) throw new ApiError(0, 'NO_BASELINE', baseline.why, baseline.hint)
  const { rolloutId, trajectoryId: key } = await fetchJson('/api/rollouts', runStartedSchema, {
    method: 'POST',
    json: { ...baseline.value, detached: true },
    signal,
  })
  const ended = await followRun(rolloutId, key, signal, onProgress)
  if (ended.kind === 'failed') throw ended.error
  if (ended.kind === 'ended') throwFailure(ended.trajectory)
  return key
}

/** Milliseconds between two reports, because nobody reads numbers that change more often. */
const LOOK_MS = 100

function followRun(
  rolloutId: string,
  key: string,
  signal: AbortSignal,
  onProgress: BaselineOptions['onProgress'],
): Promise<RolloutState> {
  const store = createRolloutStore((action) => setTimeout(action, LOOK_MS))
  const { promise, resolve, reject } = Promise.withResolvers<RolloutState>()
  const stop = () => {
    // A run that cannot be cancelled has ended, or ends without a reader.
    requestCancel('rollouts', rolloutId)
      .catch(() => {})
      .finally(() => reject(signal.reason))
  }
  const look = () => {
    const state = store.state()
    if (state.kind === 'following' && state.trajectory) onProgress?.(progressOf(key, state.trajectory))
    if (state.kind === 'ended' || state.kind === 'unavailable' || state.kind === 'failed') resolve(state)
  }
  store.subscribe(look)
  store.follow(rolloutId, key)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return promise.finally(() => {
    signal.removeEventListener('abort', stop)
    store.reset()
  })
}

const progressOf = (key: string, trajectory: TrajectoryView): BaselineProgress => ({
  key,
  replies: segmentsOf(trajectory).filter(({ kind }) => kind === 'response').length,
  tokens: tokenCount(trajectory),
})

/** Throws ApiError for a run without a reply; otherwise the trajectory says how it ended. */
function throwFailure({ outcome, segments }: TrajectoryView): void {
  if (outcome.kind === 'failed' && segments.length === 0)
    throw new ApiError(0, outcome.code, outcome.message, outcome.hint)
}
