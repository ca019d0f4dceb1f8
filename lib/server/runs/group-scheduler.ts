/** Shares requests to a server between the samples of a group. */

import type { EngineClient } from '#lib/engine/engine.ts'
import { createSemaphore } from '#lib/engine/http/semaphore.ts'
import { withSharedScoring } from '#lib/engine/shared-scoring.ts'
import type { Prompt } from '#lib/rollout/prompt/prompt.ts'
import { singleFlight } from '#lib/util/single-flight.ts'
import { newRequestId } from '../http/request-id.ts'

/** The calls with which a run uses its server. */
export interface RunCalls extends Pick<EngineClient, 'generate' | 'chat'> {
  /** Derives the first prompt, or takes the result of another run. Without it, each run derives its own prompt. */
  readonly firstPrompt?: ReturnType<typeof singleFlight<Prompt>>
}

/** The shared state of a group's requests. */
export interface GroupScheduler {
  /** Returns the calls of one more sample. */
  callsOf(client: Pick<EngineClient, 'generate' | 'chat'>): RunCalls
}

/** Returns the shared state of a new group. `atOnce` is the number of calls that the server runs at once, if it reports that. */
export function createGroupScheduler(atOnce: number | undefined): GroupScheduler {
  const turns = createSemaphore(atOnce)
  const firstPrompt = singleFlight<Prompt>()
  let scoredOnce: EngineClient['generate'] | undefined
  return {
    callsOf({ generate, chat }) {
      scoredOnce ??= withSharedScoring(generate, newRequestId)
      const shared = scoredOnce
      let hasBegun = false
      const taken = <Part>(call: () => AsyncIterable<Part>, signal: AbortSignal) => {
        const isFurther = hasBegun
        hasBegun = true
        return turns.take(call, isFurther, signal)
      }
      return {
        firstPrompt,
        generate: (request, signal) => taken(() => shared(request, signal), signal),
        async chat(request, signal) {
          for await (const answer of taken(() => once(chat(request, signal)), signal)) return answer
          throw new Error('a call is made when its turn has come')
        },
      }
    },
  }
}

async function* once<T>(answer: Promise<T>): AsyncGenerator<T> {
  yield await answer
}
