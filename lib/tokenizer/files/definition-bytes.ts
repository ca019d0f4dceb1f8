/**
 * A tokenizer definition with a packed vocabulary as bytes, which are kept in a file: a reader parses no vocabulary, and its
 * tables are views of the bytes. First come the mark, the version and the lengths of the parts as 32-bit numbers. The parts
 * follow: the tables, those of 32-bit numbers first, and the rest as JSON. All are little endian.
 */
import { elementAt } from '#lib/util/element-at.ts'
import type { TokenizerDefinition } from './tokenizer-files.ts'

/** Version of the bytes and of their content. Bytes of another version are not read. */
const DEFINITION_VERSION = 1

/** The first number: "RSTK". */
const MARK = 0x4b545352
/** Numbers before the parts: mark, version and the lengths of seven parts. */
const PREFIX = 9

/** Returns the bytes of a definition; undefined if its vocabulary is not packed. */
export function definitionBytes({ tables, ...others }: TokenizerDefinition): Uint8Array<ArrayBuffer> | undefined {
  if (!tables) return undefined
  const { merges, idsOfBytes, words, starts, ends, pieces } = tables
  const parts = [merges, idsOfBytes, words, starts, ends, pieces, new TextEncoder().encode(JSON.stringify(others))]
  const lengths = parts.map(({ byteLength }) => byteLength)
  const bytes = new Uint8Array(4 * PREFIX + lengths.reduce((sum, length) => sum + length, 0))
  new Uint32Array(bytes.buffer, 0, PREFIX).set([MARK, DEFINITION_VERSION, ...lengths])
  let at = 4 * PREFIX
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return bytes
}

/** Returns the definition in these bytes; undefined for bytes of another version, and for truncated ones. */
export function readDefinitionBytes(bytes: Uint8Array<ArrayBuffer>): TokenizerDefinition | undefined {
  const { buffer, byteOffset, byteLength } = bytes
  if (byteLength < 4 * PREFIX || byteOffset % 4 !== 0) return undefined
  const [mark, version, ...lengths] = new Uint32Array(buffer, byteOffset, PREFIX)
  const ends = lengths.map((_, index) => lengths.slice(0, index + 1).reduce((sum, length) => sum + length, 4 * PREFIX))
  if (mark !== MARK || version !== DEFINITION_VERSION || ends.at(-1) !== byteLength) return undefined
  const startOf = (part: number) => byteOffset + elementAt(ends, part) - elementAt(lengths, part)
  const int32 = (part: number) => new Int32Array(buffer, startOf(part), elementAt(lengths, part) / 4)
  const uint32 = (part: number) => new Uint32Array(buffer, startOf(part), elementAt(lengths, part) / 4)
  const uint8 = (part: number) => new Uint8Array(buffer, startOf(part), elementAt(lengths, part))
  return {
    ...(JSON.parse(new TextDecoder().decode(uint8(6))) as TokenizerDefinition),
    tables: {
      merges: int32(0),
      idsOfBytes: int32(1),
      words: int32(2),
      starts: uint32(3),
      ends: uint32(4),
      pieces: uint8(5),
    },
  }
}
