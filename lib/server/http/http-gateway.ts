/**
 * The HTTP server in front of Next: refuses requests that must not reach a framework (foreign hosts, absolute targets, unusual methods),
 * removes headers that frameworks trust, and sets the security headers of every answer.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { BUILT_IN_PATH } from '../servers/own-address.ts'
import { type AccessConfig, accessHeaders, hostProblem, originProblem } from './access.ts'
import type { ProblemDetails } from './problem.ts'

/** Settings of the gateway, with the handler of the requests that it accepts. */
export interface GatewayOptions extends AccessConfig {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Development needs eval, inline styles and a socket for reloading. */
  readonly development: boolean
  /** Milliseconds for which a client may leave an answer unread; default UNREAD_MS. */
  readonly unreadMs?: number
  /** Milliseconds for which a client may pause within a body; default IDLE_BODY_MS. */
  readonly idleBodyMs?: number
}

/**
 * A client that reads nothing of its answer for this long is disconnected, because the rest of the answer would stay in memory forever.
 * Event streams end earlier and report why (ndjson.ts).
 */
const UNREAD_MS = 60_000
const IDLE_BODY_MS = 30_000
/**
 * Time for which a connection without a request stays open. It is longer than that of common clients (aiohttp 15 s, httpx 5 s), because a
 * client that sends on a connection just as it is closed gets an error.
 */
const KEPT_OPEN_MS = 75_000

/** Returns the server, which is not listening yet. */
export function createHttpGateway({
  handle,
  development,
  unreadMs = UNREAD_MS,
  idleBodyMs = IDLE_BODY_MS,
  ...access
}: GatewayOptions): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 0,
      keepAliveTimeout: KEPT_OPEN_MS,
      insecureHTTPParser: false,
    },
    (request, response) => {
      // An answer on which nothing waits to be sent, such as a stream without new events, may be quiet for longer.
      response.setTimeout(unreadMs, () => {
        if (request.socket.writableLength > 0) request.socket.resetAndDestroy()
      })
      if (SGLANG_AT_ROOT.test(request.url ?? '')) request.url = `${BUILT_IN_PATH}${request.url}`
      const nonce = randomBytes(18).toString('base64')
      const policy = contentSecurityPolicy(nonce, development)
      for (const [name, value] of Object.entries(securityHeaders(policy))) response.setHeader(name, value)
      if (hasBody(request)) {
        limitIdleBody(request, response, idleBodyMs)
        discardRest(request, response)
      }
      const problem = requestProblem(request, access)
      if (problem) return refuse(response, problem)
      for (const name of Object.keys(request.headers)) if (isFrameworkHeader(name)) delete request.headers[name]
      // Next reads the nonce for its own scripts from this header.
      request.headers['content-security-policy'] = policy
      handle(request, response).catch((error) => {
        console.error('unhandled error in a request:', error instanceof Error ? error.message : error)
        if (!response.headersSent)
          refuse(response, { status: 500, code: 'INTERNAL', detail: 'Rollscope itself failed: see its log' })
        else response.destroy()
      })
    },
  )
  // Tunnels are not supported.
  if (!development) server.on('upgrade', (_request, socket) => socket.destroy())
  return server
}

/** Number of checks within one limit: a body that stops is noticed at most a tenth of the limit late. */
const LOOKS = 10

/**
 * Ends a request whose body stops arriving, because its connection and everything that waits for the body would stay forever. A body that
 * arrives slowly is read completely, and so is one that waits because the application has not read the earlier bytes.
 */
