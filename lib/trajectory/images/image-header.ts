/** Recognizes an image by its bytes and reads its size from its header. Nothing is decoded, and a declared type counts for nothing. */

/** The type and the size of an image. */
export interface ImageHeader {
  readonly type: ImageType
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/** Types of images that are shown and sent. SVG is a document that can contain scripts and addresses, so it is none of them. */
type ImageType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'

/** Returns the header of an image, or undefined if the bytes are none, or are too short. */
export function imageHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found = begins(bytes, PNG)
    ? pngHeader(view)
    : begins(bytes, 'GIF87a') || begins(bytes, 'GIF89a')
      ? gifHeader(view)
      : begins(bytes, JPEG)
        ? jpegHeader(view)
        : begins(bytes, 'RIFF') && begins(bytes.subarray(8), 'WEBP')
          ? webpHeader(view)
          : undefined
  return found && found.width > 0 && found.height > 0 ? found : undefined
}

const PNG = '\x89PNG\r\n\x1a\n'
const JPEG = '\xff\xd8\xff'

const begins = (bytes: Uint8Array, text: string): boolean =>
  bytes.length >= text.length && [...text].every((character, index) => bytes[index] === character.charCodeAt(0))

const hasBytes = (view: DataView, length: number): boolean => view.byteLength >= length

/** The first chunk of a PNG file has its size. */
const pngHeader = (view: DataView): ImageHeader | undefined =>
  hasBytes(view, 24) ? { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) } : undefined

const gifHeader = (view: DataView): ImageHeader | undefined =>
  hasBytes(view, 10)
    ? { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
    : undefined

/** A JPEG file is a list of segments, one of which (start of frame) has the size. */
function jpegHeader(view: DataView): ImageHeader | undefined {
  let at = 2
  while (hasBytes(view, at + 9)) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    // Any number of 0xFF may precede a marker.
    if (marker === 0xff) at++
    else if (isStartOfFrame(marker))
      return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    else at += 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** C4, C8 and CC are in the same range and mean tables and extensions. */
const isStartOfFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** The first chunk of a WebP file says whether it is lossy, lossless or extended; each has its own notation of the size. */
function webpHeader(view: DataView): ImageHeader | undefined {
  if (!hasBytes(view, 30)) return undefined
  const type = 'image/webp'
  switch (view.getUint32(12)) {
    case chunk('VP8 '):
      return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case chunk('VP8L'): {
      const bits = view.getUint32(21, true)
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
    }
    case chunk('VP8X'):
      return { type, width: (view.getUint32(24, true) & 0xffffff) + 1, height: (view.getUint32(26, true) >>> 8) + 1 }
    default:
      return undefined
  }
}

const chunk = (name: string): number => [...name].reduce((code, letter) => code * 256 + letter.charCodeAt(0), 0)
