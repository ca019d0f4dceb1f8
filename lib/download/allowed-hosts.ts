/** The hosts from which files may be downloaded. The operator names them; there are none by default. */
import { BlockList, isIPv6 } from 'node:net'
import {
  isPrivateAddress,
  literalAddress,
  type OwnAddress,
  refusedAddress,
  refusedFileUrl,
} from '#lib/engine/http/address.ts'

/** The environment variable with the hosts. */
export const HOSTS_VARIABLE = 'ROLLSCOPE_OPEN_HOSTS'

/** Checks addresses of files. */
export interface AllowedHosts {
  /** Returns why no file may be downloaded from this URL; undefined if it may be. */
  refusedUrl(url: string): string | undefined
  /** Returns why a host must not be connected at this network address; undefined if it may be. */
  refusedAddress(ip: string, host: string): string | undefined
}

interface HostEntry {
  /** Lower case; IPv6 has brackets. */
  readonly host: string
  /** '' is the default port of http and https. */
  readonly port: string
}

/**
 * Returns the checks of a list of entries: `host`, `host:port`, or a private network such as `10.0.0.0/8`, to which the names may resolve.
 * Throws an Error for any other entry.
 */
export function allowedHosts(list: readonly string[], own: OwnAddress): AllowedHosts {
  const networks = new BlockList()
  const entries: HostEntry[] = []
  for (const text of list) {
    if (text.includes('/')) addNetwork(networks, text)
    else entries.push(entryOf(text))
  }
  return {
    refusedUrl(text) {
      const why = refusedFileUrl(text, own)
      if (why !== undefined) return why
      const { hostname, port } = new URL(text)
      const host = hostname.replace(/\.$/, '')
      if (entries.some((entry) => entry.host === host && entry.port === port)) return undefined
      const name = port === '' ? host : `${host}:${port}`
      return list.length === 0
        ? `no host is allowed: ${HOSTS_VARIABLE} is not set`
        : `${name} is not one of the hosts in ${HOSTS_VARIABLE}`
    },
    refusedAddress(ip, host) {
      const why = refusedAddress(ip)
      if (why !== undefined) return why
      if (!isPrivateAddress(ip) || host === 'localhost' || host === ip) return undefined
      if (networks.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4')) return undefined
      return `${ip} is a private address, and no network in ${HOSTS_VARIABLE} contains it`
    },
  }
}

function addNetwork(networks: BlockList, text: string): void {
  const [, address = '', prefix = ''] = /^([\d.]+|[\da-f:]+)\/(\d{1,3})$/i.exec(text) ?? []
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  try {
    networks.addSubnet(address, Number(prefix), family)
  } catch {
    throw new Error(`${JSON.stringify(text)} is not a network: write it like 10.0.0.0/8`)
  }
}

function entryOf(text: string): HostEntry {
  const invalid = () =>
    new Error(`${JSON.stringify(text)} is not a host: write it like example.org or example.org:8080`)
  const url = `http://${text}`
  if (!/^(\[[\da-f:.]+\]|[^\s/?#@:[\]]+)(:\d+)?$/i.test(text) || !URL.canParse(url)) throw invalid()
  const { hostname } = new URL(url)
  const [, port = ''] = /:(\d+)$/.exec(text) ?? []
  const ip = literalAddress(hostname)
  const why = ip === undefined ? undefined : refusedAddress(ip)
  if (why !== undefined) throw new Error(why)
  return { host: hostname, port }
}
