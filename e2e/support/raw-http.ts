/** HTTP as bytes on a socket, for requests that no client library sends. */
import { connect } from 'node:net'
import { PORT } from './application.ts'

/** A parsed response. */
export interface RawAnswer {
  readonly status: number
  /** Values by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends the text unchanged and reads until the server closes, or for at most `enough` milliseconds. Status 0 means no answer. */
export function raw(text: string, enough = 60_000): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(PORT, '127.0.0.1', () => socket.write(text))
    const chunks: Buffer[] = []
    const done = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(parsed(Buffer.concat(chunks).toString('utf8')))
    }
    const timer = setTimeout(done, enough)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', done)
    socket.on('error', done)
  })
}

/** Returns the text of a request with these header lines; only `connection` and `content-length` are added. */
export const request = (method: string, target: string, headers: readonly string[], body = ''): string =>
  `${[`${method} ${target} HTTP/1.1`, ...headers, 'connection: close', ...(body ? [`content-length: ${Buffer.byteLength(body)}`] : [])].join('\r\n')}\r\n\r\n${body}`

function parsed(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = rest.join('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(statusLine)?.[1] ?? 0)
  return { status, headers, body: headers['transfer-encoding'] === 'chunked' ? withoutChunks(body) : body }
}

/** Returns a chunked body without the chunk headers. Lengths count bytes; the texts that tests compare are ASCII. */
function withoutChunks(body: string): string {
  let text = ''
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at)
    const length = Number.parseInt(body.slice(at, end), 16)
    if (!(length > 0)) break
    text += body.slice(end + 2, end + 2 + length)
    at = end + 2 + length + 2
  }
  return text
}
