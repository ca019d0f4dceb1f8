interface Extent {
  readonly min: number
  readonly max: number
}

/** Returns the smallest and the largest value; Infinity and −Infinity if there are no values. */
export function extentOf(values: Float64Array): Extent {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}

/** Returns the extent with 4 % of room on both sides, so that no point is on the edge. */
export function padded({ min, max }: Extent): Extent {
  const span = max - min
  const room = ([span, Math.abs(max)].find((size) => size > 1e-9) ?? 1) * 0.04
  return { min: min - room, max: max + room }
}
