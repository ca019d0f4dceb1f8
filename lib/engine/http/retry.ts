/** Retries a call that samples tokens while that may help and nothing of its reply has arrived. */

import type { IdentityWatch, ServerIdentity } from '../server-identity.ts'
import type { Breaker } from './breaker.ts'
import type { ClockAndRandom } from './clock-and-random.ts'
import { EngineError } from './errors.ts'
import type { Retries } from './retry-policy.ts'
import { type HttpReply, isStaleConnection, type Transport } from './transport.ts'

/** One server with the state that all calls to it share. */
export interface Server {
  readonly transport: Transport
  readonly apiKey: string | undefined
  readonly retries: Retries
  readonly breaker: Breaker
  readonly identity: IdentityWatch
  readonly clockAndRandom: ClockAndRandom
  /** The limit of the same name in TransportLimits. */
  readonly firstTokenMs: number
}

/** A POST request that may be sent several times. */
export interface RetryablePost {
  readonly path: string
  /** Returns the JSON body for this request id. */
  readonly body: (rid: string) => string | Uint8Array
  readonly rid: string
  readonly routingKey?: string | undefined
  /** See Call in transport.ts. */
  readonly replyBytes?: number | undefined
  /**
   * The identity of the server when the run began; another server's answer is SERVER_CHANGED. Undefined: any server may
   * answer.
   */
  readonly expected: ServerIdentity | undefined
}

/**
 * Yields the parts of one reply. The call is sent when they are read. `rid` is the id of the attempt that was answered,
 * if it differs from the requested id.
 */
export async function* tryRepeatedly<Part extends object>(
  server: Server,
  posting: () => RetryablePost,
  partsOf: (reply: HttpReply) => AsyncGenerator<Part>,
  signal: AbortSignal,
): AsyncGenerator<Part & { readonly rid?: string }> {
  const { path, body, rid: firstRid, routingKey, replyBytes, expected } = posting()
  server.retries.begin()
  const call = server.breaker.enter()
  let ending: 'left' | EngineError = 'left'
  let isUnpooled = false
  let repetitions = 0
  try {
    for (let attempt = 1; ; attempt++) {
      // The server may still have the request that failed, and refuses a second one with the same id.
      const rid = attempt === 1 ? firstRid : `${firstRid}-${attempt}`
      let started = false
      try {
        const reply = await server.transport.send({
          method: 'POST',
          path,
          body: body(rid),
          ...(routingKey !== undefined && { routingKey }),
          replyBytes,
          signal,
          isUnpooled,
        })
        for await (const part of partsOf(reply)) {
          ending = 'left'
          call.observe('answered')
          if (!started && expected) await server.identity.check(expected, signal)
          started = true
          const typedPart = part as Part
          yield attempt === 1 ? typedPart : { ...typedPart, rid }
        }
        return
      } catch (error) {
        if (error instanceof EngineError) ending = error
        // The server has not read this request, so that it has not failed: the retry costs neither a wait nor the
        // budget.
        if (!started && !signal.aborted && !isUnpooled && isStaleConnection(error)) {
          isUnpooled = true
          continue
        }
        const delayMs = started || signal.aborted ? undefined : server.retries.delayMs(error, ++repetitions)
        if (delayMs === undefined) throw error
        await server.clockAndRandom.wait(delayMs, signal)
        call.again()
      }
    }
  } finally {
    call.observe(ending)
  }
}
