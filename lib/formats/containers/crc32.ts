/** The checksum of gzip and zip. */
export interface Crc32 {
  add(bytes: Uint8Array): void
  /** Returns the checksum of all bytes so far. */
  value(): number
}

/** Returns a checksum of no bytes. The libraries that decompress do not compare checksums. */
export function createCrc32(): Crc32 {
  let crc = -1
  return {
    add(bytes) {
      for (let i = 0; i < bytes.length; i++) crc = (TABLE[(crc ^ (bytes[i] ?? 0)) & 255] ?? 0) ^ (crc >>> 8)
    },
    value: () => ~crc >>> 0,
  }
}

const TABLE = Int32Array.from({ length: 256 }, (_, index) => {
  let crc = index
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  return crc
})
