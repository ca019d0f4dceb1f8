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
      for (const byte of bytes) crc = TABLE.getInt32(((crc ^ byte) & 255) * 4) ^ (crc >>> 8)
    },
    value: () => ~crc >>> 0,
  }
}

const TABLE = new DataView(new ArrayBuffer(256 * 4))
for (let index = 0; index < 256; index++) {
  let crc = index
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  TABLE.setInt32(index * 4, crc)
}
