import { elementAt } from '#lib/util/element-at.ts'

const encoder = new TextEncoder()

/**
 * Creates a function that returns the exact bytes of a vocabulary entry, in the notation of bytes that the `decoder` of tokenizer.json
 * uses. It returns no bytes for an unknown piece.
 */
export function pieceBytes(decoder: unknown): (piece: string | undefined) => Uint8Array {
  const bytes = isByteLevel(decoder) ? byteLevelBytes : sentencePieceBytes
  return (piece) => (piece === undefined ? new Uint8Array() : bytes(piece))
}

/** Returns whether a decoder reads vocabulary entries as bytes. */
export function isByteLevel(decoder: unknown): boolean {
  if (typeof decoder !== 'object' || decoder === null || !('type' in decoder)) return false
  if (decoder.type === 'ByteLevel') return true
  return 'decoders' in decoder && Array.isArray(decoder.decoders) && decoder.decoders.some(isByteLevel)
}

/** Decodes byte-level BPE (GPT-2), which writes each byte as one character. A character outside its table represents itself. */
function byteLevelBytes(piece: string): Uint8Array {
  const bytes: number[] = []
  for (const character of piece) {
    const byte = BYTE_OF_CHARACTER.get(character)
    if (byte === undefined) bytes.push(...encoder.encode(character))
    else bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}

/** Decodes SentencePiece, which writes a space as ▁, and a byte without a piece as <0xNN>. */
function sentencePieceBytes(piece: string): Uint8Array {
  const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece)
  return byte ? Uint8Array.of(Number.parseInt(elementAt(byte, 1), 16)) : encoder.encode(piece.replaceAll('▁', ' '))
}

/** The byte that each character of byte-level BPE represents, in the order of the bytes. */
export const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = byteLevelTable()

/** Returns GPT-2's table. Printable Latin-1 characters are their own bytes; the other 68 bytes are the characters from U+0100 on. */
function byteLevelTable(): Map<string, number> {
  const isPrintable = (byte: number) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
  let next = 0x100
  return new Map(
    Array.from({ length: 256 }, (_, byte) => [String.fromCodePoint(isPrintable(byte) ? byte : next++), byte]),
  )
}
