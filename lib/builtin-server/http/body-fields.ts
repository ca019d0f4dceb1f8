/** Checks the JSON types of fields in bodies of OpenAI's form, with the messages of SGLang's validation. */
import { isObject } from '#lib/json/json-object.ts'
import { isBoolean, isNumber, isText, isWhole } from './json-body.ts'
import { badBody } from './refusal.ts'

interface FieldType<T> {
  /** Returns the value of a field; undefined if it is not of this type. */
  readonly read: (value: unknown) => T | undefined
  /** Error in the words of SGLang's validation; `ofText` replaces it for a text, which SGLang tries to convert. */
  readonly type: string
  readonly message: string
  readonly ofText?: { readonly type: string; readonly message: string }
  readonly ofNumber?: (value: number) => { readonly type: string; readonly message: string } | undefined
}

/** Returns a reader that accepts matching values unchanged. */
const as =
  <T>(is: (value: unknown) => value is T) =>
  (value: unknown): T | undefined =>
    is(value) ? value : undefined

/** Returns a number. SGLang validates these bodies with pydantic in lax mode, where a text or a boolean that means a number is accepted. */
function laxNumber(value: unknown, spelling: RegExp): number | undefined {
  if (isBoolean(value)) return Number(value)
  if (isNumber(value)) return value
  return isText(value) && spelling.test(value) ? Number(value.replaceAll('_', '')) : undefined
}

const WHOLE_SPELLING = /^\s*[+-]?\d+(_\d+)*(\.0+)?\s*$/
const NUMBER_SPELLING = /^\s*[+-]?(\d+(_\d+)*\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/
const TRUE = ['1', 'on', 't', 'true', 'y', 'yes']
const FALSE = ['0', 'off', 'f', 'false', 'n', 'no']

function laxWhole(value: unknown): number | undefined {
  const whole = laxNumber(value, WHOLE_SPELLING)
  return isWhole(whole) ? whole : undefined
}

function laxBoolean(value: unknown): boolean | undefined {
  if (isBoolean(value)) return value
  const word = isText(value) || isNumber(value) ? String(value).toLowerCase() : ''
  return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

/** A number, or a text or boolean that means one. */
export const NUMBER: FieldType<number> = {
  read: (value) => laxNumber(value, NUMBER_SPELLING),
  type: 'float_type',
  message: 'Input should be a valid number',
  ofText: { type: 'float_parsing', message: 'Input should be a valid number, unable to parse string as a number' },
}
/** A whole number, or a text or boolean that means one. */
export const WHOLE: FieldType<number> = {
  read: laxWhole,
  type: 'int_type',
  message: 'Input should be a valid integer',
  ofText: { type: 'int_parsing', message: 'Input should be a valid integer, unable to parse string as an integer' },
  ofNumber: () => ({
    type: 'int_from_float',
    message: 'Input should be a valid integer, got a number with a fractional part',
  }),
}
const NO_BOOLEAN = {
  type: 'bool_parsing',
  message: 'Input should be a valid boolean, unable to interpret input',
}
/** A boolean, or a text or number that means one. */
export const BOOLEAN: FieldType<boolean> = {
  read: laxBoolean,
  type: 'bool_type',
  message: 'Input should be a valid boolean',
  ofText: NO_BOOLEAN,
  ofNumber: (value) => (isWhole(value) ? NO_BOOLEAN : undefined),
}
/** A text; nothing else is converted to it. */
export const TEXT: FieldType<string> = {
  read: as(isText),
  type: 'string_type',
  message: 'Input should be a valid string',
}
/** A list with entries of any type. */
export const LIST: FieldType<unknown[]> = {
  read: as(isList),
  type: 'list_type',
  message: 'Input should be a valid list',
}
/** A JSON object with values of any type. */
export const MAP: FieldType<Record<string, unknown>> = {
  read: as(isObject),
  type: 'dict_type',
  message: 'Input should be a valid dictionary',
}

/** Returns a reader of fields that may be absent or null. `place` is the path of the object in the body. */
export const fieldsOf =
  (body: Readonly<Record<string, unknown>>, ...place: readonly string[]) =>
  <T>(name: string, expected: FieldType<T>): T | undefined => {
    const value = body[name] ?? undefined
    return value === undefined ? undefined : readAs(value, expected, [...place, name])
  }

/** Returns a list whose entries have one type; undefined if absent or null. Throws HttpRefusal. */
export const listField = <T>(
  body: Readonly<Record<string, unknown>>,
  name: string,
  expected: FieldType<T>,
): readonly T[] | undefined => fieldsOf(body)(name, LIST)?.map((value, index) => readAs(value, expected, [name, index]))

/** Returns a map whose values have one type; undefined if absent or null. Throws HttpRefusal. */
export function mapField<T>(
  body: Readonly<Record<string, unknown>>,
  name: string,
  expected: FieldType<T>,
): Readonly<Record<string, T>> | undefined {
  const map = fieldsOf(body)(name, MAP)
  return (
    map && Object.fromEntries(Object.entries(map).map(([key, value]) => [key, readAs(value, expected, [name, key])]))
  )
}

function readAs<T>(value: unknown, expected: FieldType<T>, place: readonly (string | number)[]): T {
  const read = expected.read(value)
  if (read !== undefined) return read
  const { ofText, ofNumber } = expected
  const { type, message } =
    (typeof value === 'string' && ofText) || (typeof value === 'number' && ofNumber?.(value)) || expected
  throw badBody(type, place, message)
}

/** How a client wants its stream. */
export interface StreamRequest {
  /** Whether a last chunk has the counts of all replies. */
  readonly includesUsage: boolean
  /** Whether every chunk has the counts so far. */
  readonly includesUsageEach: boolean
}

/** Returns how the reply is streamed; undefined if the client wants no stream. */
export function streamRequest(body: Readonly<Record<string, unknown>>): StreamRequest | undefined {
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
