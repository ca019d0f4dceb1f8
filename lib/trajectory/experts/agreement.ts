/** Compares the experts that two passes over the same tokens chose, such as the rollout and a prefill. */
import { type ExpertRows, expertShape } from './routed-experts.ts'

/** The share of equal choices of each token, and how the choices were counted. */
export interface ExpertAgreement {
  /** One number for each token, from 0 to 1; NaN where a pass has no experts. */
  readonly shares: Float64Array
  /** Layers whose experts were compared. */
  readonly layers: number
  readonly perLayer: number
  /** Tokens that were compared. */
  readonly tokens: number
  /** Tokens with the same experts in every layer. */
  readonly equal: number
  /** Mean of the shares. */
  readonly mean: number
}

/**
 * Compares two passes. In each layer the experts are a set, because their order follows their weights. Undefined if the passes have
 * other numbers of entries, or no token in common.
 */
export function expertAgreement(ours: ExpertRows, theirs: ExpertRows, tokenCount: number): ExpertAgreement | undefined {
  const { perToken } = ours
  if (theirs.perToken !== perToken) return undefined
  const { perLayer } = expertShape(ours)
  const layers = layersWithExperts(ours, perLayer)
  const shares = new Float64Array(tokenCount).fill(Number.NaN)
  const from = Math.max(ours.start, theirs.start)
  const to = Math.min(tokenCount, ...[ours, theirs].map(({ start, entries }) => start + entries.length / perToken))
  if (from >= to || layers.length === 0) return undefined
  let equal = 0
  let sum = 0
  for (let token = from; token < to; token++) {
    const a = (token - ours.start) * perToken
    const b = (token - theirs.start) * perToken
    let common = 0
    for (const layer of layers) common += inBoth(ours.entries, a + layer, theirs.entries, b + layer, perLayer)
    const share = common / (layers.length * perLayer)
    shares[token] = share
    sum += share
    if (share === 1) equal++
  }
  const tokens = to - from
  return { shares, layers: layers.length, perLayer, tokens, equal, mean: sum / tokens }
}

/** Returns the offsets of the layers that have experts: the others have zeros in every row. */
function layersWithExperts({ perToken, entries }: ExpertRows, perLayer: number): readonly number[] {
  const offsets = Array.from({ length: perToken / perLayer }, (_, layer) => layer * perLayer)
  return offsets.filter((offset) => {
    for (let row = offset; row < entries.length; row += perToken)
      for (let at = row; at < row + perLayer; at++) if (entries[at] !== 0) return true
    return false
  })
}

function inBoth(a: Int32Array, from: number, b: Int32Array, to: number, count: number): number {
  const others = b.subarray(to, to + count)
  return a.subarray(from, from + count).reduce((common, entry) => common + Number(others.includes(entry)), 0)
}
