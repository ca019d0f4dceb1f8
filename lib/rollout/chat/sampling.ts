import type { Sampling } from '#lib/sampling/values.ts'

/** Names of sampling parameters at /v1/chat/completions; parameters with the same name as at /generate are not listed. */
const NAMES: Readonly<Record<string, string>> = {
  max_new_tokens: 'max_completion_tokens',
  min_new_tokens: 'min_tokens',
  sampling_seed: 'seed',
}

/**
 * The defaults of /generate. Without them, this endpoint would use the model's generation_config.json, and the run would
 * sample differently from the token-in/token-out run that it is compared with.
 */
const DEFAULTS: Sampling = { temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 }

/** Returns sampling parameters for /v1/chat/completions, with the defaults of /generate. */
export const chatSampling = (sampling: Sampling): Record<string, unknown> =>
  Object.fromEntries(Object.entries({ ...DEFAULTS, ...sampling }).map(([name, value]) => [NAMES[name] ?? name, value]))
