import type { Run } from '../runs/runs.ts'
import type { Services } from '../services.ts'
import { json } from './json-response.ts'
import { eventStream } from './ndjson.ts'

/**
 * Returns the location of a detached run, or else its event stream. The stream is tied to the connection: the rollout stops when it closes.
 * A reader that is only too slow can follow the rollout again by its id for as long as a detached one.
 */
export function runResponse(
  { rolloutId, key }: Run,
  isDetached: boolean,
  { runs }: Services,
  signal: AbortSignal,
): Response {
  if (isDetached) return json({ rolloutId, trajectoryId: key }, 201)
  let isStalled = false
  // The events of a run that has ended are kept only until others need their room, so they are taken now.
  const lines = runs.follow(rolloutId, 0, signal)
  const tied = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* lines
    } finally {
      if (!isStalled) await runs.stop(rolloutId)
    }
  }
  return eventStream(tied(), {
    from: 0,
    headers: { 'x-rollout-id': rolloutId, 'x-trajectory-id': encodeURIComponent(key) },
    onStalled: () => {
      isStalled = true
    },
  })
}
