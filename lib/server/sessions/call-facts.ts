import type { JsonObject } from '#lib/json/json-object.ts'
import type { ProtocolName } from '#lib/session/call.ts'
import type { SessionCallRecord } from './session.ts'

/** A call as its session lists it. */
interface ListedCall {
  /** Null: another path than those of the protocols. */
  readonly protocol: ProtocolName | null
  /** Path below the session. */
  readonly path: string
  readonly body: JsonObject
  readonly started: { readonly at: Date; readonly ms: number }
  readonly request: Pick<Request, 'method' | 'headers'>
}

/** How a call is listed if the process ends before it is answered. */
export const INTERRUPTED = {
  status: 503,
  message: 'Rollscope ended during this call, so it has no answer. Send it again.',
} as const

/** Returns the facts of a call that has just ended, without those of its reply. */
export const callFacts = (
  { protocol, path, body, started, request }: ListedCall,
  { status, error = null }: { readonly status: number; readonly error?: string | null },
): SessionCallRecord['facts'] => ({
  startedAt: started.at.toISOString(),
  elapsedMs: performance.now() - started.ms,
  method: request.method,
  path,
  protocol,
  client: clientOf(request.headers.get('user-agent')),
  model: typeof body.model === 'string' ? body.model : null,
  isStreamed: body.stream === true,
  status,
  error,
  messages: Array.isArray(body.messages) ? body.messages.length : 0,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  drift: null,
})

const LONGEST_CLIENT = 80

/** Returns the name of a client as it reports it. */
const clientOf = (userAgent: string | null): string | null => userAgent?.trim().slice(0, LONGEST_CLIENT) || null
