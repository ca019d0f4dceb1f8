/**
 * Answers requests to the built-in server without a framework in between: Next takes one to two milliseconds for each, as long as reading
 * 30 tokens. http-gateway.ts checks access and sets the headers of every answer.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LocalModel } from '#lib/builtin-server/local-model.ts'
import { type AccessConfig, accessHeaders, hasToken } from '../http/access.ts'
import { writeAnswer } from '../http/node-answer.ts'
import { BUILT_IN_PATH } from './own-address.ts'

/** Returns whether a request's path belongs to the built-in server. */
export const isForLocalModel = ({ url = '' }: IncomingMessage): boolean =>
  url.startsWith(BUILT_IN_PATH) && /^[/?]?$/.test(url.charAt(BUILT_IN_PATH.length))

/** Answers a request. Resolves when the answer is written, or when the client has left, which aborts the request. */
export async function answerFromLocalModel(
  { handle, largestBody }: Pick<LocalModel, 'handle' | 'largestBody'>,
  request: IncomingMessage,
  response: ServerResponse,
  config: AccessConfig,
): Promise<void> {
  const caller = { hasToken: hasToken(accessHeaders(request), config) }
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    await writeAnswer(
      await handle(await standardRequest(request, largestBody, gone.signal), caller),
      response,
      gone.signal,
    )
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}

async function standardRequest(request: IncomingMessage, largestBody: number, signal: AbortSignal): Promise<Request> {
  const { method = 'GET', url = '', headers } = request
  const chunks: Uint8Array[] = []
  let received = 0
  // The built-in server gets just enough of a body to see that it is too large. Destroying the request would lose the answer that reports it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk as Uint8Array)
    received += (chunk as Uint8Array).length
    if (received > largestBody) break
  }
  return new Request(new URL(url.slice(BUILT_IN_PATH.length), 'http://localhost'), {
    method,
    headers: { ...(headers['content-type'] !== undefined && { 'content-type': headers['content-type'] }) },
    signal,
    ...(method !== 'GET' && method !== 'HEAD' && { body: Buffer.concat(chunks) }),
  })
}
