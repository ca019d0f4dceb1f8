/** Writes and reads JSON in a link: compressed, after the #, which browsers never send to a server. */
import { fromBase64, toBase64 } from './text/base64.ts'

/** The kinds of data in a link. */
export type LinkName = 'setup' | 'lab'

/** Maximum size of the data in bytes. A link may expand to a thousand times its length. */
const LARGEST = 1 << 20

/** Returns the fragment `#name=…` of a link, or undefined if the data is too large to be opened. */
export async function hashOfJson(json: string, name: LinkName): Promise<string | undefined> {
  const shared = new TextEncoder().encode(JSON.stringify(JSON.parse(json)))
  if (shared.length > LARGEST) return undefined
  const bytes = await throughStream(shared, new CompressionStream('deflate-raw'))
  return `#${name}=${base64Url(bytes as Uint8Array)}`
}

/** The text of a link, or why there is none. */
export type OpenedHash =
  | { readonly kind: 'text'; readonly text: string }
  /** The address is not a link of this kind. */
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly why: string }

/**
 * Reads the text in the fragment `#name=…`; also accepts a whole address. The text before it may contain such a link.
 */
export async function textOfHash(address: string, name: LinkName): Promise<OpenedHash> {
  const mark = `#${name}=`
  const at = /^[\s\ufeff]*\{/.test(address) ? -1 : address.indexOf(mark)
  if (at < 0) return { kind: 'none' }
  const written = address.slice(at + mark.length).trim()
  if (!/^[\w-]*$/.test(written)) return { kind: 'broken', why: 'it contains invalid characters' }
  const bytes = fromBase64Url(written)
  if (!bytes) return { kind: 'broken', why: CUT }
  try {
    const read = await throughStream(bytes, new DecompressionStream('deflate-raw'))
    return read === undefined
      ? { kind: 'broken', why: 'it is larger than 1 MiB' }
      : { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(read) }
  } catch {
    return { kind: 'broken', why: CUT }
  }
}

const CUT = 'it is truncated or was changed'

/** Returns the output of a stream for these bytes; undefined if a decompressed output exceeds LARGEST. */
async function throughStream(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for await (const part of new Blob([bytes]).stream().pipeThrough(stream) as unknown as AsyncIterable<
    Uint8Array<ArrayBuffer>
  >) {
    length += part.length
    if (stream instanceof DecompressionStream && length > LARGEST) return undefined
    parts.push(part)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

const base64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

/** Decodes base64url; undefined if the length is impossible. */
function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
}
