/** Draws the visible part of the tree. Rows of tokens are those of the token view; heads, folds and rails are around them. */

import { createElementPool } from '#components/token-view/grid/element-pool.ts'
import type { DrawnLine } from '#components/token-view/grid/layout.ts'
import { visiblePart } from '#components/token-view/grid/scroll-space.ts'
import { createTokenBox } from '#components/token-view/grid/token-box.ts'
import {
  createPart,
  type PooledElement,
  setData,
  setStyle,
  setText,
} from '#components/token-view/grid/token-picture.ts'
import { makeRow, paintRow } from '#components/token-view/grid/token-row.ts'
import { countText } from '#components/token-view/numbers.ts'
import { segmentTitle } from '#components/token-view/segment-title.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt, float64At, int32At } from '#lib/util/element-at.ts'
import type { SampleBranch, TreeSpot } from '../tree.ts'
import { isDimmed, makeHead, paintHead } from './branch-head.ts'
import { foldedBranchText, hiddenTokensText } from './fold-texts.ts'
import { isShared, itemSpanBetween, SEGMENT_GAP, type TreeItem } from './rows.ts'
import { drawnLineOf, lineOfSpot, widthOf } from './tree-lines.ts'
import { DEEPEST_INDENT, type TreePicture } from './tree-picture.ts'

/** Draws a tree. */
export interface TreePainter {
  /** Draws the rows between two heights, in pixels, and returns the branches that are visible. */
  readonly draw: (picture: TreePicture, top: number, bottom: number) => ReadonlySet<number>
}

/** Id of the box of the pinned token, which the grid's `aria-activedescendant` refers to. */
export const PINNED_ID = 'tree-pinned-token'

/** Returns a painter that draws into the layer and uses its elements again. */
export function createTreePainter(layer: HTMLElement): TreePainter {
  const rails = createElementPool(layer, makeRail)
  const stems = createElementPool(layer, makeStem)
  const rows = createElementPool(layer, makeRow)
  const heads = createElementPool(layer, makeHead)
  const folds = createElementPool(layer, makeFold)
  const pointed = createShiftedBox(layer, 'token-pointed', undefined)
  const pinned = createShiftedBox(layer, 'token-selected', PINNED_ID)
  return {
    draw(picture, top, bottom) {
      const { tree, items, tops, firstRows, rowHeight } = picture.rows
      const { start, end } = itemSpanBetween(picture.rows, top, bottom)
      const lines: { readonly line: DrawnLine; readonly branch: SampleBranch }[] = []
      const visible = new Set<number>()
      const headed: number[] = []
      const folded: { readonly item: TreeItem; readonly key: number; readonly top: number; readonly left: number }[] =
        []
      const railed: number[] = []
      for (let index = start; index < end; index++) {
        const item = elementAt(items, index)
        const itemTop = float64At(tops, index)
        const branch = elementAt(tree.branches, item.branch)
        visible.add(item.branch)
        if (item.kind === 'head') headed.push(index)
        else if (item.kind === 'fold')
          folded.push({ item, key: int32At(firstRows, index), top: itemTop, left: picture.indentOf(branch) })
        else if (item.kind === 'tokens') {
          railed.push(index)
          const drawn = picture.pictureOf(branch)
          if (!drawn) continue
          const first = Math.max(0, Math.floor((top - itemTop) / rowHeight))
          const last = Math.min(item.rows - 1, Math.floor((bottom - itemTop) / rowHeight))
          for (let row = first; row <= last; row++) {
            const line = drawnLineOf(picture.rows, index, row, drawn)
            if (!line) continue
            lines.push({ line, branch })
            if (!item.isFolded) continue
            const left = picture.indentOf(branch) + (widthOf(drawn.layout, line) + 1.5) * picture.cell
            folded.push({ item, key: line.number, top: line.top, left })
          }
        }
      }
      const stemmed = stemKeys(picture, top, bottom)
      stems.show(stemmed, (stem, at) => paintStem(stem, elementAt(stemmed, at), picture, top, bottom))
      rails.show(railed, (rail, at) => paintRail(rail, elementAt(railed, at), picture))
      rows.show(
        lines.map(({ line }) => line.number),
        (row, at) => {
          const { line, branch } = elementAt(lines, at)
          const drawn = picture.pictureOf(branch)
          if (!drawn) return
          setStyle(row.element, 'left', `${picture.indentOf(branch)}px`)
          setData(row.element, 'dim', String(isDimmed(branch, picture.chosen)))
          paintRow(row, line, drawn)
        },
      )
      heads.show(headed, (head, at) => {
        const index = elementAt(headed, at)
        const branch = elementAt(tree.branches, elementAt(items, index).branch)
        const next = items[index + 1]
        const isFolded =
          next?.branch === branch.index &&
          (next.kind === 'tokens' ? next.isFolded : next.kind === 'fold' && next.isBranch)
        paintHead(head, branch, isFolded, float64At(tops, index), picture)
      })
      folds.show(
        folded.map(({ key }) => key),
        (fold, at) => {
          const { item, top, left } = elementAt(folded, at)
          paintFold(fold, item, top, left, picture)
        },
      )
      placeBox(pointed, picture.pointed, picture)
      placeBox(pinned, picture.pinned, picture)
      return visible
    },
  }
}

