import { countText } from '#components/token-view/numbers.ts'
import type { Inspection } from '../inspection.ts'
import { drawImage } from './draw-image.ts'
import { gridImage, imageRange } from './grid-image.ts'

/**
 * Copies the selected or visible tokens as a PNG image. If the browser refuses, the image is saved as a file. Returns the
 * message for the status line.
 */
export async function copyGridImage(
  { grid, view, inSight, colouring }: Pick<Inspection, 'grid' | 'view' | 'inSight' | 'colouring'>,
  name: string,
  save: (content: Blob, name: string) => void,
): Promise<string> {
  const drawing = grid.current?.drawing()
  const range = imageRange(view.selection, inSight)
  if (!drawing || !range) return 'There are no tokens to copy as an image.'
  const image = gridImage(drawing.picture, colouring, range, name)
  const canvas = drawImage(image, drawing.element)
  const png = new Promise<Blob>((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the browser could not create the image')))),
  )
  const size = `${canvas.width} × ${canvas.height} pixels`
  const cut = image.left > 0 ? `; ${countText(image.left)} lines did not fit` : ''
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })])
    return `Image copied: ${size}${cut}.`
  } catch {
    save(await png, 'tokens.png')
    return `The browser refused to copy; saved as tokens.png: ${size}${cut}.`
  }
}
