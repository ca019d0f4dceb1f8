/** The JSON types of fields in bodies of OpenAI's kind, refused in the words of SGLang's validation. */
import { isObject } from '#lib/core/json-object.ts'
import { isBoolean, isNumber, isText, isWhole } from './json-body.ts'
import { badBody, type Refusal } from './refusal.ts'

interface FieldType<T> {
  readonly is: (value: unknown) => value is T
  /** In the words of SGLang's validation: of texts it tries to make the value. */
  readonly type: string
  readonly message: string
  readonly ofText?: { readonly type: string; readonly message: string }
  readonly ofNumber?: { readonly type: string; readonly message: string }
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

export const NUMBER: FieldType<number> = {
  is: isNumber,
  type: 'float_type',
  message: 'Input should be a valid number',
  ofText: { type: 'float_parsing', message: 'Input should be a valid number, unable to parse string as a number' },
}
export const WHOLE: FieldType<number> = {
  is: isWhole,
  type: 'int_type',
  message: 'Input should be a valid integer',
  ofText: { type: 'int_parsing', message: 'Input should be a valid integer, unable to parse string as an integer' },
  ofNumber: {
    type: 'int_from_float',
    message: 'Input should be a valid integer, got a number with a fractional part',
  },
}
export const BOOLEAN: FieldType<boolean> = {
  is: isBoolean,
  type: 'bool_type',
  message: 'Input should be a valid boolean',
  ofText: { type: 'bool_parsing', message: 'Input should be a valid boolean, unable to interpret input' },
}
export const TEXT: FieldType<string> = { is: isText, type: 'string_type', message: 'Input should be a valid string' }
export const LIST: FieldType<unknown[]> = { is: isList, type: 'list_type', message: 'Input should be a valid list' }
export const MAP: FieldType<Record<string, unknown>> = {
  is: isObject,
  type: 'dict_type',
  message: 'Input should be a valid dictionary',
}

/** A field that may be left out or null. `place`: of the object in the body. */
export const fieldsOf =
  (body: Readonly<Record<string, unknown>>, ...place: readonly string[]) =>
  <T>(name: string, expected: FieldType<T>): T | undefined => {
    const value = body[name] ?? undefined
    if (value === undefined || expected.is(value)) return value
    throw wrongType(value, expected, [...place, name])
  }

/** A list that may be left out or null, all of one type. */
export function listField<T>(
  body: Readonly<Record<string, unknown>>,
  name: string,
  expected: FieldType<T>,
): readonly T[] | undefined {
  const of = (value: unknown, index: number): T => {
    if (expected.is(value)) return value
    throw wrongType(value, expected, [name, index])
  }
  return fieldsOf(body)(name, LIST)?.map(of)
}

function wrongType(value: unknown, expected: FieldType<unknown>, place: readonly (string | number)[]): Refusal {
  const { ofText, ofNumber } = expected
  const { type, message } = (typeof value === 'string' && ofText) || (typeof value === 'number' && ofNumber) || expected
  return badBody(type, place, message)
}

export interface StreamWish {
  /** A last chunk with the counts of all. */
  readonly includesUsage: boolean
  /** The counts so far in every chunk. */
  readonly includesUsageEach: boolean
}

/** undefined: no stream. */
export function streamWish(body: Readonly<Record<string, unknown>>): StreamWish | undefined {
  const field = fieldsOf(body)
  const options = field('stream_options', STREAM_OPTIONS)
  const stream = field('stream', BOOLEAN) ?? false
  const option = fieldsOf(options ?? {}, 'stream_options')
  const includesUsage = option('include_usage', BOOLEAN) ?? false
  const includesUsageEach = option('continuous_usage_stats', BOOLEAN) ?? false
  return stream ? { includesUsage, includesUsageEach } : undefined
}

const STREAM_OPTIONS: FieldType<Record<string, unknown>> = {
  ...MAP,
  type: 'model_attributes_type',
  message: 'Input should be a valid dictionary or object to extract fields from',
}
