/** The built-in server at the pace of a large model: a proxy that passes its stream on token by token. */
import { createServer } from 'node:http'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { APPLICATION_URL } from './application.ts'

/** A running server and the counts of its requests. */
export interface SlowServer {
  readonly baseUrl: string
  /** Number of requests to /generate, and of those whose connection the client closed before the end. */
  readonly generations: { started: number; cut: number }
  close(): Promise<void>
}

/**
 * Starts the server. With `apiKey`, requests with another key are refused. `tokenizer` is the name that the server reports; the
 * default is a name that this machine can load.
 */
export async function startSlowServer(
  msPerChunk: number,
  { apiKey, tokenizer = 'built-in' }: { readonly apiKey?: string; readonly tokenizer?: string } = {},
): Promise<SlowServer> {
  const generations = { started: 0, cut: 0 }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"Unauthorized"}')
      return
    }
    const left = new AbortController()
    response.on('close', () => {
      if (!response.writableEnded && request.url === '/generate') generations.cut++
      left.abort()
    })
    try {
      const answer = await fetch(`${APPLICATION_URL}/sglang${request.url}`, {
        method: request.method ?? 'GET',
        headers: { 'content-type': 'application/json' },
        signal: left.signal,
        ...(chunks.length > 0 && { body: request.url === '/generate' ? tokenByToken(chunks) : Buffer.concat(chunks) }),
      })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      if (request.url === '/model_info') {
        response.end(JSON.stringify({ ...((await answer.json()) as object), tokenizer_path: tokenizer }))
        return
      }
      if (request.url === '/generate') generations.started++
      const decoder = new TextDecoder()
      let rest = ''
      for await (const bytes of answer.body ?? []) {
        const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
        rest = events.pop() ?? ''
        for (const event of events) {
          response.write(`${event}\n\n`)
          await new Promise((resolve) => setTimeout(resolve, msPerChunk))
        }
      }
      response.end(rest)
    } catch {
      response.destroy()
    }
  })
  return {
    baseUrl: await listeningUrl(server),
    generations,
    close: () => closeServer(server),
  }
}

/** Returns the request with a stream interval of 1, so that a journey has time to act. */
function tokenByToken(chunks: readonly Buffer[]): string {
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  return JSON.stringify({ ...body, sampling_params: { ...body.sampling_params, stream_interval: 1 } })
}