function limitIdleBody(request: IncomingMessage, response: ServerResponse, idleMs: number): void {
  const { socket } = request
  let seen = socket.bytesRead
  let idleLooks = 0
  const timer = setInterval(() => {
    if (request.complete || socket.destroyed) return clearInterval(timer)
    const isWaitedFor = socket.bytesRead === seen && request.readableLength === 0
    seen = socket.bytesRead
    idleLooks = isWaitedFor ? idleLooks + 1 : 0
    if (idleLooks < LOOKS) return
    if (response.headersSent) {
      clearInterval(timer)
      socket.destroy()
      return
    }
    idleLooks = 0
    refuse(response, {
      status: 408,
      code: 'BODY_TIMEOUT',
      detail: `no part of the body has arrived for ${idleMs / 1000} s`,
      hint: 'Send the request again, without pauses in its body.',
    })
  }, idleMs / LOOKS)
  timer.unref()
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0

/**
 * Discards the rest of a body whose answer is written. A client that sends all of its body first would wait forever if nobody read it. It would
 * lose the answer if the connection were closed meanwhile, because the system resets a connection with unread data.
 */
function discardRest(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  // A handler that reads only the beginning of the body would end the connection, which its answer needs.
  request[Symbol.asyncIterator] = () => request.iterator({ destroyOnReturn: false })
  response.once('finish', () => request.removeAllListeners('data').removeAllListeners('readable').resume())
  // Node calls this after the last answer of a connection.
  socket.destroySoon = () => {
    if (request.complete) return Socket.prototype.destroySoon.call(socket)
    socket.end()
    request.once('close', () => socket.destroy())
  }
}

/**
 * Paths of the built-in server that it also serves at the root: clients such as strands-sglang take the origin of an address and drop its
 * path. No page has one of these names.
 */
const SGLANG_AT_ROOT =
  /^\/(generate|abort_request|parse_function_call|separate_reasoning|health|health_generate|ready|flush_cache|tokenize|detokenize|(get_)?(model|server)_info|v1\/[^?]*)(\?|$)/

function contentSecurityPolicy(nonce: string, development: boolean): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'${development ? " 'unsafe-eval'" : ''}`,
    development ? "style-src 'self' 'unsafe-inline'" : `style-src 'self' 'nonce-${nonce}'`,
    `connect-src 'self'${development ? ' ws:' : ''}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const securityHeaders = (policy: string): Readonly<Record<string, string>> => ({
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
})

function requestProblem(request: IncomingMessage, access: AccessConfig): ProblemDetails | undefined {
  const repeated = ['host', 'origin'].find((name) => timesSent(request, name) > 1)
  if (repeated) return { status: 400, code: 'HEADER_REPEATED', detail: `the request has two headers named ${repeated}` }
  const target = request.url ?? ''
  const isInterface = /^\/(api|sglang)(\/|\?|$)/.test(target) || isSessionCall(request)
  const headers = accessHeaders(request)
  const refused = isInterface ? originProblem(headers, access) : hostProblem(headers, access)
  if (refused) return refused
  // Only proxies accept an absolute target, or one that a framework would take for a host.
  if (!target.startsWith('/') || /^\/[/\\]/.test(target))
    return { status: 400, code: 'TARGET_REFUSED', detail: 'the request target must be a path' }
  if (!isDecodable(target.replace(/[?#].*/s, '')))
    return {
      status: 400,
      code: 'TARGET_REFUSED',
      detail: 'the path of the request contains a % that encodes no UTF-8 text',
      hint: 'Encode the path with encodeURIComponent.',
    }
  if (request.method === 'OPTIONS' || request.method === 'TRACE' || request.method === 'CONNECT')
    return { status: 403, code: 'ORIGIN_REFUSED', detail: 'this server accepts no calls from other origins' }
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return isInterface || isRead ? undefined : { status: 405, code: 'METHOD', detail: 'pages accept only GET and HEAD' }
}

/**
 * Returns whether a request is a call of a client of a session. A page and a route cannot share one path in Next: a browser that reads
 * /sessions or /sessions/{id} asks for a page, and every other request is a call.
 */
export function isSessionCall({
  url = '',
  method,
  headers,
}: Pick<IncomingMessage, 'url' | 'method' | 'headers'>): boolean {
  const match = /^\/sessions(\/[^/?#]+)?(\/[^?#]*)?([?#]|$)/.exec(url)
  if (!match) return false
  const [, id, rest = ''] = match
  if (rest.length > 1) return true
  if (method !== 'GET' && method !== 'HEAD') return true
  // The list has its JSON at /api/sessions. Next reads parts of pages with the header RSC.
  const isPage = id === undefined || headers.rsc !== undefined || /\btext\/html\b/.test(headers.accept ?? '')
  return !isPage
}

/** Returns whether the percent-encoding of a path is valid. Next answers other paths with a plain 500. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

const timesSent = ({ rawHeaders }: IncomingMessage, name: string): number =>
  rawHeaders.filter((sent, i) => i % 2 === 0 && sent.toLowerCase() === name).length

/** Returns whether a header is set by proxies, or by the framework for itself; from a client it would mislead the framework. */
const isFrameworkHeader = (name: string): boolean =>
  name === 'forwarded' ||
  name.startsWith('x-forwarded-') ||
  name.startsWith('x-middleware-') ||
  name.startsWith('x-nextjs-') ||
  name.startsWith('x-invoke-') ||
  name === 'next-resume' ||
  name === 'next-action'

function refuse(response: ServerResponse, { status, code, detail, hint }: ProblemDetails): void {
  response.writeHead(status, {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    connection: 'close',
  })
  response.end(
    JSON.stringify({
      type: 'about:blank',
      title: 'Refused',
      status,
      detail,
      code,
      ...(hint !== undefined && { hint }),
    }),
  )
}
