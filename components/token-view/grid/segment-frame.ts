/** The rail beside a segment: its number, kind, mask and length, and the button that folds it. */

import { countText } from '#components/token-view/numbers.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { createPart, type PooledElement, setData, setText, type TokenPicture } from './token-picture.ts'

/** Elements of one segment's frame and rail. */
export interface SegmentFrame extends PooledElement {
  readonly position: HTMLElement
  readonly fold: HTMLElement
  readonly kind: HTMLElement
  readonly mask: HTMLElement
  readonly length: HTMLElement
}

/** Returns new, empty elements for a segment's frame. */
export function makeFrame(): SegmentFrame {
  const element = createPart('div', 'segment-frame')
  element.ariaHidden = 'true'
  const rail = createPart('div', 'segment-rail')
  const fold = createPart('button', 'rail-fold')
  fold.tabIndex = -1
  const [position, kind, mask, length] = [
    createPart('div', 'rail-position'),
    createPart('div', 'rail-kind'),
    createPart('div', 'rail-mask'),
    createPart('div', 'rail-length'),
  ]
  rail.append(fold, position, kind, mask, length)
  element.append(rail)
  return { element, position, fold, kind, mask, length }
}

/** Writes a segment into its frame. `top` and `height` are those of the drawn part, in pixels of the layout. */
export function paintFrame(
  { element, position, fold, kind, mask, length }: SegmentFrame,
  index: number,
  { top, height }: { readonly top: number; readonly height: number },
  { layout, reading, canFold }: TokenPicture,
): void {
  const { segment, firstToken, folds } = elementAt(layout.segments, index)
  setStyle(element, 'top', `${top}px`)
  setStyle(element, 'height', `${height}px`)
  setData(element, 'segment', String(index))
  setData(element, 'kind', segment.kind)
  setData(element, 'collapsed', String(folds?.whole ?? false))
  setData(fold, 'fold', `segment ${index}`)
  fold.hidden = !canFold || segment.ids.length === 0
  setText(fold, folds?.whole ? '▸' : '▾')
  fold.title = folds?.whole ? 'Unfold the segment' : 'Fold the segment'
  setText(position, `#${index} · ${firstToken}`)
  setText(kind, reading.title(segment, index))
  setText(mask, reading.mask(segment, index))
  setText(length, `${countText(segment.ids.length)} tok`)
}

function setStyle(element: HTMLElement, name: 'top' | 'height', value: string): void {
  if (element.style[name] !== value) element.style[name] = value
}
