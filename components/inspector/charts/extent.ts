import type { Extent } from '#components/token-view/colour/mode.ts'

/** Returns the extent with 4 % of room on both sides, so that no point is on the edge. */
export function padExtent({ min, max }: Extent): Extent {
  const span = max - min
  const room = ([span, Math.abs(max)].find((size) => size > 1e-9) ?? 1) * 0.04
  return { min: min - room, max: max + room }
}
