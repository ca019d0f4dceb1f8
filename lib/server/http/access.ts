/**
 * Decides who may call what. A web page of another origin and other users of this machine must get nothing: hence the exact Host, the
 * Origin, the browser's own statement of where a request comes from, and the launch token. A missing or unknown value is refused.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { elementAt } from '#lib/util/element-at.ts'
import type { Config } from '../config.ts'
import type { Body } from './endpoint.ts'
import type { ProblemDetails } from './problem.ts'

/** The headers of a request that decide on access; null means a missing header. */
export interface AccessHeaders {
  get(name: string): string | null
}

/** The settings that decide on access. */
export type AccessConfig = Pick<Config, 'hosts' | 'token'>

/** Returns why a page or asset is refused: it contains no data, but must not be available under a foreign host name. Undefined: allowed. */
export function hostProblem(headers: AccessHeaders, { hosts }: AccessConfig): ProblemDetails | undefined {
  const host = headers.get('host')
  if (host !== null && isKnownHost(host, hosts)) return undefined
  return {
    status: 403,
    code: 'HOST_REFUSED',
    detail: `this server does not accept the host ${JSON.stringify(host ?? '')}`,
    hint: 'Use 127.0.0.1 or localhost, or start Rollscope with this host in ROLLSCOPE_HOSTS.',
  }
}

/**
 * Returns why a request of a foreign host or origin is refused. The built-in /sglang checks no more, because SGLang checks nothing.
 * Undefined: allowed.
 */
export function originProblem(headers: AccessHeaders, config: AccessConfig): ProblemDetails | undefined {
  const host = hostProblem(headers, config)
  if (host) return host
  const origin = headers.get('origin')
  if (origin !== null && !isOwnOrigin(origin, `${headers.get('host')}`))
    return {
      status: 403,
      code: 'ORIGIN_REFUSED',
      detail: 'this request comes from a page of another origin',
      hint: 'A proxy in front of Rollscope must pass on the Host header of the browser with its port.',
    }
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none')
    return { status: 403, code: 'ORIGIN_REFUSED', detail: 'this request comes from a page of another site' }
  return undefined
}

/** Returns why a request under /api, except for health, is refused. Undefined: allowed. */
export function accessProblem(headers: AccessHeaders, config: AccessConfig): ProblemDetails | undefined {
  const origin = originProblem(headers, config)
  if (origin) return origin
  if (hasToken(headers, config)) return undefined
  const sent = bearer(headers)
  return {
    status: 401,
    code: 'TOKEN_REQUIRED',
    detail: sent === undefined ? 'the launch token is missing' : 'this is not the launch token of this server',
    hint: 'Open the address that npm start printed, or send its token in the header Authorization: Bearer …',
  }
}

/**
 * Returns why a call of an agent's client is refused. Such a client sends the launch token as its API key, in the header that its library
 * uses. Undefined: allowed.
 */
export function clientProblem(headers: AccessHeaders, config: AccessConfig): ProblemDetails | undefined {
  const origin = originProblem(headers, config)
  if (origin) return origin
  const key = headers.get('x-api-key')
  if (hasToken(headers, config) || (key !== null && isSame(key, config.token))) return undefined
  return {
    status: 401,
    code: 'TOKEN_REQUIRED',
    detail:
      bearer(headers) === undefined && key === null
        ? 'the API key is missing'
        : 'the API key is not the launch token of this server',
    hint: 'Set OPENAI_API_KEY or ANTHROPIC_API_KEY to the launch token: npm start prints it after ?token=.',
  }
}

/** Returns whether the request carries the launch token. */
export function hasToken(headers: AccessHeaders, { token }: Pick<AccessConfig, 'token'>): boolean {
  const sent = bearer(headers)
  return sent !== undefined && isSame(sent, token)
}

const bearer = (headers: AccessHeaders): string | undefined =>
  /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1]

/** Returns the headers of a request of Node’s own HTTP server. */
export const accessHeaders = ({ headers }: Pick<IncomingMessage, 'headers'>): AccessHeaders => ({
  get: (name) => [headers[name] ?? null].flat()[0] ?? null,
})

/**
 * Returns why a request that changes state is refused: it needs a header that no form and no link can send. If `type` is undefined,
 * the call needs no body, and any body is left unread. Undefined: allowed.
 */
export function changeProblem(
  headers: AccessHeaders,
  { type, isOptional }: Pick<Body<unknown>, 'type' | 'isOptional'>,
): ProblemDetails | undefined {
  if (headers.get('x-rollscope') !== '1')
    return {
      status: 403,
      code: 'HEADER_REQUIRED',
      detail: 'the header X-Rollscope: 1 is missing',
      hint: 'Send the header X-Rollscope: 1 with every request that changes data.',
    }
  const encoded = encodingProblem(headers)
  if (encoded) return encoded
  const sent = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== undefined && sent !== type && !(isOptional && hasNoBody(headers)))
    return {
      status: 415,
      code: 'CONTENT_TYPE',
      detail: `the body must be sent as ${type}, not as ${sent === '' ? 'nothing' : JSON.stringify(sent)}`,
    }
  return undefined
}

const hasNoBody = (headers: AccessHeaders): boolean =>
  headers.get('content-type') === null &&
  headers.get('transfer-encoding') === null &&
  (headers.get('content-length') ?? '0') === '0'

/** Returns why a body is refused whose bytes are compressed. Undefined: they are not. */
export function encodingProblem(headers: AccessHeaders): ProblemDetails | undefined {
  const encoding = (headers.get('content-encoding') ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity')
    return {
      status: 415,
      code: 'BAD_ENCODING',
      detail: `the body is compressed (content-encoding ${JSON.stringify(encoding.slice(0, 40))}), and Rollscope does not decompress bodies`,
      hint: 'Send the body uncompressed, without Content-Encoding.',
    }
  return undefined
}

/**
 * Returns whether the host is a loopback name or a configured one. Any port is accepted, because SSH tunnels map ports, unless a configured
 * host names one.
 */
function isKnownHost(host: string, hosts: readonly string[]): boolean {
  const match = HOST.exec(host)
  if (!match) return false
  return isLoopback(host) || hosts.includes(elementAt(match, 1).toLowerCase()) || hosts.includes(host.toLowerCase())
}

const HOST = /^([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i

const isLoopback = (host: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(host.replace(/:\d{1,5}$/, '').toLowerCase())

/**
 * Returns whether a page of this origin is one of the application, for a known host. A configured host can be that of a proxy, which answers
 * browsers over TLS. Nothing answers over TLS for a loopback name.
 */
const isOwnOrigin = (origin: string, host: string): boolean =>
  origin === `http://${host}` || (origin === `https://${host}` && !isLoopback(host))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares in a time that does not depend on where the texts differ. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
