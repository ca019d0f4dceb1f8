interface Extent {
  readonly min: number
  readonly max: number
}

/** Of no values Infinity and −Infinity. */
export function extentOf(values: Float64Array): Extent {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}

/** A little room on both sides, so that no point lies on the edge. */
export function padded({ min, max }: Extent): Extent {
  const span = max - min
  const room = ([span, Math.abs(max)].find((size) => size > 1e-9) ?? 1) * 0.04
  return { min: min - room, max: max + room }
}
