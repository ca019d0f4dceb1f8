/** JSON in a link: compressed, after the #, which no browser sends to a server. */

/** What a link can bring. */
export type LinkName = 'setup' | 'lab'

/** Bytes. What a link holds may be a thousand times its length. */
const LARGEST = 1 << 20

/** What follows the page's address, from `#name=` on; undefined where it would hold more than can be opened. */
export async function hashOfJson(json: string, name: LinkName): Promise<string | undefined> {
  const shared = new TextEncoder().encode(JSON.stringify(JSON.parse(json)))
  if (shared.length > LARGEST) return undefined
  const bytes = await throughStream(shared, new CompressionStream('deflate-raw'))
  return `#${name}=${base64Url(bytes as Uint8Array)}`
}

export type OpenedHash =
  | { readonly kind: 'text'; readonly text: string }
  /** Another address. */
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly why: string }

/** The text in the part of an address that begins with `#name=`; a whole address will do. JSON may speak of such a link. */
export async function textOfHash(address: string, name: LinkName): Promise<OpenedHash> {
  const mark = `#${name}=`
  const at = /^[\s\ufeff]*\{/.test(address) ? -1 : address.indexOf(mark)
  if (at < 0) return { kind: 'none' }
  const written = address.slice(at + mark.length).trim()
  if (!/^[\w-]*$/.test(written)) return { kind: 'broken', why: 'it holds characters that no such link has' }
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

const CUT = 'it is cut off, or was changed'

/** Undefined where more than LARGEST comes out. */
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

function base64Url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Undefined where no text has so many characters. */
function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
}
