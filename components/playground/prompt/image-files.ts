/** Reads image files that are attached to a question. This module is loaded with the first of them. */
import { countText } from '#components/token-view/numbers.ts'
import { ApiError } from '#lib/browser/api.ts'
import { readDataUrl } from '#lib/trajectory/images/data-url.ts'
import { bytesText, LIMITS } from '#lib/util/limits.ts'

/** Images that can be attached, and why others cannot. */
export interface ReadFiles {
  /** Data URLs with the types of their bytes. */
  readonly urls: readonly string[]
  readonly refusal: ApiError | undefined
}

/** Reads files as images; `attached` is the number of images that the question has already. */
export async function readImageFiles(files: readonly File[], attached: number): Promise<ReadFiles> {
  const taken = files.slice(0, Math.max(0, LIMITS.images - attached))
  const read = await Promise.all(taken.map(readFile))
  const refusals = [
    ...read.flatMap(({ why }) => why ?? []),
    ...(taken.length < files.length ? [`A question may have at most ${LIMITS.images} images.`] : []),
  ]
  return {
    urls: read.flatMap(({ url }) => url ?? []),
    refusal:
      refusals.length > 0
        ? new ApiError(0, 'IMAGE_REFUSED', refusals.join(' '), 'Attach PNG, JPEG, WebP or GIF images.')
        : undefined,
  }
}

async function readFile(file: File): Promise<{ readonly url?: string; readonly why?: string }> {
  const name = file.name || 'The pasted image'
  if (file.size > LIMITS.imageBytes)
    return {
      why: `${name} is not attached. It has ${countText(file.size)} bytes, more than the limit of ${bytesText(LIMITS.imageBytes)} for one image.`,
    }
  const image = readDataUrl(await dataUrl(file))
  return image.ok ? { url: image.url } : { why: `${name} is not attached. ${image.why}` }
}

const dataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () =>
      reject(
        new ApiError(0, 'IMAGE_REFUSED', `${file.name} cannot be read: ${reader.error?.message}`, 'Choose it again.'),
      )
    reader.readAsDataURL(file)
  })
