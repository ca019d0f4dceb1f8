/**
 * Defines which sampling parameters each inference engine takes, and by which name. Rollscope names parameters as SGLang does.
 * A parameter that is missing here is refused before a run, because other engines ignore unknown fields silently.
 */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { EngineName } from './engine-names.ts'
import { engineSubject } from './engine-names.ts'
import { type SamplingName, samplingNames } from './parameters.ts'
import type { Refusal } from './refusal.ts'

type OtherEngine = Exclude<EngineName, 'sglang'>

/** The engine's name of each parameter that it takes. SGLang takes all of them by their own names. */
export const ENGINE_PARAMETERS: Readonly<Record<OtherEngine, Readonly<Partial<Record<SamplingName, string>>>>> = {
  'llama.cpp': {
    max_new_tokens: 'n_predict',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    min_p: 'min_p',
    frequency_penalty: 'frequency_penalty',
    presence_penalty: 'presence_penalty',
    repetition_penalty: 'repeat_penalty',
    logit_bias: 'logit_bias',
    stop: 'stop',
    ignore_eos: 'ignore_eos',
    json_schema: 'json_schema',
    ebnf: 'grammar',
    sampling_seed: 'seed',
  },
  vllm: {
    max_new_tokens: 'max_tokens',
    min_new_tokens: 'min_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    min_p: 'min_p',
    frequency_penalty: 'frequency_penalty',
    presence_penalty: 'presence_penalty',
    repetition_penalty: 'repetition_penalty',
    logit_bias: 'logit_bias',
    stop: 'stop',
    stop_token_ids: 'stop_token_ids',
    ignore_eos: 'ignore_eos',
    json_schema: 'structured_outputs.json',
    regex: 'structured_outputs.regex',
    ebnf: 'structured_outputs.grammar',
    structural_tag: 'structured_outputs.structural_tag',
    sampling_seed: 'seed',
  },
  openai: {
    max_new_tokens: 'max_tokens',
    temperature: 'temperature',
    top_p: 'top_p',
    frequency_penalty: 'frequency_penalty',
    presence_penalty: 'presence_penalty',
    logit_bias: 'logit_bias',
    stop: 'stop',
    sampling_seed: 'seed',
  },
}

/** Parameters outside of the table that an engine takes by the same name. SGLang refuses unknown ones itself. */
const FURTHER_PARAMETERS: Readonly<Record<OtherEngine, readonly string[]>> = {
  'llama.cpp': [
    ...['dynatemp_range', 'dynatemp_exponent', 'typical_p', 'top_n_sigma', 'xtc_probability', 'xtc_threshold'],
    ...['repeat_last_n', 'dry_multiplier', 'dry_base', 'dry_allowed_length', 'dry_penalty_last_n'],
    ...['dry_sequence_breakers', 'mirostat', 'mirostat_tau', 'mirostat_eta', 'min_keep', 'samplers'],
  ],
  vllm: ['allowed_token_ids', 'bad_words', 'thinking_token_budget', 'repetition_detection', 'priority', 'cache_salt'],
  openai: [],
}

/** Parameters that /v1/chat/completions of no engine has. */
export const NOT_IN_CHAT = ['json_schema', 'structural_tag'] as const satisfies readonly SamplingName[]

/** A parameter that an engine does not take. */
export interface UnsupportedParameter extends Refusal {
  readonly name: string
  readonly isFurther: boolean
}

/** Returns the first requested parameter that the engine does not take. */
export function unsupportedParameter(
  engine: EngineName,
  {
    further = {},
    ...sampling
  }: Readonly<Partial<Record<SamplingName, unknown>>> & {
    readonly further?: JsonObject | undefined
  },
): UnsupportedParameter | undefined {
  if (engine === 'sglang') return undefined
  const refused = (name: string, isFurther: boolean): UnsupportedParameter => ({
    name,
    isFurther,
    detail: `${engineSubject(engine)} has no parameter for ${name}.`,
    hint: 'Remove it, or choose a server with another engine.',
  })
  const name = samplingNames.find(
    (known) => sampling[known] !== undefined && ENGINE_PARAMETERS[engine][known] === undefined,
  )
  if (name !== undefined) return refused(name, false)
  const other = Object.keys(further).find((key) => !FURTHER_PARAMETERS[engine].includes(key))
  return other === undefined ? undefined : refused(other, true)
}
