/** Recorded requests and replies of the real SGLang 0.5.23, and a server that answers with one of them. For tests. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

export interface Recording {
  readonly request: {
    readonly method: string
    readonly path: string
    readonly body: Readonly<Record<string, unknown>> | string | null
  }
  readonly status: number
  readonly response_headers: readonly (readonly [string, string])[]
  readonly response?: unknown
  readonly stream_lines?: readonly string[]
}

const FOLDER = path.resolve('lib/sglang/recordings')

export const recordingNames: readonly string[] = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''))

export const recording = (name: string): Recording =>
  JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8'))

/** A recorded reply to a request that did not ask for logprobs, with a made-up one at each token: the client always asks. */
export function withLogprobs(recorded: Recording): Recording {
  const { response, stream_lines: lines } = recorded
  return {
    ...recorded,
    ...(lines && {
      stream_lines: lines.map((line) =>
        line.startsWith('data: {') ? `data: ${JSON.stringify(scored(JSON.parse(line.slice(6))))}\n` : line,
      ),
    }),
    ...(response !== undefined && { response: scored(response as Partial<UnscoredReply>) }),
  }
}

interface UnscoredReply {
  readonly output_ids: readonly number[]
  readonly meta_info: Readonly<Record<string, unknown>>
}

function scored(reply: Partial<UnscoredReply>): object {
  const { output_ids: ids, meta_info: meta } = reply
  if (!ids || !meta || 'output_token_logprobs' in meta) return reply
  return { ...reply, meta_info: { ...meta, output_token_logprobs: ids.map((id) => [-1, id, null]) } }
}

export interface Replay {
  readonly baseUrl: string
  /** Bodies of the requests that came, in order. */
  readonly requests: readonly { readonly method: string; readonly path: string; readonly body: unknown }[]
  close(): Promise<void>
}

/** Answers each path with its recording, split as `cut` says (bytes per write). */
export async function replay(recordings: Readonly<Record<string, Recording>>, cut?: number): Promise<Replay> {
  const requests: { method: string; path: string; body: unknown }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString('utf8')
    requests.push({
      method: request.method ?? '',
      path: request.url ?? '',
      body: body === '' ? undefined : JSON.parse(body),
    })
    const found = recordings[request.url ?? '']
    if (!found) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}')
      return
    }
    const type = found.response_headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
    response.writeHead(found.status, type ? { 'content-type': type } : {})
    const text = found.stream_lines
      ? found.stream_lines.join('')
      : typeof found.response === 'string'
        ? found.response
        : JSON.stringify(found.response)
    const bytes = Buffer.from(text)
    const step = cut ?? bytes.length
    for (let at = 0; at < bytes.length; at += step) response.write(bytes.subarray(at, at + step))
    response.end()
  })
  return { baseUrl: await listening(server), requests, close: () => closed(server) }
}

/** A server with a handler of the test's own. */
export async function scripted(
  handler: Parameters<typeof createServer>[1],
): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const server = createServer(handler as never)
  return { baseUrl: await listening(server), close: () => closed(server) }
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
