import { elementAt } from '#lib/util/element-at.ts'

/** How often trained tokens surprise by how much. */

export interface Bin {
  /** Surprise in nats, half-open; the last bin has its end too. */
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Of logprobs: about so many bins of one width that people can read, from 0 to the largest. */
export function surpriseHistogram(logprobs: Float64Array, about = 32): readonly Bin[] {
  if (logprobs.length === 0) return []
  let largest = 0
  for (const logprob of logprobs) largest = Math.max(largest, -logprob)
  const width = readableWidth(largest / about)
  const bins = Math.max(1, Math.floor(largest / width) + 1)
  const counts = new Uint32Array(bins)
  for (const logprob of logprobs) {
    const bin = Math.max(0, Math.floor(-logprob / width))
    counts[bin] = elementAt(counts, bin) + 1
  }
  const edge = (index: number) => Number((index * width).toPrecision(6))
  return Array.from(counts, (count, index) => ({ from: edge(index), to: edge(index + 1), count }))
}

/** 1, 2 or 5 times a power of ten, at least so much; of next to nothing, 0.1. */
function readableWidth(least: number): number {
  // Powers of ten end as 0 far below; and nobody reads such bins.
  if (least < 1e-12) return 0.1
  const power = 10 ** Math.floor(Math.log10(least))
  const times = [1, 2, 5, 10].find((step) => step * power >= least * (1 - 1e-9)) as number
  return Number((times * power).toPrecision(3))
}

/** The tokens of a bin as the find bar takes them. */
export const binQuery = ({ from, to }: Bin): string => `${from === 0 ? '' : `surprise>=${from} `}surprise<${to} mask:1`
