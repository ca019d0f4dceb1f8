/** Packs the document as text that HTML does not change: JSON, compressed with gzip, in base64. */
import { fromBase64, toBase64 } from '#lib/util/text/base64.ts'
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
