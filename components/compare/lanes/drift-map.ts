/** Where drift stands in the height of all rows. Pure: no canvas. */
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { DriftSeverity, DriftSpan } from '#lib/trajectory/drift/report.ts'
import type { Pairing } from './pairing.ts'
import { type Item, itemAt, type Rows } from './rows.ts'

/** For each of so many rows of pixels: 0 for no drift, else the gravest that begins there, 1 the least. */
export function driftMap(rows: Rows, pairing: Pairing, spans: readonly DriftSpan[], height: number): Uint8Array {
  const map = new Uint8Array(height)
  let item = rows.itemCount > 0 ? itemAt(rows, 0) : undefined
  for (let drift = 0; drift < pairing.driftStretches.length; drift++) {
    const number = pairing.driftStretches[drift] as number
    while (item && item.stretches.end <= number && item.number + 1 < rows.itemCount)
      item = itemAt(rows, item.number + 1)
    if (!item) break
    const place = placeIn(item, rows, pairing.stretches[number] as AlignedRun)
    const row = Math.min(height - 1, Math.floor((place / rows.height) * height))
    const grave = GRAVITY[spans[drift]?.severity ?? 'tail']
    if (grave > (map[row] as number)) map[row] = grave
  }
  return map
}

const GRAVITY: Readonly<Record<DriftSeverity, number>> = { trained: 3, context: 2, tail: 1 }

/** In pixels of the rows; within an item as far down as the drift stands among its tokens. */
function placeIn(item: Item, rows: Rows, stretch: AlignedRun): number {
  const side = item.left.end > item.left.start ? 'left' : 'right'
  const { start, end } = item[side]
  return item.rowTop + ((stretch[side].start - start) / (end - start)) * item.rows * rows.rowHeight
}
