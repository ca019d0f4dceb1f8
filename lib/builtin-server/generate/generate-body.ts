/** Checks the JSON types of the fields of a /generate body; generate-jobs.ts checks their values. */
import * as z from 'zod'
import type { CallForm } from '#lib/builtin-server/engine/job.ts'
import {
  checkFields,
  field,
  isBoolean,
  isListOf,
  isOneOrList,
  isText,
  isWhole,
  WholeFloat,
} from '#lib/builtin-server/http/json-body.ts'
import { badBody } from '#lib/builtin-server/http/refusal.ts'
import { generateSamplingSchema, type SamplingParams } from './sampling-params.ts'

/** A /generate body after the check of its types. */
export type GenerateBody = Readonly<z.infer<typeof fields>> & {
  readonly stream: boolean
  readonly text: string | readonly string[] | undefined
  readonly rid: string | readonly string[] | undefined
  readonly inputIds: readonly number[] | readonly (readonly number[])[] | undefined
  readonly sampling: SamplingParams | readonly SamplingParams[]
  /** Not from the body: the constraints that a chat endpoint adds. */
  readonly bound: Bound | undefined
  /** Names of set fields that the built-in model does not support. */
  readonly unsupported: readonly string[]
}

/** Constraints on replies besides their sampling parameters. */
interface Bound {
  /** The calls of which a reply without a grammar must begin with one; empty: any text. */
  readonly calls: readonly CallForm[]
  /** Ids after which grammars begin. */
  readonly behind: readonly number[]
}

const isWholeList = isListOf(isWhole)

/** Unknown fields are dropped, because SGLang ignores them. */
const fields = z.object({
  return_logprob: field('a boolean or a sequence of booleans', isOneOrList(isBoolean)),
  logprob_start_len: field('i64 or a sequence of i64', isOneOrList(isWhole)),
  top_logprobs_num: field('i64 or a sequence of i64', isOneOrList(isWhole)),
  token_ids_logprob: field(
    'a sequence of i64 or of such sequences',
    (value): value is number[] | number[][] => isWholeList(value) || isListOf(isWholeList)(value),
  ),
  return_text_in_logprobs: field('a boolean', isBoolean),
  return_prompt_token_ids: field('a boolean', isBoolean),
})

const UNSUPPORTED = [
  'lora_path',
  'input_embeds',
  'image_data',
  'video_data',
  'audio_data',
  'session_params',
  'custom_logit_processor',
  'return_hidden_states',
  'return_routed_experts',
  'return_sampling_mask',
  'return_flat_raw_top_logprobs',
  'return_flat_raw_output_top_logprobs',
] as const

/** Returns the checked body. Throws HttpRefusal: these are HTTP statuses even if a stream was requested. */
export function generateBody(body: Record<string, unknown>): GenerateBody {
  return {
    stream: streamField(body.stream),
    text: textField('text', body.text),
    rid: textField('rid', body.rid),
    inputIds: idsField(body.input_ids),
    bound: undefined,
    sampling: samplingField(body.sampling_params ?? {}),
    unsupported: UNSUPPORTED.filter((name) => (body[name] ?? false) !== false),
    ...checkFields(fields, body),
  }
}

function streamField(value: unknown): boolean {
  if (isBoolean(value ?? false)) return (value ?? false) as boolean
  throw badBody('bool_parsing', ['stream'], 'Input should be a valid boolean, unable to interpret input')
}

function textField(name: string, value: unknown): string | readonly string[] | undefined {
  if (value === undefined || value === null) return undefined
  if (isOneOrList(isText)(value)) return value
  throw badBody('string_type', [name], 'Input should be a valid string')
}

function idsField(value: unknown): GenerateBody['inputIds'] {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value))
    throw badBody('value_error', ['input_ids'], `Value error, expected a list; got ${pythonType(value)}`)
  const isMixed = value.some(Array.isArray) && !value.every(Array.isArray)
  const odd = value.flat().filter((id) => !isWhole(id))
  if (odd.length > 0 || isMixed)
    throw badBody(
      'value_error',
      ['input_ids'],
      `Value error, elements must be int or list; got ${pythonType(odd.length > 0 ? odd[0] : 0)}`,
    )
  return value
}

function pythonType(value: unknown): string {
  if (value === null) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (value instanceof WholeFloat) return 'float'
  return (
    { string: 'str', number: Number.isInteger(value) ? 'int' : 'float', boolean: 'bool' }[typeof value as string] ??
    'dict'
  )
}

const samplingField = (value: unknown): GenerateBody['sampling'] =>
  Array.isArray(value)
    ? value.map((params) => checkFields(generateSamplingSchema, params))
    : checkFields(generateSamplingSchema, value)
