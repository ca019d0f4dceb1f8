/**
 * The pixels of the minimap's heat. A row is a bar in which each colour is as wide as its share of the row's tokens, the
 * warmest first. Every colour that occurs is at least one CSS pixel wide, so that a single hot token is always visible. The
 * widest bar fills the width: if a quarter of the tokens is trained, shares of all tokens would leave the map nearly empty.
 */

import { uint32At } from '#lib/util/element-at.ts'
import type { MinimapPicture } from './picture.ts'

/**
 * Returns the pixels row by row. `colours` contains the ABGR colour of each level, 0 = not drawn; `order` lists the levels
 * from the left.
 */
export function heatPixels(
  { rows, levels, counts, lineRows }: MinimapPicture,
  colours: Uint32Array,
  order: readonly number[],
  width: number,
  density: number,
): Uint32Array {
  const pixels = new Uint32Array(rows * width)
  const widest = widestShare(counts, levels, colours)
  for (let row = 0; row < rows; row++) {
    const total = sumOf(counts, row * levels, levels)
    if (total === 0) continue
    let at = 0
    for (const level of order) {
      const count = uint32At(counts, row * levels + level)
      const colour = uint32At(colours, level)
      if (count === 0 || colour === 0) continue
      const share = count / total / widest
      const end = Math.min(width, Math.max(at + Math.ceil(density), Math.round(at + share * width)))
      // Lines that cover more than two rows are separated by a gap.
      const height = lineRows > 2 ? lineRows - 1 : lineRows
      for (let line = row; line < Math.min(rows, row + height); line++)
        pixels.fill(colour, line * width + at, line * width + end)
      at = end
    }
  }
  return pixels
}

/** Returns the largest share of coloured tokens in a row; 1 if there are none. */
function widestShare(counts: Uint32Array, levels: number, colours: Uint32Array): number {
  let widest = 0
  for (let first = 0; first < counts.length; first += levels) {
    const total = sumOf(counts, first, levels)
    let coloured = 0
    for (let level = 0; level < levels; level++) if (colours[level] !== 0) coloured += uint32At(counts, first + level)
    if (total > 0) widest = Math.max(widest, coloured / total)
  }
  return widest || 1
}

function sumOf(counts: Uint32Array, first: number, length: number): number {
  let sum = 0
  for (let index = first; index < first + length; index++) sum += uint32At(counts, index)
  return sum
}
