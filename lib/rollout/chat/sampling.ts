import type { Sampling } from '#lib/sampling/values.ts'

/** Sampling parameters by the names of /v1/chat/completions; those of the same name are not listed. */
const NAMES: Readonly<Record<string, string>> = {
  max_new_tokens: 'max_completion_tokens',
  min_new_tokens: 'min_tokens',
  sampling_seed: 'seed',
}

/** Parameters that the endpoint does not have. */
export const NOT_IN_CHAT = ['json_schema', 'structural_tag'] as const satisfies readonly (keyof Sampling)[]

/**
 * Those that /generate has where none are given. This endpoint would take them from the model's generation_config.json,
 * and so sample otherwise than a run that it is a baseline of.
 */
const DEFAULTS: Sampling = { temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 }

export const chatSampling = (sampling: Sampling): Record<string, unknown> =>
  Object.fromEntries(Object.entries({ ...DEFAULTS, ...sampling }).map(([name, value]) => [NAMES[name] ?? name, value]))
