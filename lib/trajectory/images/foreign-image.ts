/** Reads image blocks in the notations of other programs. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { ContentPart } from '../format/trajectory.ts'

/** Types or keys of blocks that contain an image. */
export const IMAGE_BLOCKS: ReadonlySet<string> = new Set(['image', 'image_url', 'input_image'])

/**
 * Returns the image part of a block of chat completions (`image_url`), of the Responses API (`input_image`), of Anthropic and
 * ATIF (`source`), of Hugging Face's chat templates and of Inspect (`image`), or of Strands (`image` with `source.bytes`).
 */
export function foreignImage(block: JsonObject): ContentPart {
  const { image_url, image, source, url, path, base64 } = block
  const imageField = [image_url, image, source, url, path].find((value) => value !== undefined && value !== null)
  return imageOf(imageField ?? { data: base64 }, isObject(image) ? image.format : undefined)
}

/** A text is a data URL, an address or a path; an object names one of these, or has the bytes in base64. */
function imageOf(given: unknown, type: unknown): ContentPart {
  if (typeof given === 'string')
    return /^data:/i.test(given) ? { type: 'image', image: given } : { type: 'image', reference: given }
  if (!isObject(given)) return { type: 'image' }
  const { source, url, path, data, bytes, media_type, file_id } = given
  const base64 = data ?? bytes
  // Strands' sessions write bytes as an object.
  const text = isObject(base64) ? base64.data : base64
  if (typeof text === 'string') return { type: 'image', image: `data:${typeOf(media_type ?? type)};base64,${text}` }
  return imageOf(source ?? url ?? path ?? (typeof file_id === 'string' ? file_id : undefined), type)
}

/** The type is only a label, because readers look at the bytes. Strands writes `png`, others `image/png`. */
const typeOf = (type: unknown): string =>
  typeof type !== 'string' ? 'application/octet-stream' : type.includes('/') ? type : `image/${type}`
