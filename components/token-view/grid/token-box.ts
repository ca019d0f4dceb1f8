/** The boxes around the token under the pointer and the selected one; the latter is the grid's active cell. */

import { visibleText } from '#components/ui/visible-text.ts'
import { spanPath } from '#lib/trajectory/messages/span-path.ts'
import { type Token, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { quoted } from '../pieces/piece-text.ts'
import { cellsOf, columnOfToken, type DrawnLine } from './layout.ts'
import { part, type RowPicture } from './token-picture.ts'

export interface TokenBox {
  /** Around a token of the line; undefined: nowhere. */
  place(tokenIndex: number | undefined, line: DrawnLine | undefined, picture: RowPicture): void
}

/** `id`: of the element that a screen reader is pointed to while the grid has the focus. */
export function createTokenBox(
  canvas: HTMLElement,
  name: 'token-pointed' | 'token-selected' | 'token-partner',
  id: string | undefined,
): TokenBox {
  const row = part('div', `token-outline ${name}`)
  row.role = 'row'
  const cell = part('div', '')
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

/** Of a line that is folded away, its arrow is boxed. */
const FOLD_CELLS = 1

/** What a screen reader says of a token. */
export function tokenName(token: Token, { trajectory, reading }: Pick<RowPicture, 'trajectory' | 'reading'>): string {
  const entry = trajectory.vocab[token.id]
  const text = entry === undefined ? 'text unknown' : quoted(entry)
  return [
    `token ${token.index}`,
    text,
    `id ${token.id}`,
    reading.fact(token),
    ...spanPath(trajectory, token).map(visibleText),
  ].join(', ')
}