interface ShiftedBox {
  readonly shift: HTMLElement
  readonly box: ReturnType<typeof createTokenBox>
}

/** Returns a box of the token view inside a layer of its own, which moves by the indentation. */
function createShiftedBox(
  layer: HTMLElement,
  name: 'token-pointed' | 'token-selected',
  id: string | undefined,
): ShiftedBox {
  const shift = createPart('div', 'branch-shift')
  shift.role = 'rowgroup'
  layer.append(shift)
  return { shift, box: createTokenBox(shift, name, id) }
}

function placeBox({ shift, box }: ShiftedBox, spot: TreeSpot | undefined, picture: TreePicture): void {
  const branch = spot && picture.rows.tree.branches[spot.branch]
  const drawn = branch && picture.pictureOf(branch)
  const line = drawn && lineOfSpot(picture, spot)
  shift.hidden = !line
  if (!line || !drawn || !branch) return
  setStyle(shift, 'transform', `translateX(${picture.indentOf(branch)}px)`)
  box.place(spot.token, line, drawn)
}

function makeFold() {
  const element = createPart('div', 'branch-hidden')
  element.role = 'row'
  const text = createPart('span', '')
  text.role = 'gridcell'
  element.append(text)
  return { element, text }
}

function paintFold(
  { element, text }: ReturnType<typeof makeFold>,
  item: TreeItem,
  top: number,
  left: number,
  picture: TreePicture,
): void {
  const { tree } = picture.rows
  const branch = elementAt(tree.branches, item.branch)
  setStyle(element, 'transform', `translateY(${top}px)`)
  setStyle(element, 'left', `${left}px`)
  setStyle(element, 'max-width', `calc(100% - ${left}px)`)
  const isBranch = item.kind === 'tokens' || (item.kind === 'fold' && item.isBranch)
  setData(element, 'toggle', String(branch.index))
  setData(element, 'dim', String(isDimmed(branch, picture.chosen)))
  const words =
    item.kind === 'fold' && !item.isBranch
      ? hiddenTokensText(branch, item.tokens, picture.trajectoryOf(branch))
      : foldedBranchText(tree, branch)
  setData(element, 'hides', isBranch ? 'branch' : 'tokens')
  setText(text, `▸ ${words}`)
}

function makeRail() {
  const element = createPart('div', 'branch-rail')
  element.ariaHidden = 'true'
  const [position, kind, mask, length, samples] = [
    createPart('div', 'rail-position'),
    createPart('div', 'rail-kind'),
    createPart('div', ''),
    createPart('div', ''),
    createPart('div', 'branch-rail-samples'),
  ]
  element.append(position, kind, mask, length, samples)
  return { element, position, kind, mask, length, samples }
}

