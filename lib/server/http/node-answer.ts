/** Connects Node's HTTP server with functions from a standard request to a standard response, without a framework in between. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Answers a request with a function. Resolves when the answer is written, or when the client has left, which aborts the request. */
export async function answerWith(
  handle: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '', headers } = request
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const hasBody = method !== 'GET' && method !== 'HEAD'
  try {
    const standard = new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as [string, string]],
      ),
      signal: gone.signal,
      ...(hasBody && {
        body: request,
        duplex: 'half' as const,
      }),
    } as unknown as RequestInit)
    await writeAnswer(await handle(standard), response, gone.signal)
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}

/** Writes an answer as fast as its client reads it. Rejects when the client has left. */
export async function writeAnswer(answer: Response, response: ServerResponse, gone: AbortSignal): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  const reader = answer.body?.getReader()
  const cancel = (): void => {
    reader?.cancel().catch(() => {})
  }
  gone.addEventListener('abort', cancel)
  if (gone.aborted) cancel()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
    if (!response.write(part.value)) await once(response, 'drain', { signal: gone })
  response.end()
}
