/**
 * Decides which addresses a server may have. Loopback and private networks are normal use. Addresses that no inference server
 * has are always refused: link-local and cloud metadata, unspecified, multicast, and this application's own port.
 */
import { lookup as dnsLookup } from 'node:dns'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'
import { EngineError } from './errors.ts'

/** The address of this application, which no server may have. */
export interface OwnAddress {
  /** Host on which the application listens, besides loopback names: lower case, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /**
   * The path under which the built-in model's server is mounted: the only path of the application that may be called.
   */
  readonly builtInPath: string
}

const REFUSED = blockListOf([
  ['0.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['100.100.100.200', 32, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
  ['fd00:ec2::254', 128, 'ipv6'],
])

/** Loopback and private networks. */
const PRIVATE = blockListOf([
  ['127.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['::1', 128, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
])

function blockListOf(
  networks: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[],
): BlockList {
  const list = new BlockList()
  for (const network of networks) list.addSubnet(...network)
  return list
}

/** Endpoint paths that people copy along with the address. The client appends SGLang's own paths itself. */
const ENDPOINT = /\/(?:generate|(?:get_)?model_info|v1(?:\/(?:chat\/)?completions)?)\/*$/

/** Returns the address in its canonical spelling, without a trailing slash. Throws EngineError ADDRESS_REFUSED. */
export function serverAddress(text: string, own: OwnAddress): string {
  const refuse = (why: string): never => {
    throw new EngineError('ADDRESS_REFUSED', `this is not a valid server address: ${why}`)
  }
  const why = refusedUrl(text, 'http://127.0.0.1:30000')
  if (why !== undefined) refuse(why)
  const url = new URL(text)
  if (url.search !== '' || text.includes('?')) refuse('it contains a query (?…)')
  const [endpoint] = ENDPOINT.exec(url.pathname) ?? []
  if (endpoint !== undefined) refuse(`it ends with the path of an endpoint: leave out ${endpoint.replace(/\/+$/, '')}`)
  url.hostname = hostOf(url)
  if (isOwn(url, own) && url.pathname.replace(/\/+$/, '') !== own.builtInPath)
    refuse(`it is the address of Rollscope itself; the built-in model is at ${own.builtInPath}`)
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`
}

/**
 * Returns why the URL of an MCP server must not be called, or undefined if it may be. It may have any path and query.
 */
export function refusedMcpUrl(text: string, own: OwnAddress): string | undefined {
  const why = refusedUrl(text, 'http://127.0.0.1:8000/mcp')
  if (why !== undefined) return why
  return isOwn(new URL(text), own) ? 'it is the address of Rollscope itself' : undefined
}

/** Returns why no file may be downloaded from a URL, or undefined if it may be. It may have any path and query. */
export function refusedFileUrl(text: string, own: OwnAddress): string | undefined {
  const why = refusedUrl(text, 'https://example.org/rollouts.jsonl', 'Rollscope sends none')
  if (why !== undefined) return why
  return isOwn(new URL(text), own) ? 'it is the address of Rollscope itself' : undefined
}

/** Returns why nothing of any kind may have this URL, or undefined. `onKey` says what to do with a key in it. */
function refusedUrl(text: string, example: string, onKey = 'enter the key in its own field'): string | undefined {
  if (/[\p{Cc}\s\\]/u.test(text)) return 'it contains a space, a backslash or a control character'
  // `localhost:30000` parses as a URL whose scheme is `localhost:`.
  if (!text.includes('://') || !URL.canParse(text)) return `it is not a URL; write it like ${example}`
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `it begins with ${url.protocol}, which is not http:// or https://`
  if (url.username !== '' || url.password !== '') return `it contains a user name or password; ${onKey}`
  if (text.includes('#')) return 'it contains a fragment (#…)'
  if (url.port === '0') return 'port 0 is not a valid port'
  const host = hostOf(url)
  if (host === '') return 'it has no host'
  const ip = literalAddress(host)
  return ip === undefined ? undefined : refusedAddress(ip)
}

/** Returns the host without the trailing dot that some resolvers accept: `localhost.` is `localhost`. */
const hostOf = (url: URL): string => url.hostname.replace(/\.$/, '')

/** Returns whether the application itself listens at this URL. */
function isOwn(url: URL, own: OwnAddress): boolean {
  const host = hostOf(url)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  return port === own.port && (isLoopback(host) || (literalAddress(host) ?? host).toLowerCase() === own.host)
}

/** Returns why a network address is refused, or undefined. `ip` is a literal; IPv6 has no brackets. */
export const refusedAddress = (ip: string): string | undefined =>
  isIn(REFUSED, ip) ? `${ip} is a link-local, metadata, unspecified or multicast address` : undefined

/** Returns whether a network address is loopback or of a private network. */
export const isPrivateAddress = (ip: string): boolean => isIn(PRIVATE, ip)

/** Returns whether a list contains an address, or the IPv4 address inside it. */
function isIn(list: BlockList, ip: string): boolean {
  const family = isIPv6(ip) ? 'ipv6' : 'ipv4'
  const inner = family === 'ipv6' ? embeddedIpv4(ip) : undefined
  return list.check(ip, family) || (inner !== undefined && list.check(inner, 'ipv4'))
}

/** Returns why a host must not be connected at a network address, or undefined. */
export type RefuseAddress = (ip: string, host: string) => string | undefined

/** Returns a function that resolves a name to addresses that may be called, so that the connection goes to a checked address. */
export const createCheckedLookup =
  (refuse: RefuseAddress): LookupFunction =>
  (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const refused = addresses.map(({ address }) => refuse(address, hostname)).find((why) => why !== undefined)
      if (refused !== undefined)
        return callback(new EngineError('ADDRESS_REFUSED', `${hostname} is refused: ${refused}`), '')
      const [first] = addresses
      if (options.all) callback(null, addresses)
      else callback(null, first?.address ?? '', first?.family)
    })
  }

/** Returns the IP address that a parsed URL has as its host, or undefined for a name. */
export function literalAddress(host: string): string | undefined {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) ? bare : undefined
}

const isLoopback = (host: string): boolean => {
  const ip = literalAddress(host)
  if (ip === undefined) return host === 'localhost' || host.endsWith('.localhost')
  return ip === '::1' || (embeddedIpv4(ip) ?? ip).startsWith('127.')
}

/** Returns the IPv4 address inside an IPv6 address: mapped, compatible, NAT64 or 6to4. */
function embeddedIpv4(ip: string): string | undefined {
  const groups = ipv6Groups(ip)
  if (!groups) return undefined
  const dotted = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const [a = 0, b = 0, c = 0] = groups
  const high = groups[6] ?? 0
  const low = groups[7] ?? 0
  const leadingZeros = groups.slice(0, 5).every((group) => group === 0)
  if (leadingZeros && (groups[5] === 0xffff || (groups[5] === 0 && (high !== 0 || low > 1)))) return dotted(high, low)
  if (a === 0x64 && b === 0xff9b) return dotted(high, low)
  if (a === 0x2002) return dotted(b, c)
  return undefined
}

function ipv6Groups(ip: string): number[] | undefined {
  if (!isIPv6(ip)) return undefined
  const spelled = new URL(`http://[${ip.replace(/%.*$/, '')}]/`).hostname.slice(1, -1)
  const [head = '', tail] = spelled.split('::')
  const parts = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const left = parts(head)
  const right = tail === undefined ? [] : parts(tail)
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}
