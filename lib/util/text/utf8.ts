/** Decodes UTF-8, and finds the place of bytes that are not UTF-8. */

/** The text of bytes, or the index of the first byte that begins no character. */
export type DecodedText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly at: number }

/** Decodes bytes without their byte order mark. */
export function decodeUtf8(bytes: Uint8Array): DecodedText {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { ok: false, at: firstInvalidByte(bytes) }
  }
}

/** Returns the index of the first U+FFFD in the text that its bytes do not contain. */
function firstInvalidByte(bytes: Uint8Array): number {
  const encoder = new TextEncoder()
  let at = 0
  for (const part of new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).split('\uFFFD')) {
    at += encoder.encode(part).length
    if (REPLACEMENT.some((byte, index) => bytes[at + index] !== byte)) break
    at += REPLACEMENT.length
  }
  return at
}

/** U+FFFD in UTF-8. */
const REPLACEMENT = [0xef, 0xbf, 0xbd] as const
