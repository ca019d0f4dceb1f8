/** Images in the token view: the tokens of an image are one box, a line with its name above the picture. */
import { visibleText } from '#components/ui/visible-text.ts'
import { type ImageBox, imageBoxesOf, imageSpansOf } from '#lib/trajectory/images/image-boxes.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { DrawnLine } from '../grid/layout.ts'
import type { BoxedImage } from '../grid/line-folds.ts'
import { createPart, type RowPicture, setData, setText } from '../grid/token-picture.ts'
import { countText } from '../numbers.ts'
import { imageFacts } from './image-picture.tsx'

/** Lines of the picture. Rows are drawn up to this far outside of the view, so a picture never vanishes while it is visible. */
const PICTURE_ROWS = 5

/** Returns the boxes of a segment's images with their numbers of lines. */
export const boxedImages = (trajectory: TrajectoryView, segmentIndex: number): readonly BoxedImage[] =>
  imageBoxesOf(trajectory, segmentIndex).map(({ span, image }) => ({ ...span, rows: image.ok ? 1 + PICTURE_ROWS : 1 }))

/** Returns the first image whose tokens begin in a line; undefined if there is none. */
export function openImageIn({ layout: { segment }, start, end }: DrawnLine, trajectory: TrajectoryView) {
  const span = imageSpansOf(segment, trajectory).find((one) => one.start >= start && one.start < end)
  return span && ({ kind: 'image', start: span.start } as const)
}

/** Writes an image into the text of its row: its name, which opens its tokens, and the picture below. */
export function paintImageLine(
  text: HTMLElement,
  line: DrawnLine,
  picture: RowPicture,
  marks: readonly string[],
): void {
  const { trajectory, layout, cell, canFold } = picture
  const box = imageBoxesOf(trajectory, line.segmentIndex).find(({ span }) => span.start === line.start)
  if (!box) return
  const parts = knownParts(text)
  setText(parts.name, [`${canFold ? '▸ ' : ''}image ${box.number}`, ...factsOf(box), ...marks].join(' · '))
  setData(parts.name, 'fold', canFold ? `image ${line.layout.firstToken + line.start}` : '')
  parts.name.title = canFold ? 'Show its tokens' : ''
  const { image } = box
  if (image.ok) {
    if (parts.picture.src !== image.url) parts.picture.src = image.url
    parts.picture.alt = `Image ${box.number}`
    parts.picture.style.height = `${PICTURE_ROWS * layout.rowHeight - 6}px`
    parts.picture.style.marginLeft = `${2 * cell}px`
    text.replaceChildren(parts.name, parts.picture)
  } else text.replaceChildren(parts.name)
}

function factsOf({ span, image, tokensRead }: ImageBox): readonly string[] {
  const tokens = span.end - span.start
  const read = tokensRead === undefined || tokensRead === tokens ? '' : `, read as ${countText(tokensRead)}`
  return [
    image.ok ? imageFacts(image) : visibleText(image.why.replace(/\.$/, '')),
    countWithNoun(tokens, 'token') + read,
  ]
}

/** The elements are kept with their row, so that a row that is painted again does not load its picture again. */
const knownParts = memoizeByIdentity((_: HTMLElement) => {
  const picture = document.createElement('img')
  picture.className = 'token-image'
  picture.draggable = false
  return { name: createPart('span', 'token-image-name'), picture }
})
