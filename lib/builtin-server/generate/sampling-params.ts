/** Checks sampling_params of /generate: their JSON types, then their values as SGLang does. */
import * as z from 'zod'
import type { GrammarSource, JobSampling } from '#lib/builtin-server/engine/job.ts'
import { stopPattern } from '#lib/builtin-server/engine/stop-pattern.ts'
import {
  field,
  floatField,
  isBoolean,
  isListOf,
  isOneOrList,
  isText,
  isWhole,
  WholeFloat,
} from '#lib/builtin-server/http/json-body.ts'
import { badValue } from '#lib/builtin-server/http/refusal.ts'
import { isObject } from '#lib/json/json-object.ts'
import { JsonError } from '#lib/json/json-reader.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'

const whole = field('i64', isWhole)
const number = floatField('f64')
const boolean = field('a boolean', isBoolean)
const text = field('a string', isText)
const texts = field('a string or a sequence of strings', isOneOrList(isText))
const anything = field('anything', (value): value is unknown => value !== undefined)

/** Schema of the parameters, in the order in which SGLang names them. */
export const generateSamplingSchema = z.strictObject({
  max_new_tokens: whole,
  stop: texts,
  stop_token_ids: field('a sequence of i64', isListOf(isWhole)),
  stop_regex: texts,
  temperature: number,
  top_p: number,
  top_k: whole,
  min_p: number,
  frequency_penalty: number,
  presence_penalty: number,
  repetition_penalty: number,
  min_new_tokens: whole,
  n: whole,
  json_schema: text,
  regex: text,
  ebnf: text,
  structural_tag: text,
  ignore_eos: boolean,
  skip_special_tokens: boolean,
  /** Accepted without effect: byte-level tokenizers put no spaces between special tokens. */
  spaces_between_special_tokens: boolean,
  no_stop_trim: boolean,
  stream_interval: whole,
  logit_bias: field('a map of f64', isBiasMap).transform((biases) => biases && valuesOf(biases)),
  sampling_seed: whole,
  /** Accepted without effect: SGLang passes them to a custom_logit_processor, which this server lacks. */
  custom_params: anything,
  beam_width: anything,
  watermark: anything,
  choice: anything,
})

/** The parameters after the check of their types. */
export type SamplingParams = z.infer<typeof generateSamplingSchema>

function isBiasMap(value: unknown): value is Record<string, number | WholeFloat> {
  return isObject(value) && Object.values(value).every((bias) => bias instanceof WholeFloat || Number.isFinite(bias))
}

const valuesOf = (biases: Readonly<Record<string, number | WholeFloat>>): Record<string, number> =>
  Object.fromEntries(Object.entries(biases).map(([id, bias]) => [id, bias instanceof WholeFloat ? bias.value : bias]))

/** SGLang's own default; the model's generation_config.json is not used. */
const DEFAULT_MAX_NEW_TOKENS = 128

/** SGLang samples greedily below this temperature. */
const LEAST_TEMPERATURE = 1e-6

/** Returns the checked parameters with their defaults. Throws HttpRefusal for the first value that is out of range. */
export function jobSamplingOf(params: SamplingParams, vocabularySize: number): JobSampling {
  refuseUnsupported(params)
  const maxNewTokens = params.max_new_tokens ?? DEFAULT_MAX_NEW_TOKENS
  const temperature = params.temperature ?? 1
  const isGreedy = temperature >= 0 && temperature < LEAST_TEMPERATURE
  const sampling: JobSampling = {
    maxNewTokens,
    minNewTokens: params.min_new_tokens ?? 0,
    temperature: isGreedy ? 1 : temperature,
    topP: params.top_p ?? 1,
    topK: isGreedy ? 1 : topKLimit(params.top_k ?? -1),
    minP: params.min_p ?? 0,
    frequencyPenalty: params.frequency_penalty ?? 0,
    presencePenalty: params.presence_penalty ?? 0,
    repetitionPenalty: params.repetition_penalty ?? 1,
    logitBias: Object.entries(params.logit_bias ?? {}).map(([id, bias]) => [Number(id), bias]),
    stopTexts: [params.stop ?? []].flat(),
    stopPatterns: [params.stop_regex ?? []].flat(),
    stopIds: params.stop_token_ids ?? [],
    ignoreStopIds: params.ignore_eos ?? false,
    keepsStop: params.no_stop_trim ?? false,
    showsSpecialTokens: !(params.skip_special_tokens ?? true),
    seed: params.sampling_seed,
    grammar: grammarOf(params),
    grammarBehind: [],
  }
  checkRanges(sampling, Object.keys(params.logit_bias ?? {}), vocabularySize)
  checkStops(sampling)
  return sampling
}

