/**
 * Many points as an image: how many stand in each cell of a few pixels. Costs one step a point, however many there are, and a
 * lone point is as large as a cell: nothing is left out.
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
    const [x, y] = [xs[index] as number, ys[index] as number]
    if (x < minX || x > maxX || y < minY || y > maxY) continue
    const column = Math.min(columns - 1, Math.floor((x - minX) * scaleX))
    const row = Math.min(rows - 1, Math.floor((maxY - y) * scaleY))
    const count = (counts[row * columns + column] as number) + 1
    counts[row * columns + column] = count
    if (count > most) most = count
  }
  return { columns, rows, counts, most }
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
    const far = (((xs[index] as number) - at.x) / reach.x) ** 2 + (((ys[index] as number) - at.y) / reach.y) ** 2
    if (far > least) continue
    least = far
    nearest = index
  }
  return nearest
}
