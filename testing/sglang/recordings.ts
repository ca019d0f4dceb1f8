/** Recorded requests and replies of SGLang 0.5.23, and a server that answers with them. For tests. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { closeServer, listeningUrl } from '../listening.ts'

/** A recorded request with its reply, as in the files of lib/sglang/recordings. */
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

/** Names of all recordings. */
export const recordingNames: readonly string[] = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''))

/** Reads a recording. Throws Error if there is none with this name. */
export const recording = (name: string): Recording =>
  JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8'))

/** Returns a recording with logprob −1 for each token, if its request had none: our client always requests logprobs. */
export function withLogprobs(recorded: Recording): Recording {
  const { response, stream_lines: lines } = recorded
  return {
    ...recorded,
    ...(lines && {
      stream_lines: lines.map((line) =>
        line.startsWith('data: {') ? `data: ${JSON.stringify(scoreReply(JSON.parse(line.slice(6))))}\n` : line,
      ),
    }),
    ...(response !== undefined && { response: scoreReply(response as Partial<UnscoredReply>) }),
  }
}

interface UnscoredReply {
  readonly output_ids: readonly number[]
  readonly meta_info: Readonly<Record<string, unknown>>
}

function scoreReply(reply: Partial<UnscoredReply>): object {
  const { output_ids: ids, meta_info: meta } = reply
  if (!ids || !meta || 'output_token_logprobs' in meta) return reply
  return { ...reply, meta_info: { ...meta, output_token_logprobs: ids.map((id) => [-1, id, null]) } }
}

/** A running server with its log. */
export interface ReplayServer {
  readonly baseUrl: string
  /** Requests in order; bodies are parsed JSON. */
  readonly requests: readonly { readonly method: string; readonly path: string; readonly body: unknown }[]
  close(): Promise<void>
}

/** Starts a server that answers each path with its recording. `cut` splits replies into writes of that many bytes. */
export async function replay(recordings: Readonly<Record<string, Recording>>, cut?: number): Promise<ReplayServer> {
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
  return { baseUrl: await listeningUrl(server), requests, close: () => closeServer(server) }
}

/** Starts a server with the handler of a test. */
export async function scripted(
  handler: Parameters<typeof createServer>[1],
): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const server = createServer(handler as never)
  return { baseUrl: await listeningUrl(server), close: () => closeServer(server) }
}
