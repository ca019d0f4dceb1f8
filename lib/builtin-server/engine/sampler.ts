/** Chooses the tokens of one generation, and remembers them for the penalties and the grammar. */

import { float32At } from '#lib/util/element-at.ts'
import { type Distribution, distribution, drawToken } from './distribution.ts'
import type { Grammar } from './grammar.ts'
import type { JobSampling } from './job.ts'
import { createRandom } from './random.ts'

/** The sampler of one generation. */
export interface Sampler {
  /** Returns the distribution to choose from, after penalties, bias and grammar; it is valid until the next call. Changes the logits. */
  read(logits: Float32Array): Distribution
  choose(from: Distribution): number
}

/** Returns a sampler. `stopIds` has all ids that end this generation, including the model's. */
export function createSampler(
  sampling: JobSampling,
  stopIds: ReadonlySet<number>,
  grammar: Grammar | undefined,
): Sampler {
  const { frequencyPenalty, presencePenalty, repetitionPenalty, minNewTokens, logitBias } = sampling
  const penalises = frequencyPenalty !== 0 || presencePenalty !== 0 || repetitionPenalty !== 1
  const uniform = createRandom(sampling.seed)
  const counts = new Map<number, number>()
  let weights: Float64Array | undefined
  let chosen = 0
  return {
    /** The order is SGLang's: added penalties, multiplied penalties, then the bias. Only generated tokens are penalised. */
    read(logits) {
      for (const [id, count] of counts) logits[id] = float32At(logits, id) - frequencyPenalty * count - presencePenalty
      const mustEnd = grammar?.mask(logits) === 'end'
      if (chosen < minNewTokens && !mustEnd) for (const id of stopIds) logits[id] = Number.NEGATIVE_INFINITY
      for (const id of counts.keys()) {
        const logit = float32At(logits, id)
        logits[id] = logit < 0 ? logit * repetitionPenalty : logit / repetitionPenalty
      }
      for (const [id, bias] of logitBias) logits[id] = float32At(logits, id) + bias
      weights ??= new Float64Array(logits.length)
      return distribution(logits, sampling.temperature, weights)
    },
    choose(from) {
      const id = drawToken(from, sampling, uniform)
      if (penalises) counts.set(id, (counts.get(id) ?? 0) + 1)
      chosen++
      grammar?.take(id)
      return id
    },
  }
}
