/**
 * Requests the logprobs of one prompt once for all samples of it. To score a prompt the server computes all of it, so
 * each sample that requested them would skip the prefix cache; the single call fills it for all samples.
 */

import { splitCall } from '#lib/trajectory/messages/generate-call.ts'
import { singleFlight } from '#lib/util/single-flight.ts'
import type { EngineClient } from './engine.ts'
import { systemClockAndRandom } from './http/clock-and-random.ts'
import { afterReading, type ReadPrompt, readPrompt } from './read-prompt.ts'
import type { GenerateRequest } from './request.ts'

/** Returns `generate` for the samples of one group; it requests the logprobs of the first prompt only once. */
export function withSharedScoring(
  generate: EngineClient['generate'],
  newRequestId: () => string,
): EngineClient['generate'] {
  let shared: readonly number[] | undefined
  const once = singleFlight<ReadPrompt>()
  return async function* (request, signal) {
    shared ??= request.inputIds
    if (request.logprobStartLen === undefined || !isEqual(shared, request.inputIds)) {
      yield* generate(request, signal)
      return
    }
    const { scoringRid = newRequestId(), ...whole } = request
    const { scoring, writing } = splitCall<GenerateRequest>(whole, scoringRid)
    const requestedAt = systemClockAndRandom.nowMs()
    const read = await once((stop) => readPrompt((call) => generate(call, stop), scoring, systemClockAndRandom), signal)
    yield* afterReading(sharedBy(read, systemClockAndRandom.nowMs() - requestedAt), () => generate(writing, signal))
  }
}

/** The scoring call as the record of one sample stores it, with the time that this sample waited. */
const sharedBy = (read: ReadPrompt, elapsedMs: number): ReadPrompt =>
  read.kind === 'read'
    ? { ...read, known: { ...read.known, scoring: { ...read.known.scoring, elapsedMs, shared: true } } }
    : read

const isEqual = (a: readonly number[], b: readonly number[]): boolean =>
  a === b || (a.length === b.length && a.every((id, index) => id === b[index]))
