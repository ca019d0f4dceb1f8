import { float64At, uint32At } from '#lib/util/element-at.ts'

/**
 * Many points as an image: the number of points in each cell of a few pixels. The cost is one step for each point, and no
 * point is lost: a single point is a cell, which `outliersOf` returns so that it is drawn larger.
 */

/** Visible range of both axes, in their units. */
export interface AxesRange {
  readonly minX: number
  readonly maxX: number
  readonly minY: number
  readonly maxY: number
}

/** Number of points in each cell of a plot. */
export interface Density {
  readonly columns: number
  readonly rows: number
  /** Counts row by row from the top. */
  readonly counts: Uint32Array
  readonly most: number
}

/** Returns the density of the points inside the frame. */
export function densityOf(
  xs: Float64Array,
  ys: Float64Array,
  { minX, maxX, minY, maxY }: AxesRange,
  columns: number,
  rows: number,
): Density {
  const counts = new Uint32Array(columns * rows)
  const [scaleX, scaleY] = [columns / (maxX - minX || 1), rows / (maxY - minY || 1)]
  let most = 0
  for (let index = 0; index < xs.length; index++) {
    const [x, y] = [float64At(xs, index), float64At(ys, index)]
    if (x < minX || x > maxX || y < minY || y > maxY) continue
    const column = Math.min(columns - 1, Math.floor((x - minX) * scaleX))
    const row = Math.min(rows - 1, Math.floor((maxY - y) * scaleY))
    const count = uint32At(counts, row * columns + column) + 1
    counts[row * columns + column] = count
    if (count > most) most = count
  }
  return { columns, rows, counts, most }
}

/** Width of a cell and diameter of an outlier, in CSS pixels. */
const CELL = 2
const OUTLIER = 6

/** Returns the width of a cell and the diameter of an outlier in pixels of the canvas. Cells are whole pixels, so that they are sharp. */
export const pointSizes = (pixelRatio: number): { readonly cell: number; readonly outlier: number } => ({
  cell: Math.max(1, Math.round(CELL * pixelRatio)),
  outlier: OUTLIER * pixelRatio,
})

/** AROUND is the distance in cells in which other points are counted; a cell with at most FEW points in this square is an outlier. */
const AROUND = 3
const FEW = 3

/**
 * Returns the indices in `counts` of cells whose points are nearly alone, since points drawn as small as the others would
 * not be visible. The cost is one step for each cell: the sum over a rectangle is a difference of sums from the corner.
 */
export function isolatedCells({ columns, rows, counts }: Density): readonly number[] {
  const width = columns + 1
  const sums = new Float64Array(width * (rows + 1))
  for (let row = 0; row < rows; row++)
    for (let column = 0, line = 0; column < columns; column++) {
      line += uint32At(counts, row * columns + column)
      sums[(row + 1) * width + column + 1] = float64At(sums, row * width + column + 1) + line
    }
  const sum = (row: number, column: number) => float64At(sums, row * width + column)
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

/** Returns the index of the nearest point within `reach`, which is in the units of each axis; −1 if there is none. */
export function nearestPoint(
  xs: Float64Array,
  ys: Float64Array,
  at: { readonly x: number; readonly y: number },
  reach: { readonly x: number; readonly y: number },
): number {
  let nearest = -1
  let least = 1
  for (let index = 0; index < xs.length; index++) {
    const far = ((float64At(xs, index) - at.x) / reach.x) ** 2 + ((float64At(ys, index) - at.y) / reach.y) ** 2
    if (far > least) continue
    least = far
    nearest = index
  }
  return nearest
}
