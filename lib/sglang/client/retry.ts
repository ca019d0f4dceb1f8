/** A call that writes tokens, tried again while that may help and nothing of its reply has come. */

import type { IdentityWatch, ServerIdentity } from '../server/server-identity.ts'
import type { Breaker } from './breaker.ts'
import type { ClockAndRandom } from './clock-and-random.ts'
import { SglangError } from './errors.ts'
import type { Retries } from './retries.ts'
import { type HttpReply, isStaleConnection, type Transport } from './transport.ts'

export interface Server {
  readonly transport: Transport
  readonly apiKey: string | undefined
  readonly retries: Retries
  readonly breaker: Breaker
  readonly identity: IdentityWatch
  readonly chance: ClockAndRandom
  /** As in TransportLimits. */
  readonly firstTokenMs: number
}

export interface Posting {
  readonly path: string
  /** JSON, for a try of this request id. */
  readonly body: (rid: string) => string | Uint8Array
  readonly rid: string
  /** What the server was when the run began; another one answering is SERVER_CHANGED. Undefined: whatever answers. */
  readonly expected: ServerIdentity | undefined
}

/** Parts of one reply, to a call that is made when they are asked for; `rid` is that of the try that was answered, where it is another than asked for. */
export async function* tried<Part extends object>(
  server: Server,
  posting: () => Posting,
  partsOf: (reply: HttpReply) => AsyncGenerator<Part>,
  signal: AbortSignal,
): AsyncGenerator<Part & { readonly rid?: string }> {
  const { path, body, rid: firstRid, expected } = posting()
  server.retries.begin()
  const call = server.breaker.enter()
  let ending: 'left' | SglangError = 'left'
  let isUnpooled = false
  let repetitions = 0
  try {
    for (let attempt = 1; ; attempt++) {
      // The server may still hold the request that failed, and refuses a second one of the same id.
      const rid = attempt === 1 ? firstRid : `${firstRid}-${attempt}`
      let started = false
      try {
        const reply = await server.transport.send({ method: 'POST', path, body: body(rid), signal, isUnpooled })
        for await (const part of partsOf(reply)) {
          ending = 'left'
          call.observe('answered')
          if (!started && expected) await server.identity.check(expected, signal)
          started = true
          const told = part as Part
          yield attempt === 1 ? told : { ...told, rid }
        }
        return
      } catch (error) {
        if (error instanceof SglangError) ending = error
        // Not a failure of the server, which has not read it: it costs neither a wait nor the budget.
        if (!started && !signal.aborted && !isUnpooled && isStaleConnection(error)) {
          isUnpooled = true
          continue
        }
        const delayMs = started || signal.aborted ? undefined : server.retries.delayMs(error, ++repetitions)
        if (delayMs === undefined) throw error
        await server.chance.wait(delayMs, signal)
        call.again()
      }
    }
  } finally {
    call.observe(ending)
  }
}
