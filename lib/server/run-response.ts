import type { RolloutEvent } from '#lib/core/events.ts'
import { ndjson } from './ndjson.ts'
import { json } from './route.ts'
import type { Run } from './runs.ts'
import type { Services } from './services.ts'

/** Detached: where to find it. Else its stream of events, tied to the connection: when that closes, the rollout stops. */
export function runResponse(
  { rolloutId, key }: Run,
  isDetached: boolean,
  { runs }: Services,
  signal: AbortSignal,
): Response {
  if (isDetached) return json({ rolloutId, trajectoryId: key }, 201)
  return ndjson(tied(rolloutId, runs, signal), {
    'x-rollout-id': rolloutId,
    'x-trajectory-id': encodeURIComponent(key),
  })
}

async function* tied(rolloutId: string, runs: Services['runs'], signal: AbortSignal): AsyncGenerator<RolloutEvent> {
  try {
    yield* runs.follow(rolloutId, 0, signal)
  } finally {
    await runs.cancel(rolloutId)
  }
}
