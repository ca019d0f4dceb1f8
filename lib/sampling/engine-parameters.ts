/**
 * Defines which sampling parameters each inference engine takes, and by which name. Rollscope names parameters as SGLang does.
 * A parameter that is missing here is refused before a run, because llama.cpp ignores unknown fields silently.
 */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { Engine } from './engine-names.ts'
import { ENGINE_NAMES } from './engine-names.ts'
import { type SamplingName, samplingNames } from './parameters.ts'
import type { Refusal } from './refusal.ts'

type OtherEngine = Exclude<Engine, 'sglang'>

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
}

/** Parameters outside of the table that an engine takes by the same name. SGLang refuses unknown ones itself. */
const FURTHER_PARAMETERS: Readonly<Record<OtherEngine, readonly string[]>> = {
  'llama.cpp': [
    ...['dynatemp_range', 'dynatemp_exponent', 'typical_p', 'top_n_sigma', 'xtc_probability', 'xtc_threshold'],
    ...['repeat_last_n', 'dry_multiplier', 'dry_base', 'dry_allowed_length', 'dry_penalty_last_n'],
    ...['dry_sequence_breakers', 'mirostat', 'mirostat_tau', 'mirostat_eta', 'min_keep', 'samplers'],
  ],
}

/** A parameter that an engine does not take. */
export interface UnsupportedParameter extends Refusal {
  readonly name: string
  readonly isFurther: boolean
}

/** Returns the first requested parameter that the engine does not take. */
export function unsupportedParameter(
  engine: Engine,
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
    detail: `${ENGINE_NAMES[engine]} has no parameter for ${name}.`,
    hint: 'Remove it, or choose a server with another engine.',
  })
  const name = samplingNames.find(
    (known) => sampling[known] !== undefined && ENGINE_PARAMETERS[engine][known] === undefined,
  )
  if (name !== undefined) return refused(name, false)
  const other = Object.keys(further).find((key) => !FURTHER_PARAMETERS[engine].includes(key))
  return other === undefined ? undefined : refused(other, true)
}
