/** Decompresses Snappy, as pages of Parquet files have it: a varint of the size, then literals and copies (format_description.txt of google/snappy). */
import { snappyUncompress } from 'hyparquet/src/snappy.js'
import { uint8At } from '#lib/util/element-at.ts'

/** Returns the `size` bytes of a page. Throws an Error for damaged data. */
export function decompressSnappy(input: Uint8Array, size: number): Uint8Array {
  checkLiterals(input)
  const output = new Uint8Array(size)
  snappyUncompress(input, output)
  return output
}

/** Throws for a literal beyond the end: the library reads lengths from 2 GiB as negative, goes back, and may never end. */
function checkLiterals(input: Uint8Array): void {
  let at = input.findIndex((byte) => byte < 128) + 1
  while (at < input.length) {
    const tag = uint8At(input, at++)
    const kind = tag & 3
    if (kind > 0) {
      at += kind === 3 ? 4 : kind
      continue
    }
    const lengthBytes = Math.max(0, (tag >>> 2) - 59)
    let length = lengthBytes === 0 ? tag >>> 2 : 0
    for (let index = 0; index < lengthBytes; index++) length += uint8At(input, at++) * 2 ** (8 * index)
    at += length + 1
    if (at > input.length) throw new Error('a Snappy literal beyond the end of its page')
  }
}
