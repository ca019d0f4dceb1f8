/** Draws the routing of a mixture of experts. For tests. */
import type { ExpertRows } from '#lib/trajectory/experts/routed-experts.ts'

interface RoutingSize {
  readonly rows: number
  readonly layers: number
  /** Experts that each layer chooses. */
  readonly perLayer: number
  /** Experts of each layer. */
  readonly experts: number
  readonly seed: number
  /** Number of layers at the beginning without experts, whose entries are zeros. Omitted: none. */
  readonly dense?: number
}

/** Returns rows from the first token on, in which no layer chooses an expert twice for a token. */
export function drawRouting({ rows, layers, perLayer, experts, seed, dense = 0 }: RoutingSize): ExpertRows {
  let state = seed
  const draw = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * most)
  }
  const entries = Array.from({ length: rows * layers }, (_, index) => {
    if (index % layers < dense) return new Array<number>(perLayer).fill(0)
    const chosen = new Set<number>()
    while (chosen.size < perLayer) chosen.add(draw(experts))
    return [...chosen]
  })
  return { start: 0, perToken: layers * perLayer, entries: Int32Array.from(entries.flat()) }
}