const topKLimit = (topK: number): number => (topK === -1 ? Number.POSITIVE_INFINITY : topK)

function grammarOf({ regex, json_schema }: SamplingParams): GrammarSource | undefined {
  if (regex !== undefined) return { kind: 'regex', source: regex }
  if (json_schema === undefined) return undefined
  try {
    readJson(json_schema)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { message, line, column } = error
    const at = [...json_schema.split('\n').slice(0, line - 1), ''].join('\n').length + column - 1
    throw badValue(`Failed to compile json grammar: ${message}: line ${line} column ${column} (char ${at})`)
  }
  return { kind: 'json_schema', source: json_schema }
}

const GRAMMARS = ['json_schema', 'regex', 'ebnf', 'structural_tag'] as const
const UNKNOWN_HERE = ['beam_width', 'watermark', 'choice'] as const

function refuseUnsupported(params: SamplingParams): void {
  const grammars = GRAMMARS.filter((name) => params[name] !== undefined)
  if (grammars.length > 1) throw badValue('Only one of json_schema, regex, ebnf, or structural_tag can be set.')
  const [grammar] = grammars
  if (grammar === 'ebnf' || grammar === 'structural_tag')
    throw badValue(`${grammar} is set, but the built-in server supports only the grammars regex and json_schema.`)
  const unknown = UNKNOWN_HERE.find((name) => params[name] !== undefined)
  if (unknown) throw badValue(`${unknown} is set, but the built-in server does not support it.`)
  const interval = params.stream_interval
  if (interval !== undefined && interval < 1) throw badValue(`stream_interval must be at least 1, got ${interval}.`)
}

function checkRanges(sampling: JobSampling, biasedIds: readonly string[], vocabularySize: number): void {
  const { temperature, topP, topK, minP, frequencyPenalty, presencePenalty, repetitionPenalty } = sampling
  const { minNewTokens, maxNewTokens } = sampling
  if (!Number.isFinite(temperature) || temperature < 0)
    throw badValue(`temperature must be a non-negative finite number, got ${temperature}.`)
  if (!(topP > 0 && topP <= 1)) throw badValue(`top_p must be in (0, 1], got ${topP}.`)
  if (!(minP >= 0 && minP <= 1)) throw badValue(`min_p must be in [0, 1], got ${minP}.`)
  if (topK < 1) throw badValue(`top_k must be -1 (disable) or at least 1, got ${topK}.`)
  if (Math.abs(frequencyPenalty) > 2) throw badValue(`frequency_penalty must be in [-2, 2], got ${frequencyPenalty}.`)
  if (Math.abs(presencePenalty) > 2) throw badValue(`presence_penalty must be in [-2, 2], got ${presencePenalty}.`)
  if (!(repetitionPenalty > 0 && repetitionPenalty <= 2))
    throw badValue(`repetition_penalty must be in (0, 2] (1.0 = no penalty), got ${repetitionPenalty}.`)
  if (minNewTokens < 0) throw badValue(`min_new_tokens must be in [0, max_new_tokens], got ${minNewTokens}.`)
  if (maxNewTokens < 0) throw badValue(`max_new_tokens must be at least 0, got ${maxNewTokens}.`)
  if (minNewTokens > maxNewTokens)
    throw badValue(`min_new_tokens must be in [0, max_new_tokens(${maxNewTokens})], got ${minNewTokens}.`)
  const unknown = biasedIds.find((id) => !/^\d+$/.test(id) || Number(id) >= vocabularySize)
  // The grammatical error is SGLang's own, and clients compare the text.
  if (unknown !== undefined) throw badValue(`logit_bias must has keys in [0, ${vocabularySize - 1}], got ${unknown}.`)
}

const MAX_STOPS = 32
const MAX_PATTERN_BYTES = 256

function checkStops({ stopTexts, stopPatterns }: JobSampling): void {
  if (stopTexts.length > MAX_STOPS)
    throw badValue(`at most ${MAX_STOPS} stop strings are allowed, got ${stopTexts.length}`)
  if (stopPatterns.length > MAX_STOPS)
    throw badValue(`at most ${MAX_STOPS} stop_regex patterns are allowed, got ${stopPatterns.length}`)
  for (const pattern of stopPatterns) {
    const bytes = new TextEncoder().encode(pattern).length
    if (bytes > MAX_PATTERN_BYTES)
      throw badValue(`stop_regex is ${bytes} bytes, over the ${MAX_PATTERN_BYTES}-byte limit`)
    try {
      stopPattern(pattern)
    } catch (error) {
      throw badValue(`stop_regex ${JSON.stringify(pattern)} is invalid: ${(error as Error).message}`)
    }
  }
}
