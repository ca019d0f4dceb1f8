/**
 * A setup to be shared: a settings file without servers, so that neither addresses nor keys are in it, and the server goes
 * by its name. In a link it stands behind the #, which no browser sends to a server.
 */
import { EMPTY_PROMPT, type PromptDraft, withShown } from './prompt-draft.ts'
import { settingsText } from './settings-file.ts'
import type { Setup } from './setup.ts'

export const sharedText = (setup: Setup, prompt: PromptDraft): string =>
  settingsText({ servers: [], setup, prompt: withShown(EMPTY_PROMPT, prompt) })

const MARK = '#setup='
/** Bytes. What a link holds may be a thousand times its length. */
const LARGEST = 1 << 20

/** What follows the page's address; undefined where it would hold more than can be opened. */
export async function sharedHash(text: string): Promise<string | undefined> {
  const shared = new TextEncoder().encode(JSON.stringify(JSON.parse(text)))
  if (shared.length > LARGEST) return undefined
  const bytes = await throughStream(shared, new CompressionStream('deflate-raw'))
  return MARK + base64Url(bytes as Uint8Array)
}

export type OpenedHash =
  | { readonly kind: 'text'; readonly text: string }
  /** Another address. */
  | { readonly kind: 'none' }
  | { readonly kind: 'broken'; readonly why: string }

/** The settings file in the part of an address that begins with #; a whole address will do. JSON may speak of such a link. */
export async function textOfHash(address: string): Promise<OpenedHash> {
  const at = /^[\s\ufeff]*\{/.test(address) ? -1 : address.indexOf(MARK)
  if (at < 0) return { kind: 'none' }
  const bytes = fromBase64Url(address.slice(at + MARK.length).trim())
  if (!bytes) return { kind: 'broken', why: 'it holds characters that no such link has' }
  try {
    const read = await throughStream(bytes, new DecompressionStream('deflate-raw'))
    return read === undefined
      ? { kind: 'broken', why: 'it is larger than 1 MiB' }
      : { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(read) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { kind: 'broken', why: 'it is cut off, or was changed' }
  }
}

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

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
}
