import { uint32At } from '#lib/util/element-at.ts'

/** One bar of the histogram of surprisal. */
export interface Bin {
  /** Surprisal in nats, half-open; the last bin includes its end. */
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Returns a histogram of surprisal from 0 to the largest, in about `about` bins of a readable width. */
export function surpriseHistogram(logprobs: Float64Array, about = 32): readonly Bin[] {
  if (logprobs.length === 0) return []
  let largest = 0
  for (const logprob of logprobs) largest = Math.max(largest, -logprob)
  const width = readableWidth(largest / about)
  const bins = Math.max(1, Math.floor(largest / width) + 1)
  const counts = new Uint32Array(bins)
  for (const logprob of logprobs) {
    const bin = Math.max(0, Math.floor(-logprob / width))
    counts[bin] = uint32At(counts, bin) + 1
  }
  const edge = (index: number) => Number((index * width).toPrecision(6))
  return Array.from(counts, (count, index) => ({ from: edge(index), to: edge(index + 1), count }))
}

/** Returns the smallest of 1, 2 or 5 times a power of ten that is at least `least`; 0.1 if `least` is nearly 0. */
function readableWidth(least: number): number {
  // Much smaller powers of ten underflow to 0, and such bins would be unreadable.
  if (least < 1e-12) return 0.1
  const power = 10 ** Math.floor(Math.log10(least))
  const times = [1, 2, 5, 10].find((step) => step * power >= least * (1 - 1e-9)) as number
  return Number((times * power).toPrecision(3))
}

/** Returns the query of the find bar that finds the tokens of a bin. */
export const binQuery = ({ from, to }: Bin): string => `${from === 0 ? '' : `surprise>=${from} `}surprise<${to} mask:1`
