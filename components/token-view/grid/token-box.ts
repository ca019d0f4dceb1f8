/**
 * Boxes around single tokens: the one under the pointer, the selected one and its partner in the other lane. The selected
 * one is the active cell of the grid.
 */

import { visibleText } from '#components/ui/visible-text.ts'
import { spanPath } from '#lib/trajectory/messages/span-path.ts'
import { type Token, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { quotedPiece } from '../pieces/piece-text.ts'
import { cellsOf, columnOfToken, type DrawnLine } from './layout.ts'
import { createPart, type RowPicture } from './token-picture.ts'

/** A box that can be moved from token to token. */
export interface TokenBox {
  /** Moves the box to a token of the line; `undefined` hides it. */
  place(tokenIndex: number | undefined, line: DrawnLine | undefined, picture: RowPicture): void
}

/** Returns a hidden box. `id` is its element id, which the grid's `aria-activedescendant` refers to. */
export function createTokenBox(
  canvas: HTMLElement,
  name: 'token-pointed' | 'token-selected' | 'token-partner',
  id: string | undefined,
): TokenBox {
  const row = createPart('div', `token-outline ${name}`)
  row.role = 'row'
  const cell = createPart('div', '')
  cell.role = 'gridcell'
  if (id !== undefined) cell.id = id
  row.append(cell)
  canvas.append(row)
  let placed: { readonly index: number | undefined; readonly top: number | undefined; readonly picture: RowPicture }
  return {
    place(index, line, picture) {
      if (placed?.index === index && placed?.top === line?.top && placed?.picture === picture) return
      placed = { index, top: line?.top, picture }
      const token = line && index !== undefined ? tokenAt(picture.trajectory, index) : undefined
      row.hidden = !token
      if (!line || !token) return
      const { layout, cell: width } = picture
      const column = line.isFolded ? 0 : columnOfToken(layout, line, token.index)
      const cells = line.isFolded ? FOLD_CELLS : cellsOf(layout, token.segment.ids, token.indexInSegment)
      row.style.transform = `translate(${column * width}px, ${line.top}px)`
      row.style.width = `${cells * width}px`
      // An image is marked along its whole height.
      row.style.height = line.image ? `${line.image.rows * layout.rowHeight}px` : ''
      row.ariaRowIndex = String(line.number + 1)
      Object.assign(cell.dataset, {
        index: token.index,
        id: token.id,
        trained: token.trained,
        logprob: token.logprob ?? '',
      })
      cell.ariaLabel = tokenName(token, picture)
    },
  }
}

/** Width of the box on a folded line, in cells: only the arrow is boxed. */
const FOLD_CELLS = 1

/** Returns the text that a screen reader reads for a token. */
export function tokenName(token: Token, { trajectory, reading }: Pick<RowPicture, 'trajectory' | 'reading'>): string {
  const entry = trajectory.vocab[token.id]
  const text = entry === undefined ? 'text unknown' : quotedPiece(entry)
  return [
    `token ${token.index}`,
    text,
    `id ${token.id}`,
    reading.fact(token),
    ...spanPath(trajectory, token).map(visibleText),
  ].join(', ')
}
