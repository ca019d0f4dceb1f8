/** Bytes as base64, in the browser and on the server. */

/** Number of bytes that are encoded at once, because a call has a limited number of parameters. A multiple of 3 needs no padding. */
const PIECE = 3 * 8192

/** Returns bytes of any length as base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; start += PIECE)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(start, start + PIECE))))
  return pieces.join('')
}

/** Decodes base64 in a loop, because a call for each of millions of bytes takes ten times as long. Throws for any other text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index)
  return bytes
}
