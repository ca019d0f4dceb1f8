/** Connects to addresses that may be called, and to no others; and fetches by such connections alone. */
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'
import { checkedLookup, literal, refusedAddress } from './address.ts'
import { SglangError } from './errors.ts'

/** Literals are checked here, names when they are resolved: lookup is never called for a literal. */
export function checkedConnector(connectMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, lookup: checkedLookup })
  return (options, callback) => {
    const ip = literal(options.hostname)
    const why = ip === undefined ? undefined : refusedAddress(ip)
    if (why === undefined) connect(options, callback)
    else callback(new SglangError('ADDRESS_REFUSED', why), null)
  }
}

/** The standard fetch, but it follows no redirect: a key sent along would go to whoever is named. */
export function checkedFetch(connectMs: number): typeof globalThis.fetch {
  const dispatcher = new Agent({ connect: checkedConnector(connectMs), maxHeaderSize: 64 * 1024 })
  const fetch = (input: string | URL, init?: object) => undiciFetch(input, { ...init, dispatcher, redirect: 'error' })
  // The same classes but for their types, which Node and undici publish each for itself.
  return fetch as unknown as typeof globalThis.fetch
}
