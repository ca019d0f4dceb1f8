import { elementAt, float32At, float64At } from '#lib/util/element-at.ts'

/** A row of logits as a distribution over the vocabulary: logprobs, the best alternatives, and a draw. */

/** A row of logits with its normalization. */
export interface Distribution {
  readonly logits: Float32Array
  readonly temperature: number
  /** Logarithm of the sum of exp(logit / temperature) over the vocabulary. */
  readonly normaliser: number
  /** Weights by id, as fractions of the best token's probability. */
  readonly weights: Float64Array
}

/**
 * Returns the distribution of a row of logits. `weights`, one for each logit, is overwritten and becomes part of the result. Throws an
 * Error if a logit is not a number.
 */
export function distribution(
  logits: Float32Array,
  temperature = 1,
  weights: Float64Array = new Float64Array(logits.length),
): Distribution {
  let largest = Number.NEGATIVE_INFINITY
  for (let id = 0; id < logits.length; id++) if (float32At(logits, id) > largest) largest = float32At(logits, id)
  let sum = 0
  for (let id = 0; id < logits.length; id++) {
    const weight = Math.exp((float32At(logits, id) - largest) / temperature)
    weights[id] = weight
    sum += weight
  }
  if (!Number.isFinite(sum)) throw new Error('the model returned logits that are not numbers')
  return { logits, temperature, normaliser: largest / temperature + Math.log(sum), weights }
}

/** The smallest 32-bit float: SGLang's logprob of an impossible token, because JSON has no infinity. */
const IMPOSSIBLE = -3.4028234663852886e38

/** Returns the logprob of an id, rounded to 32 bits: logits are no more precise, and the reply is shorter. */
export function logprobOf({ logits, temperature, normaliser }: Distribution, id: number): number {
  return Math.max(IMPOSSIBLE, Math.fround(float32At(logits, id) / temperature - normaliser))
}

/** The tokens that may be drawn, in SGLang's terms. */
export interface LogitFilter {
  /** Number of best tokens that may be drawn. Infinity: all; 1: always the best one. */
  readonly topK: number
  /** Only the smallest set of best tokens that reaches this probability may be drawn. */
  readonly topP: number
  /** Least probability of a token, as a fraction of the best token's probability. */
  readonly minP: number
}

/**
 * Draws a token. Each token runs a race: its time is exponential, its speed is its probability. The same random numbers then give the same
 * token if logits differ only by rounding, as they do with and without a cached prefix: of 6,000 draws none changed, but of 6,000 draws
 * that compare a random number with summed probabilities two did. `uniform` returns numbers in [0, 1), one for every id of the vocabulary.
 */
export function drawToken(of: Distribution, filter: LogitFilter, uniform: () => number): number {
  if (filter.topK === 1) return best(of.logits)
  const isOpen = filter.topK >= of.logits.length && filter.topP === 1 && filter.minP === 0
  const candidateIds = isOpen ? undefined : new Set(candidates(of, filter))
  let winner: number | undefined
  let fastest = 0
  for (let id = 0; id < of.weights.length; id++) {
    const number = uniform()
    const weight = float64At(of.weights, id)
    // -log(x) is at least 1 - x, so most tokens have lost before the logarithm is computed.
    if (weight <= fastest * (1 - number) || candidateIds?.has(id) === false) continue
    const speed = weight / -Math.log(number)
    if (speed > fastest) {
      fastest = speed
      winner = id
    }
  }
  return winner ?? best(of.logits)
}

const probability = ({ logits, temperature, normaliser }: Distribution, id: number): number =>
  Math.exp(float32At(logits, id) / temperature - normaliser)

/** Returns the id of the largest logit; the first one of equal logits. */
function best(logits: Float32Array): number {
  let id = 0
  for (let other = 1; other < logits.length; other++) if (float32At(logits, other) > float32At(logits, id)) id = other
  return id
}

/** Size of the first step: with top-p or min-p alone, the set is usually far smaller than the vocabulary, so the search grows in steps. */
const FIRST_STEP = 64

/** Returns the ids that pass the filter, best first. It compares probabilities over the whole vocabulary, as SGLang does. */
function candidates(of: Distribution, { topK, topP, minP }: LogitFilter): number[] {
  const limit = Math.min(topK, of.logits.length)
  let candidateCount = topP === 1 && minP === 0 ? limit : Math.min(limit, FIRST_STEP)
  for (;;) {
    const ids = bestFirst(of.logits, candidateCount)
    const least = minP * probability(of, elementAt(ids, 0))
    let before = 0
    const end = ids.findIndex((id) => {
      const share = probability(of, id)
      const isOut = before > topP || share < least
      before += share
      return isOut
    })
    if (end >= 0) return ids.slice(0, end)
    if (candidateCount === limit) return ids
    candidateCount = Math.min(candidateCount * 4, limit)
  }
}

/**
 * Returns the ids of the `count` largest values, best first; of equal values the smaller id comes first. It uses a heap instead of sorting
 * all values.
 */
export function bestFirst(values: Float32Array, count: number): number[] {
  const size = Math.min(count, values.length)
  if (size === 0) return []
  const isWorse = (a: number, b: number): boolean => {
    const difference = float32At(values, a) - float32At(values, b)
    return difference < 0 || (difference === 0 && a > b)
  }
  const heap = Array.from({ length: size }, (_, id) => id)
  const sink = (from: number): void => {
    const id = elementAt(heap, from)
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= size) break
      if (child + 1 < size && isWorse(elementAt(heap, child + 1), elementAt(heap, child))) child++
      if (!isWorse(elementAt(heap, child), id)) break
      heap[at] = elementAt(heap, child)
      at = child
    }
    heap[at] = id
  }
  for (let at = (size >> 1) - 1; at >= 0; at--) sink(at)
  for (let id = size; id < values.length; id++)
    if (float32At(values, id) > float32At(values, elementAt(heap, 0))) {
      heap[0] = id
      sink(0)
    }
  return heap.sort((a, b) => float32At(values, b) - float32At(values, a) || a - b)
}
