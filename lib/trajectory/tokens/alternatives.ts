/**
 * What the recorded alternatives say of a token: SGLang gives the k likeliest only, so entropy is a lower bound, and a rank
 * beyond k is known to be beyond k and no more. null = unknown: no alternatives were recorded at the token.
 */
import { numberAt, type SegmentView } from './trajectory-view.ts'

/** 1 for the likeliest; Infinity for a token that is not among the k. */
export function rankAt({ ids, topLogprobs: top }: Alternatives, index: number): number | null {
  if (!top || !isKnown(top.ids[index * top.k])) return null
  const id = ids[index]
  for (let place = 0; place < top.k; place++) if (top.ids[index * top.k + place] === id) return place + 1
  return Number.POSITIVE_INFINITY
}

/** In nats: of the alternatives, and of all that is left taken as one. The real one is at least this. */
export function entropyAt({ topLogprobs: top }: Alternatives, index: number): number | null {
  if (!top || !isKnown(top.ids[index * top.k])) return null
  let entropy = 0
  let left = 1
  for (let place = 0; place < top.k; place++) {
    const logprob = numberAt(top.logprobs, index * top.k + place)
    if (logprob === null) continue
    const probability = Math.exp(logprob)
    entropy -= probability * logprob
    left -= probability
  }
  return Math.max(0, left > ROUNDING ? entropy - left * Math.log(left) : entropy)
}

/** Probability of the likeliest less that of the second; null where fewer than two are known. */
export function marginAt({ topLogprobs: top }: Alternatives, index: number): number | null {
  if (!top || top.k < 2) return null
  const first = numberAt(top.logprobs, index * top.k)
  const second = numberAt(top.logprobs, index * top.k + 1)
  return first === null || second === null ? null : Math.exp(first) - Math.exp(second)
}

type Alternatives = Pick<SegmentView, 'ids' | 'topLogprobs'>

/** Probabilities of float32 logprobs add up to 1 no closer than this. */
const ROUNDING = 1e-6

const isKnown = (id: number | undefined): boolean => id !== undefined && id >= 0
