/**
 * Quantities from the recorded alternatives. SGLang returns only the k most likely ones, so entropy is a lower bound
 * and a rank beyond k is only known to be beyond k. null = unknown: no alternatives were recorded at the token.
 */
import { float64At, int32At } from '#lib/util/element-at.ts'
import type { TopLogprobs } from '../format/trajectory.ts'
import { numberAt, type SegmentView } from './trajectory-view.ts'

/** Alternatives in typed arrays. Unknown logprobs are NaN. */
export interface AlternativeColumns {
  readonly ids: Int32Array
  readonly logprobs: Float64Array
}

/**
 * Returns alternatives whose lists are made from typed arrays when they are first read: a run without a reader needs none. The arrays
 * must not change.
 */
export function listedAlternatives(k: number, ids: Int32Array, logprobs: Float64Array): TopLogprobs {
  let listedIds: number[] | undefined
  let listedLogprobs: (number | null)[] | undefined
  const top: TopLogprobs = {
    k,
    get ids() {
      listedIds ??= idList(ids)
      return listedIds
    },
    get logprobs() {
      listedLogprobs ??= logprobList(logprobs)
      return listedLogprobs
    },
  }
  columnsBehind.set(top, { ids, logprobs })
  return top
}

const columnsBehind = new WeakMap<object, AlternativeColumns>()

/** Returns the typed arrays of `listedAlternatives`; undefined for other alternatives. */
export const alternativeColumns = (top: object): AlternativeColumns | undefined => columnsBehind.get(top)

/** Returns the alternatives from a token on. */
export function alternativesFrom(top: Pick<TopLogprobs, 'k' | 'ids' | 'logprobs'>, start: number): TopLogprobs {
  const { k } = top
  const from = start * k
  const columns = alternativeColumns(top)
  return columns
    ? listedAlternatives(k, columns.ids.subarray(from), columns.logprobs.subarray(from))
    : { k, ids: top.ids.slice(from), logprobs: top.logprobs.slice(from) }
}

/** Returns ids as a list. */
export function idList(ids: Int32Array): number[] {
  // Array.from takes several times as long, and a list that grows is copied repeatedly.
  const list = new Array<number>(ids.length)
  for (let index = 0; index < ids.length; index++) list[index] = int32At(ids, index)
  return list
}

/** Returns logprobs as a list, with null for NaN. */
export function logprobList(logprobs: Float64Array): (number | null)[] {
  const list = new Array<number>(logprobs.length)
  let hasUnknown = false
  for (let index = 0; index < logprobs.length; index++) {
    const logprob = float64At(logprobs, index)
    hasUnknown ||= Number.isNaN(logprob)
    list[index] = logprob
  }
  // Numbers among nulls take three times the memory.
  return hasUnknown ? list.map((logprob) => (Number.isNaN(logprob) ? null : logprob)) : list
}

/** Returns the alternatives of the first `length` tokens. Tokens beyond the known ones have none. */
export function resizedAlternatives({ k, ids, logprobs, ...rest }: TopLogprobs, length: number): TopLogprobs {
  const cells = length * k
  const missing = Math.max(0, cells - ids.length)
  return {
    ...rest,
    k,
    ids: ids.slice(0, cells).concat(new Array<number>(missing).fill(-1)),
    logprobs: logprobs.slice(0, cells).concat(new Array<null>(missing).fill(null)),
  }
}

/** Returns the rank: 1 for the most likely token, Infinity for a token that is not among the k. */
export function rankAt({ ids, topLogprobs: top }: Alternatives, index: number): number | null {
  if (!top || !isKnown(top.ids[index * top.k])) return null
  const id = ids[index]
  for (let place = 0; place < top.k; place++) if (top.ids[index * top.k + place] === id) return place + 1
  return Number.POSITIVE_INFINITY
}

/**
 * Returns the entropy in nats of the alternatives and one event for all other tokens; a lower bound of the real
 * entropy.
 */
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

/** Returns the probability of the most likely token minus that of the second, or null if fewer than two are known. */
export function marginAt({ topLogprobs: top }: Alternatives, index: number): number | null {
  if (!top || top.k < 2) return null
  const first = numberAt(top.logprobs, index * top.k)
  const second = numberAt(top.logprobs, index * top.k + 1)
  return first === null || second === null ? null : Math.exp(first) - Math.exp(second)
}

type Alternatives = Pick<SegmentView, 'ids' | 'topLogprobs'>

/** Rounding error of the sum of float32 probabilities. */
const ROUNDING = 1e-6

const isKnown = (id: number | undefined): boolean => id !== undefined && id >= 0
