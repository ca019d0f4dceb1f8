/** The document as text that HTML leaves alone: JSON, packed with gzip, in base64. */
import type { OfflineDocument } from './document.ts'

/** `json`: of an OfflineDocument. */
export async function packDocument(json: string): Promise<string> {
  return toBase64(new Uint8Array(await through(json, new CompressionStream('gzip')).arrayBuffer()))
}

/** Rejects what packDocument has not made. */
export async function unpackDocument(payload: string): Promise<OfflineDocument> {
  const json = await through(fromBase64(payload), new DecompressionStream('gzip')).text()
  return JSON.parse(json) as OfflineDocument
}

const through = (
  content: string | Uint8Array<ArrayBuffer>,
  change: CompressionStream | DecompressionStream,
): Response => new Response((new Response(content).body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(change))

/** A piece at a time: the parameters of a call are few. Each but the last is a multiple of three bytes. */
const PIECE = 3 * 8192

export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; start += PIECE)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE))))
  return pieces.join('')
}

/** A loop: a call for each of millions of bytes takes ten times as long. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index)
  return bytes
}
