import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** SHA-256, hexadecimal, over ids as little-endian unsigned 32-bit integers: tells whether two inputs were the same. */
export function inputHash(ids: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(4 * ids.length))
  for (const [index, id] of ids.entries()) view.setUint32(4 * index, id, true)
  return bytesToHex(sha256(new Uint8Array(view.buffer)))
}
