/** Connects only to addresses that may be called, and fetches only over such connections. */
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'
import { createCheckedLookup, literalAddress, type RefuseAddress, refusedAddress } from './address.ts'
import { EngineError } from './errors.ts'

/** The largest reply in bytes that `checkedFetch` reads. */
const LARGEST_REPLY = 256 << 20

/**
 * Creates a connector that checks literals here and names when they are resolved: lookup is never called for a literal. `refuse` returns
 * why an address is refused; by default, addresses that no server has are.
 */
export function checkedConnector(connectMs: number, refuse: RefuseAddress = refusedAddress): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, lookup: createCheckedLookup(refuse) })
  return (options, callback) => {
    const ip = literalAddress(options.hostname)
    const why = ip === undefined ? undefined : refuse(ip, ip)
    if (why === undefined) connect(options, callback)
    else callback(new EngineError('ADDRESS_REFUSED', why), null)
  }
}

/**
 * Fetches from a Rollscope on this machine. Node's own fetch would send the launch token to a proxy of the environment, which
 * NODE_USE_ENV_PROXY chooses for all requests.
 */
export const directFetch: typeof globalThis.fetch = (input, init) => checkedFetch(CONNECT_MS)(input, init)

const CONNECT_MS = 5_000

/**
 * Returns the standard fetch without redirects, since a key would be sent to their target. It refuses compressed
 * replies: 50 KB of them can be 50 MB.
 */
export function checkedFetch(connectMs: number): typeof globalThis.fetch {
  const dispatcher = new Agent({
    connect: checkedConnector(connectMs),
    maxHeaderSize: 64 * 1024,
    maxResponseSize: LARGEST_REPLY,
  })
  const fetch = async (input: string | URL, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    const reply = await undiciFetch(input, { ...(init as object), headers, dispatcher, redirect: 'error' })
    const encoding = reply.headers.get('content-encoding') ?? 'identity'
    if (encoding === 'identity') return reply
    await reply.body?.cancel()
    throw new EngineError('BAD_ENCODING', `the server sent ${encoding} data although the request accepts none`)
  }
  // Node and undici publish types of their own for the same classes.
  return fetch as unknown as typeof globalThis.fetch
}