/** Lines beside which all texts of a rail fit. */
const RAIL_LINES = 4

function paintRail(
  { element, position, kind, mask, length, samples }: ReturnType<typeof makeRail>,
  index: number,
  picture: TreePicture,
): void {
  const { rows } = picture
  const item = elementAt(rows.items, index)
  const branch = elementAt(rows.tree.branches, item.branch)
  const drawn = picture.pictureOf(branch)
  const line = drawn && drawnLineOf(rows, index, 0, drawn)
  const shared = isShared(rows.tree, branch)
  const height = item.rows * rows.rowHeight
  const [top, all] = shared
    ? [float64At(rows.tops, index) - SEGMENT_GAP, height + 2 * SEGMENT_GAP]
    : [float64At(rows.tops, index), height]
  setStyle(element, 'top', `${top}px`)
  setStyle(element, 'height', `${all}px`)
  setData(element, 'shared', String(shared))
  const isNamed = shared || (line !== undefined && line.start === 0)
  element.hidden = !line || !isNamed
  if (!line || !isNamed) return
  const { segment, firstToken } = line.layout
  setData(element, 'kind', segment.kind)
  setText(position, `#${line.segmentIndex} · ${countText(firstToken)}`)
  setText(kind, item.rows > 1 || shared ? segmentTitle(segment) : '')
  const isFull = shared && item.rows >= RAIL_LINES
  const inBranch = Math.min(firstToken + segment.ids.length, branch.end) - firstToken
  setText(mask, isFull ? (segment.mask ? 'mask 0/1' : isTrained(segment, 0) ? 'mask 1' : 'mask 0') : '')
  setText(length, isFull ? `${countText(inBranch)} tok` : '')
  setText(samples, isFull ? `${countText(branch.samples.length)} of ${countText(rows.tree.forest.samples.length)}` : '')
}

function makeStem() {
  const element = createPart('div', 'branch-stem')
  element.ariaHidden = 'true'
  return { element }
}

/** Returns the branches after which a stem with branches is visible. */
function stemKeys({ rows }: TreePicture, top: number, bottom: number): readonly number[] {
  return rows.tree.branches.flatMap((branch) => {
    const span = stemOf(rows, branch)
    return span && span.top < bottom && span.bottom > top && branch.level < DEEPEST_INDENT ? [branch.index] : []
  })
}

/** Returns the height range of the stem after a branch: from its first to its last continuation. */
function stemOf(
  { itemOfBranch, tops, rowHeight }: TreePicture['rows'],
  { children }: SampleBranch,
): { readonly top: number; readonly bottom: number } | undefined {
  const [first, last] = [children[0], children.at(-1)]
  if (first === undefined || last === undefined || int32At(itemOfBranch, first) < 0) return undefined
  return {
    top: float64At(tops, int32At(itemOfBranch, first)) - 4,
    bottom: float64At(tops, int32At(itemOfBranch, last)) + rowHeight / 2,
  }
}

function paintStem(
  { element }: PooledElement,
  key: number,
  { rows, indentOf }: TreePicture,
  top: number,
  bottom: number,
): void {
  const branch = elementAt(rows.tree.branches, key)
  const span = stemOf(rows, branch)
  const child = rows.tree.branches[branch.children[0] ?? -1]
  if (!span || !child) return
  const part = visiblePart({ top: span.top, height: span.bottom - span.top }, top, bottom)
  setStyle(element, 'top', `${part.top}px`)
  setStyle(element, 'height', `${Math.max(0, part.height)}px`)
  setStyle(element, 'left', `${indentOf(child) - STEM_LEFT}px`)
  setData(element, 'open', String(part.top + part.height < span.bottom))
}

const STEM_LEFT = 13
