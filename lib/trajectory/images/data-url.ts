/**
 * Reads images that are data URLs. Only these are ever shown or sent: an address is never fetched. The type comes from the
 * bytes, whatever the URL declares.
 */

import { bytesText, LIMITS } from '#lib/util/limits.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import { type ImageHeader, imageHeader } from './image-header.ts'

/** An image that can be shown, or the reason why not, as a sentence. */
export type ReadImage =
  | { readonly ok: true; readonly header: ImageHeader; readonly bytes: number; readonly url: string }
  | { readonly ok: false; readonly why: string }

/** Reads a data URL. The returned `url` has the type of the bytes. */
export function readDataUrl(url: string): ReadImage {
  const comma = url.indexOf(',')
  if (!/^data:/i.test(url) || comma < 0) return refusal('It is no data URL, and addresses are never fetched.')
  if (!/;base64$/i.test(url.slice(0, comma))) return refusal('Its data URL is not in base64.')
  const data = url.slice(comma + 1)
  // Browsers and Pillow accept fewer forms of base64 than each other, so only the usual one is read.
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) return refusal('Its base64 is damaged.')
  const bytes = (data.length / 4) * 3 - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
  if (bytes > LIMITS.imageBytes)
    return refusal(
      `It has ${countText(bytes)} bytes, more than the limit of ${bytesText(LIMITS.imageBytes)} for one image.`,
    )
  const header =
    imageHeader(bytesOf(data.slice(0, HEAD))) ?? (data.length > HEAD ? imageHeader(bytesOf(data)) : undefined)
  if (!header) return refusal('Its bytes are no PNG, JPEG, WebP or GIF image.')
  if (header.width * header.height > LIMITS.imagePixels)
    return refusal(
      `It has ${countText(header.width)} × ${countText(header.height)} pixels, more than the limit of ${countText(LIMITS.imagePixels)}.`,
    )
  return { ok: true, header, bytes, url: `data:${header.type};base64,${data}` }
}

/** Characters of base64 in which nearly every header is. */
const HEAD = 1 << 16

const refusal = (why: string): ReadImage => ({ ok: false, why })

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
