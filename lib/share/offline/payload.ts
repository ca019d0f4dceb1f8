/** Packs the document as text that HTML does not change: JSON, compressed with gzip, in base64. */
import type { OfflineDocument } from './document.ts'

/** Compresses the JSON of an OfflineDocument and returns it as base64. */
export async function packDocument(json: string): Promise<string> {
  return toBase64(new Uint8Array(await through(json, new CompressionStream('gzip')).arrayBuffer()))
}

/** Unpacks the result of packDocument. Rejects any other text. */
export async function unpackDocument(payload: string): Promise<OfflineDocument> {
  const json = await through(fromBase64(payload), new DecompressionStream('gzip')).text()
  return JSON.parse(json) as OfflineDocument
}

const through = (
  content: string | Uint8Array<ArrayBuffer>,
  change: CompressionStream | DecompressionStream,
): Response => new Response((new Response(content).body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(change))

/** Number of bytes that are encoded at once, because a call has a limited number of parameters. A multiple of 3 needs no padding. */
const PIECE = 3 * 8192

/** Returns bytes of any length as base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; start += PIECE)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE))))
  return pieces.join('')
}

/** Decodes base64 in a loop, because a call for each of millions of bytes takes ten times as long. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index)
  return bytes
}
