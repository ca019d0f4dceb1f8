/** Runs the chat baseline of a trajectory: another run, stored like any other; its drift is that of KEY beside KEY~read. */
import { baselineRequest } from '#lib/analysis/compare/chat-baseline.ts'
import { runStartedSchema } from '#lib/api/run-request.ts'
import { segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, callApi, fetchJson } from '../api.ts'
import { createRolloutStore, type RolloutState } from './rollout-store.ts'

export interface BaselineProgress {
  /** Under which the baseline is stored, whatever becomes of it. */
  readonly key: string
  /** Replies so far. */
  readonly replies: number
  readonly tokens: number
}

interface BaselineOptions {
  readonly signal: AbortSignal
  readonly onProgress?: (progress: BaselineProgress) => void
}

/**
 * The key under which it is stored, when it has ended. Aborting the signal stops the run, and rejects with its reason. Throws
 * ApiError where it cannot be asked for, and where it failed before its first reply.
 */
export async function runChatBaseline(
  trajectory: TrajectoryView,
  { signal, onProgress }: BaselineOptions,
): Promise<string> {
  const asked = baselineRequest(trajectory)
  if (!asked.ok) throw new ApiError(0, 'NO_BASELINE', asked.why, asked.hint)
  const { rolloutId, trajectoryId: key } = await fetchJson('/api/rollouts', runStartedSchema, {
    method: 'POST',
    json: { ...asked.value, detached: true },
    signal,
  })
  const ended = await followed(rolloutId, key, signal, onProgress)
  if (ended.kind === 'failed') throw ended.error
  if (ended.kind === 'ended') throwFailure(ended.trajectory)
  return key
}

/** Looked at ten times a second: nobody reads numbers that change more often. */
const LOOK_MS = 100

function followed(
  rolloutId: string,
  key: string,
  signal: AbortSignal,
  onProgress: BaselineOptions['onProgress'],
): Promise<RolloutState> {
  const store = createRolloutStore((action) => setTimeout(action, LOOK_MS))
  const { promise, resolve, reject } = Promise.withResolvers<RolloutState>()
  const stop = () => {
    const cancel = callApi(`/api/rollouts/${encodeURIComponent(rolloutId)}/cancel`, { method: 'POST' })
    // What cannot be stopped any more has ended, or ends when nobody follows it.
    cancel.catch(() => {}).finally(() => reject(signal.reason))
  }
  const look = () => {
    const state = store.state()
    if (state.kind === 'following' && state.trajectory) onProgress?.(progressOf(key, state.trajectory))
    if (state.kind === 'ended' || state.kind === 'gone' || state.kind === 'failed') resolve(state)
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

/** With a reply there is something to look at; how it ended is in the trajectory. */
function throwFailure({ outcome, segments }: TrajectoryView): void {
  if (outcome.kind === 'failed' && segments.length === 0)
    throw new ApiError(0, outcome.code, outcome.message, outcome.hint)
}
