/** What the calls of a session have in common, whether the server gets ids or messages. */
import { randomBytes } from 'node:crypto'
import type { ModelDependencies } from '#lib/rollout/loop/call-input.ts'
import { createGrowingRecorder, type Recorder } from '#lib/rollout/loop/recorder.ts'
import type { NewCallIds } from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { newRequestId } from '../http/request-id.ts'
import type { Prepared } from './tito.ts'

/** Returns what the server, the tokenizer and the clock of a call are. */
export const modelDependencies = ({
  serving: { serverName, server, parser },
  promptEncoder,
}: Prepared): ModelDependencies => ({
  serverName,
  server,
  promptEncoder,
  parser,
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  newRequestId,
})

/**
 * Creates the ids of the calls of one reply. They are unique, because a client may refuse an id that a call of another conversation has. They
 * have nine letters and digits, because the chat templates of Mistral refuse others.
 */
export function createCallIds(): NewCallIds {
  const ids: string[] = []
  return (count) => {
    while (ids.length < count) ids.push(Array.from(randomBytes(9), (byte) => (byte % 36).toString(36)).join(''))
    return ids.slice(0, count)
  }
}

/** Creates the recorder of one reply. The trajectories that begin with one prompt share a vocabulary. */
export const createCallRecorder = (
  start: Trajectory,
  tokenizer: Tokenizer,
  publish: (event: RolloutEvent) => void = () => {},
): Recorder =>
  createGrowingRecorder(start.id, start.segments.length > 0 ? start : { ...start, vocab: {} }, tokenizer, publish)

/** Returns the response that a call closes. A call that fails after its first token has closed one too; before it, there is none. */
export async function closedResponse(
  recorder: Recorder,
  start: Trajectory,
  call: () => Promise<ResponseSegment>,
): Promise<{ readonly last: ResponseSegment | undefined; readonly error?: unknown }> {
  try {
    return { last: await call() }
  } catch (error) {
    const { segments } = recorder.trajectory
    const closed = segments.at(-1)
    const isNew = segments.length > start.segments.length
    return { last: isNew && closed?.kind === 'response' ? closed : undefined, error }
  }
}
