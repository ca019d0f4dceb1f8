/**
 * Defines the table of SGLang's sampling parameters (`sampling_params` of /generate): kinds, ranges and which server versions
 * know them. words.ts has the explanations. The schema, form, validation and docs are derived from this table. It
 * matches SGLang 0.5.23, except for `choice`, which SGLang lists without documentation.
 */

interface ParameterFacts {
  readonly group: SamplingGroup
  /** Default of /generate, never that of the model's generation_config.json. null if there is none. */
  readonly default: number | boolean | null
  /** First SGLang version that knows the parameter, if older versions are still in use. */
  readonly since?: string
  /** sglang-router 0.3.2 removes it from requests without notice. */
  readonly isDroppedByRouter?: true
}

/** The values that a parameter accepts. */
export type ParameterKind =
  /** A number in a range. `isAbove` excludes the minimum itself. */
  | { readonly kind: 'number'; readonly minimum: number; readonly maximum: number; readonly isAbove?: true }
  /** A whole number in a range. `also` is one more allowed value. */
  | { readonly kind: 'whole'; readonly minimum: number; readonly maximum: number; readonly also?: number }
  | { readonly kind: 'switch' }
  | { readonly kind: 'texts'; readonly most: number }
  /** Regular expressions in Python's syntax. */
  | { readonly kind: 'patterns'; readonly most: number; readonly mostBytes: number }
  /** Token ids. */
  | { readonly kind: 'ids'; readonly most: number }
  /** An object from token ids to the numbers that are added to their logits. */
  | { readonly kind: 'biases'; readonly minimum: number; readonly maximum: number }
  /** A JSON object, sent as text. */
  | { readonly kind: 'json'; readonly what: string }
  | { readonly kind: 'grammar'; readonly what: string }
  | { readonly kind: 'object' }

/** An entry of the table. */
export type SamplingParameter = ParameterFacts & ParameterKind

/** Groups of the form, in display order. */
export const SAMPLING_GROUPS = [
  'Length',
  'Randomness',
  'Penalties',
  'Stops',
  'Grammar',
  'Repeatability',
  'Text',
] as const
type SamplingGroup = (typeof SAMPLING_GROUPS)[number]

const ANY_SEED = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const

/** All parameters, in display order. */
export const SAMPLING_PARAMETERS = {
  max_new_tokens: {
    group: 'Length',
    kind: 'whole',
    minimum: 1,
    maximum: 1_000_000,
    default: 128,
  },
  min_new_tokens: {
    group: 'Length',
    kind: 'whole',
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
  },
  temperature: {
    group: 'Randomness',
    kind: 'number',
    minimum: 0,
    maximum: 100,
    default: 1,
  },
  top_p: {
    group: 'Randomness',
    kind: 'number',
    minimum: 0,
    isAbove: true,
    maximum: 1,
    default: 1,
  },
  top_k: {
    group: 'Randomness',
    kind: 'whole',
    minimum: 1,
    maximum: 1_073_741_824,
    also: -1,
    default: -1,
  },
  min_p: {
    group: 'Randomness',
    kind: 'number',
    minimum: 0,
    maximum: 1,
    default: 0,
  },
  frequency_penalty: {
    group: 'Penalties',
    kind: 'number',
    minimum: -2,
    maximum: 2,
    default: 0,
  },
  presence_penalty: {
    group: 'Penalties',
    kind: 'number',
    minimum: -2,
    maximum: 2,
    default: 0,
  },
  repetition_penalty: {
    group: 'Penalties',
    kind: 'number',
    minimum: 0,
    isAbove: true,
    maximum: 2,
    default: 1,
  },
  logit_bias: {
    group: 'Penalties',
    kind: 'biases',
    minimum: -100,
    maximum: 100,
    default: null,
    since: '0.4.10',
    isDroppedByRouter: true,
  },
  stop: {
    group: 'Stops',
    kind: 'texts',
    most: 32,
    default: null,
  },
  stop_token_ids: {
    group: 'Stops',
    kind: 'ids',
    most: 1000,
    default: null,
  },
  stop_regex: {
    group: 'Stops',
    kind: 'patterns',
    most: 32,
    mostBytes: 256,
    default: null,
    since: '0.5.5',
    isDroppedByRouter: true,
  },
  ignore_eos: {
    group: 'Stops',
    kind: 'switch',
    default: false,
  },
  json_schema: {
    group: 'Grammar',
    kind: 'json',
    what: 'JSON Schema',
    default: null,
  },
  regex: {
    group: 'Grammar',
    kind: 'grammar',
    what: 'regular expression',
    default: null,
  },
  ebnf: {
    group: 'Grammar',
    kind: 'grammar',
    what: 'grammar in EBNF',
    default: null,
  },
  structural_tag: {
    group: 'Grammar',
    kind: 'json',
    what: 'structural tag',
    default: null,
    isDroppedByRouter: true,
  },
  sampling_seed: {
    group: 'Repeatability',
    kind: 'whole',
    ...ANY_SEED,
    default: null,
    since: '0.5.5',
  },
  custom_params: {
    group: 'Text',
    kind: 'object',
    default: null,
    isDroppedByRouter: true,
  },
  watermark: {
    group: 'Text',
    kind: 'object',
    default: null,
    since: '0.5.23',
    isDroppedByRouter: true,
  },
} as const satisfies Readonly<Record<string, SamplingParameter>>

/** Name of a sampling parameter in the table. */
export type SamplingName = keyof typeof SAMPLING_PARAMETERS

/** All parameter names, in display order. */
export const samplingNames = Object.keys(SAMPLING_PARAMETERS) as readonly SamplingName[]

/** Returns whether the table has a parameter of this name. */
export const isSamplingName = (name: string): name is SamplingName => Object.hasOwn(SAMPLING_PARAMETERS, name)

/** Returns the table's entry, typed as any parameter kind. */
export const samplingParameter = (name: SamplingName): SamplingParameter => SAMPLING_PARAMETERS[name]

/**
 * Parameters that Rollscope sets itself or never sends (words.ts gives the reasons): the value that is always sent, or
 * null.
 */
export const OWN_PARAMETERS = {
  n: null,
  beam_width: null,
  skip_special_tokens: false,
  spaces_between_special_tokens: false,
  no_stop_trim: true,
  stream_interval: null,
} as const satisfies Readonly<Record<string, boolean | null>>

/** Name of a parameter that only Rollscope sets. */
export type OwnName = keyof typeof OWN_PARAMETERS

/** Returns whether only Rollscope sets the parameter of this name. */
export const isOwnParameter = (name: string): name is OwnName => Object.hasOwn(OWN_PARAMETERS, name)
