/**
 * Downloads a file from a host that the operator allows. Every redirect is checked like the first address, and the connection goes to the
 * network address that was checked. No key, cookie or token is sent.
 */
import { Agent, request } from 'undici'
import { checkedConnector } from '#lib/engine/http/checked-connector.ts'
import { bytesText, LIMITS } from '#lib/util/limits.ts'
import { type AllowedHosts, HOSTS_VARIABLE } from './allowed-hosts.ts'

/** Thrown for a file that is not downloaded; the message says what is wrong, the hint what to do. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError'
  /** `refused`: the address must not be called. `failed`: its server did not send the file. `large`: the file is beyond the limit. */
  readonly reason: 'refused' | 'failed' | 'large'
  readonly hint: string
  constructor(reason: DownloadError['reason'], message: string, hint: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.hint = hint
  }
}

/** A file that is being downloaded. */
export interface Download {
  /** Last part of the path of the address. */
  readonly name: string
  /** The bytes. Throws DownloadError or the signal's reason. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Limits of a download, in milliseconds and bytes. */
export interface DownloadLimits {
  readonly connectMs: number
  /** Longest time without a byte. */
  readonly idleMs: number
  readonly longestMs: number
  readonly bytes: number
  readonly redirects: number
}

/** The limits in use. docs/limits.md lists them. */
export const DOWNLOAD_LIMITS: DownloadLimits = {
  connectMs: 10_000,
  idleMs: 30_000,
  longestMs: 600_000,
  bytes: LIMITS.fileBytes,
  redirects: 5,
}

const REDIRECTS = [301, 302, 303, 307, 308]

/** Starts to download a file. The chunks must be read to their end. Throws DownloadError or the signal's reason. */
export async function downloadFile(
  url: string,
  hosts: AllowedHosts,
  signal: AbortSignal,
  limits: DownloadLimits = DOWNLOAD_LIMITS,
): Promise<Download> {
  const agent = new Agent({
    connect: checkedConnector(limits.connectMs, hosts.refusedAddress),
    headersTimeout: limits.idleMs,
    bodyTimeout: limits.idleMs,
    maxHeaderSize: 64 * 1024,
  })
  const deadline = AbortSignal.timeout(limits.longestMs)
  const either = AbortSignal.any([signal, deadline])
  /** Returns the error of a request as the caller sees it. */
  const failure = (error: unknown, host: string): unknown => {
    if (signal.aborted || error instanceof DownloadError) return error
    if (deadline.aborted) return tooSlow(host, limits.longestMs, error)
    return errorOf(error, host)
  }
  try {
    const reply = await requested(url, hosts, { agent, signal: either, redirects: limits.redirects, failure })
    return { name: nameOf(url), chunks: chunksOf(reply, agent, limits.bytes, failure) }
  } catch (error) {
    await agent.destroy()
    throw error
  }
}

interface Requesting {
  readonly agent: Agent
  readonly signal: AbortSignal
  readonly redirects: number
  readonly failure: (error: unknown, host: string) => unknown
}

interface Reply {
  readonly host: string
  readonly body: AsyncIterable<Uint8Array>
  /** Announced number of bytes; NaN if it is unknown. */
  readonly announced: number
}

/** Requests the file, and follows redirects to allowed addresses. */
async function requested(
  url: string,
  hosts: AllowedHosts,
  { agent, signal, redirects, failure }: Requesting,
): Promise<Reply> {
  let at = url
  for (let followed = 0; ; followed++) {
    const why = hosts.refusedUrl(at)
    if (why !== undefined)
      throw refused(followed === 0 ? why : `${url} redirects to an address that is refused: ${why}`)
    const { host, protocol } = new URL(at)
    if (protocol === 'http:' && new URL(url).protocol === 'https:') throw refused(`${url} redirects from https to http`)
    const reply = await request(at, { dispatcher: agent, signal, headers: { 'accept-encoding': 'identity' } }).catch(
      (error: unknown) => {
        throw failure(error, host)
      },
    )
    const { statusCode: status, headers, body } = reply
    if (status === 200) return { host, body, announced: Number(headers['content-length'] ?? Number.NaN) }
    // The body of a redirect or of an error is not read.
    body.on('error', () => {}).destroy()
    const location = [headers.location].flat()[0]
    if (!REDIRECTS.includes(status) || location === undefined || !URL.canParse(location, at))
      throw new DownloadError('failed', `${host} answered with the status ${status}`, statusHint(status))
    if (followed === redirects)
      throw new DownloadError('failed', `${url} redirects more than ${redirects} times`, 'Open its last address.')
    const target = new URL(location, at)
    target.hash = ''
    at = target.href
  }
}

async function* chunksOf(
  { host, body, announced }: Reply,
  agent: Agent,
  limit: number,
  failure: Requesting['failure'],
): AsyncGenerator<Uint8Array> {
  try {
    if (announced > limit) throw tooLarge(limit)
    let received = 0
    for await (const chunk of body) {
      received += chunk.length
      if (received > limit) throw tooLarge(limit)
      yield chunk
    }
  } catch (error) {
    throw failure(error, host)
  } finally {
    await agent.destroy()
  }
}

/** Returns the last part of an address's path, or its host. */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url)
  const last = pathname.split('/').findLast((part) => part !== '') ?? host
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

const refused = (why: string): DownloadError =>
  new DownloadError(
    'refused',
    `The file is not downloaded: ${why}`,
    `Start Rollscope with the host in ${HOSTS_VARIABLE}, or download the file yourself and open it.`,
  )

const tooLarge = (limit: number): DownloadError =>
  new DownloadError(
    'large',
    `The file is larger than ${bytesText(limit)}`,
    'Download it yourself, and open it from your disk: the page lists its samples without storing them.',
  )

const tooSlow = (host: string, ms: number, cause: unknown): DownloadError =>
  new DownloadError(
    'failed',
    `${host} did not send the whole file within ${ms / 60_000} minutes`,
    'Download it yourself, and open it from your disk.',
    { cause },
  )

function errorOf(error: unknown, host: string): DownloadError {
  const { code = '', message = String(error) } = (error ?? {}) as { readonly code?: string; readonly message?: string }
  if (code === 'ADDRESS_REFUSED') return refused(message)
  return new DownloadError('failed', `${host} did not send the file: ${message || code}`, 'Check the address.', {
    cause: error,
  })
}

const statusHint = (status: number): string =>
  status === 401 || status === 403 || status === 404
    ? 'Rollscope sends no key. Download a file that needs one yourself, and open it.'
    : 'Check the address, or try again later.'
