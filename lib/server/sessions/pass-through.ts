/** Calls of a session that need no rendering: the list of models, and paths that are sent to the server unchanged. */
import { AUTO_SESSION } from '#lib/api/sessions/session.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { bodyChunks } from '../http/body.ts'
import { json } from '../http/json-response.ts'
import { streamResponse } from '../http/ndjson.ts'
import type { Services } from '../services.ts'
import type { Session } from './session.ts'

/** Returns the list of models with the fields of OpenAI and of Anthropic: the model of the session's server. */
export async function sessionModels(
  { settings }: Pick<Session, 'settings'>,
  all: Services,
  signal: AbortSignal,
): Promise<Response> {
  const serverName = settings.server ?? all.servers.defaultName
  const { modelName = 'default', contextLength } = await all.servers.client(serverName).describe(signal)
  return json({
    object: 'list',
    data: [
      {
        id: modelName,
        object: 'model',
        type: 'model',
        display_name: modelName,
        created: 0,
        created_at: new Date(0).toISOString(),
        owned_by: 'rollscope',
        ...(contextLength !== undefined && { max_model_len: contextLength }),
      },
    ],
    has_more: false,
    first_id: modelName,
    last_id: modelName,
  })
}

/**
 * Sends a call to the server of a session, and returns its answer with any status. Nothing is recorded. The id auto opens no session: its
 * calls go to the default server.
 */
export async function passThrough(sessionId: string, request: Request, all: Services): Promise<Response> {
  const session = sessionId === AUTO_SESSION ? undefined : all.sessions.find(sessionId)
  const isPost = request.method === 'POST'
  const body = isPost ? Buffer.concat(await Array.fromAsync(bodyChunks(request, LIMITS.runBytes))) : undefined
  return forwardCall(session, request, body, all)
}

/** Sends a body to the path of a request on the server of a session; without a session, to the default server. */
export async function forwardCall(
  session: Session | undefined,
  request: Request,
  body: string | Uint8Array | undefined,
  all: Services,
): Promise<Response> {
  const url = new URL(request.url)
  // The path is that of the address, as URL has normalized it.
  const path = `${url.pathname.replace(/^\/sessions\/[^/]+/, '')}${url.search}`
  const client = all.servers.client(session?.settings.server ?? all.servers.defaultName)
  const call = { method: body === undefined ? 'GET' : 'POST', path, ...(body !== undefined && { body }) } as const
  const answer = async () => {
    const routed = session ? { ...call, routingKey: session.id } : call
    const signal = AbortSignal.any([request.signal, all.sessions.closing])
    const { status, contentType, retryAfter, chunks } = await client.forward(routed, signal)
    const { body: stream, headers } = streamResponse(chunks, {
      'content-type': contentType || 'application/octet-stream',
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    })
    return new Response(stream, { status, headers })
  }
  return session ? all.sessions.during(session, answer) : answer()
}
