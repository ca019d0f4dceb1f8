/** Chooses the tokens of one generation, and remembers them for the penalties. */
import { type Distribution, distribution, draw } from './distribution.ts'
import type { Sampling } from './job.ts'
import { createRandom } from './random.ts'

export interface Sampler {
  /** The distribution to choose from, after penalties and bias. Changes the logits. */
  read(logits: Float32Array): Distribution
  choose(from: Distribution): number
}

/** `stopIds`: all that end this generation, the model's among them. */
export function createSampler(sampling: Sampling, stopIds: ReadonlySet<number>): Sampler {
  const { frequencyPenalty, presencePenalty, repetitionPenalty, minNewTokens, logitBias } = sampling
  const uniform = createRandom(sampling.seed)
  const counts = new Map<number, number>()
  let chosen = 0
  return {
    /** In SGLang's order: what is added, what is multiplied, then the bias. Only generated tokens are penalised. */
    read(logits) {
      for (const [id, count] of counts) logits[id] = (logits[id] as number) - frequencyPenalty * count - presencePenalty
      if (chosen < minNewTokens) for (const id of stopIds) logits[id] = Number.NEGATIVE_INFINITY
      for (const id of counts.keys()) {
        const logit = logits[id] as number
        logits[id] = logit < 0 ? logit * repetitionPenalty : logit / repetitionPenalty
      }
      for (const [id, bias] of logitBias) logits[id] = (logits[id] as number) + bias
      return distribution(logits, sampling.temperature)
    },
    choose(from) {
      const id = draw(from, sampling, uniform)
      counts.set(id, (counts.get(id) ?? 0) + 1)
      chosen++
      return id
    },
  }
}
