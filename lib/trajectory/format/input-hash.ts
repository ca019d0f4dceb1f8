import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { elementAt } from '#lib/util/element-at.ts'

/** Returns the hexadecimal SHA-256 of ids as little-endian unsigned 32-bit integers; it identifies an input. */
export const inputHash = (ids: ArrayLike<number>): string => bytesToHex(sha256(idBytes(ids)))

/** Yields the hash of all ids so far after each part, so inputs that extend each other are read once. */
export function* inputHashes(parts: Iterable<ArrayLike<number>>): Generator<string> {
  const hash = sha256.create()
  for (const part of parts) {
    hash.update(idBytes(part))
    yield bytesToHex(hash.clone().digest())
  }
}

/** Returns ids as little-endian 32-bit integers. */
export function idBytes(ids: ArrayLike<number>): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * ids.length))
  for (let index = 0; index < ids.length; index++) view.setUint32(4 * index, elementAt(ids, index), true)
  return new Uint8Array(view.buffer)
}
