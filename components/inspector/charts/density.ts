import { elementAt } from '#lib/util/element-at.ts'

/**
 * Many points as an image: how many stand in each cell of a few pixels. Costs one step a point, however many there are, and
 * nothing is left out: a point alone is a cell, which `outliersOf` names so that it is drawn larger.
 */

export interface Frame {
  readonly minX: number
  readonly maxX: number
  readonly minY: number
  readonly maxY: number
}

export interface Density {
  readonly columns: number
  readonly rows: number
  /** Points in each cell, row by row from the top. */
  readonly counts: Uint32Array
  readonly most: number
}

export function densityOf(
  xs: Float64Array,
  ys: Float64Array,
  { minX, maxX, minY, maxY }: Frame,
  columns: number,
  rows: number,
): Density {
  const counts = new Uint32Array(columns * rows)
  const [scaleX, scaleY] = [columns / (maxX - minX || 1), rows / (maxY - minY || 1)]
  let most = 0
  for (let index = 0; index < xs.length; index++) {
    const [x, y] = [elementAt(xs, index), elementAt(ys, index)]
    if (x < minX || x > maxX || y < minY || y > maxY) continue
    const column = Math.min(columns - 1, Math.floor((x - minX) * scaleX))
    const row = Math.min(rows - 1, Math.floor((maxY - y) * scaleY))
    const count = elementAt(counts, row * columns + column) + 1
    counts[row * columns + column] = count
    if (count > most) most = count
  }
  return { columns, rows, counts, most }
}

/** Cells to each side in which others are looked for, and how many points there may be in all of them. */
const AROUND = 3
const FEW = 3

/**
 * Cells whose points have next to none around them, by their place in `counts`: drawn as small as the others they would not
 * be seen. Costs one step a cell: sums over rectangles are differences of sums from the corner.
 */
export function outliersOf({ columns, rows, counts }: Density): readonly number[] {
  const width = columns + 1
  const sums = new Float64Array(width * (rows + 1))
  for (let row = 0; row < rows; row++)
    for (let column = 0, line = 0; column < columns; column++) {
      line += elementAt(counts, row * columns + column)
      sums[(row + 1) * width + column + 1] = elementAt(sums, row * width + column + 1) + line
    }
  const sum = (row: number, column: number) => elementAt(sums, row * width + column)
  const found: number[] = []
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      if (counts[row * columns + column] === 0) continue
      const [top, bottom] = [Math.max(0, row - AROUND), Math.min(rows, row + AROUND + 1)]
      const [left, right] = [Math.max(0, column - AROUND), Math.min(columns, column + AROUND + 1)]
      if (sum(bottom, right) - sum(top, right) - sum(bottom, left) + sum(top, left) <= FEW)
        found.push(row * columns + column)
    }
  return found
}

/** The nearest point within a distance of both axes' own, −1 where there is none. */
export function nearestPoint(
  xs: Float64Array,
  ys: Float64Array,
  at: { readonly x: number; readonly y: number },
  reach: { readonly x: number; readonly y: number },
): number {
  let nearest = -1
  let least = 1
  for (let index = 0; index < xs.length; index++) {
    const far = ((elementAt(xs, index) - at.x) / reach.x) ** 2 + ((elementAt(ys, index) - at.y) / reach.y) ** 2
    if (far > least) continue
    least = far
    nearest = index
  }
  return nearest
}
