/**
 * SGLang's sampling parameters (`sampling_params` of /generate) in one table: what they are, between which values, and who
 * knows them; sampling-words.ts has what each does. Schema, form, validation and documents come from it. Held against
 * SGLang 0.5.23, whose list has `choice` besides and says nothing of it.
 */

interface ParameterFacts {
  readonly group: SamplingGroup
  /** SGLang's, of /generate: never that of the model's generation_config.json. null: none. */
  readonly default: number | boolean | null
  /** The first version that knows it, where older ones in use do not. */
  readonly since?: string
  /** sglang-router 0.3.2 takes it out of a request without a word. */
  readonly isDroppedByRouter?: true
}

/** What its values are. */
export type ParameterKind =
  /** `isAbove`: the minimum itself is none. */
  | { readonly kind: 'number'; readonly minimum: number; readonly maximum: number; readonly isAbove?: true }
  /** `also`: besides the range. */
  | { readonly kind: 'whole'; readonly minimum: number; readonly maximum: number; readonly also?: number }
  | { readonly kind: 'switch' }
  | { readonly kind: 'texts'; readonly most: number }
  /** Python's regular expressions. */
  | { readonly kind: 'patterns'; readonly most: number; readonly mostBytes: number }
  /** Token ids. */
  | { readonly kind: 'ids'; readonly most: number }
  /** Token id → what is added to its logit. */
  | { readonly kind: 'biases'; readonly minimum: number; readonly maximum: number }
  /** A JSON object, sent as text. */
  | { readonly kind: 'json'; readonly what: string }
  | { readonly kind: 'grammar'; readonly what: string }
  | { readonly kind: 'object' }

export type SamplingParameter = ParameterFacts & ParameterKind

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

/** In the order in which they are shown. */
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

export type SamplingName = keyof typeof SAMPLING_PARAMETERS

export const samplingNames = Object.keys(SAMPLING_PARAMETERS) as readonly SamplingName[]

export const isSamplingName = (name: string): name is SamplingName => Object.hasOwn(SAMPLING_PARAMETERS, name)

/** The table's entry, as any of its kinds. */
export const samplingParameter = (name: SamplingName): SamplingParameter => SAMPLING_PARAMETERS[name]

/**
 * Those that Rollscope sets itself, or never (sampling-words.ts says why): what is always sent, or
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

export type OwnName = keyof typeof OWN_PARAMETERS

export const isOwnParameter = (name: string): name is OwnName => Object.hasOwn(OWN_PARAMETERS, name)
