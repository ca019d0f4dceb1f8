/** Reads the JSON object of a request's body and checks its fields, with SGLang's messages. */
import * as z from 'zod'
import { elementAt } from '#lib/util/element-at.ts'
import { badBody, HttpRefusal } from './refusal.ts'

type ClassName =
  | 'GenerateReqInput'
  | 'AbortReq'
  | 'TokenizeRequest'
  | 'DetokenizeRequest'
  | 'ParseFunctionCallReq'
  | 'SeparateReasoningReqInput'

/**
 * Returns the JSON object of a body. `what` names the body in SGLang's errors: an instance of its own class, or fields as OpenAI has them.
 * Throws HttpRefusal.
 */
export const readJsonObject = async (
  request: Request,
  what: ClassName | 'fields',
  parse?: (text: string) => unknown,
): Promise<Record<string, unknown>> => parseJsonObject(await bodyText(request), request, what, parse)

/** Largest body in MiB, as for bodies of ids in the application's own routes. */
export const MOST_MEBIBYTES = 16

/** Returns the body as text. Throws HttpRefusal as soon as it is too large. */
export async function bodyText(request: Request): Promise<string> {
  const most = MOST_MEBIBYTES * 2 ** 20
  const refuse = (): never => {
    throw new HttpRefusal('body', `The body is larger than ${MOST_MEBIBYTES} MiB.`, 413)
  }
  if (Number(request.headers.get('content-length')) > most) refuse()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > most) refuse()
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Returns the JSON object of a text that was read from the request. Throws HttpRefusal. */
export function parseJsonObject(
  text: string,
  request: Request,
  what: ClassName | 'fields',
  parse: (text: string) => unknown = JSON.parse,
): Record<string, unknown> {
  if (text === '') throw badBody('missing', [], 'Field required')
  const value = isJson(request.headers.get('content-type')) ? parseOrRefuse(text, parse) : text
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw what === 'fields'
      ? badBody('model_attributes_type', [], 'Input should be a valid dictionary or object to extract fields from')
      : badBody('dataclass_type', [], `Input should be a dictionary or an instance of ${what}`)
  return value as Record<string, unknown>
}

const isJson = (contentType: string | null): boolean =>
  contentType === null || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)

function parseOrRefuse(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text)
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1] ?? String(text.length)
    throw new HttpRefusal(
      'body',
      `1 validation error:\n  {'type': 'json_invalid', 'loc': ('body', ${position}), 'msg': 'JSON decode error'}`,
    )
  }
}

/**
 * A whole number that is written with a fraction or an exponent, like 2.0: SGLang’s strict reader takes it for an f64, but not for an i64.
 */
export class WholeFloat {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

/**
 * Parses JSON as the strict reader of /generate does. Only a text that may contain such a number, even in a string, is read value by value.
 */
export const strictJson = (text: string): unknown =>
  MAY_HOLD_WHOLE_FLOAT.test(text) ? JSON.parse(text, markWholeFloats) : JSON.parse(text)

const MAY_HOLD_WHOLE_FLOAT = /\d(?:\.0+(?!\d)|[eE])/

const markWholeFloats = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  isWhole(value) && /[.eE]/.test(context?.source ?? '') ? new WholeFloat(value) : value

/** Returns the schema of a field of one JSON type, which may be absent or null; `expected` is its name in a refusal. */
export const field = <T>(expected: string, is: (value: unknown) => value is T) =>
  z
    .custom<T>(is, expected)
    .nullish()
    .transform((value) => value ?? undefined)

/** Returns the schema of an f64 field, which may be any number. */
export const floatField = (expected: string) =>
  z
    .custom<number | WholeFloat>((value) => isNumber(value) || value instanceof WholeFloat, expected)
    .nullish()
    .transform((value) => (value instanceof WholeFloat ? value.value : (value ?? undefined)))

/** Checks for a text. */
export const isText = (value: unknown): value is string => typeof value === 'string'
/** Checks for a number; a WholeFloat is none. */
export const isNumber = (value: unknown): value is number => typeof value === 'number'
/** Checks for an integer. */
export const isWhole = (value: unknown): value is number => Number.isInteger(value)
/** Checks for a boolean. */
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
/** Returns a check for a list of one type. */
export const isListOf =
  <T>(is: (value: unknown) => value is T) =>
  (value: unknown): value is T[] =>
    Array.isArray(value) && value.every(is)
/** Returns a check for one value or a list of values of one type. */
export const isOneOrList = <T>(is: (value: unknown) => value is T) => {
  const isList = isListOf(is)
  return (value: unknown): value is T | T[] => is(value) || isList(value)
}

/** Returns the checked object. Throws HttpRefusal with the message of SGLang's JSON reader for the first field of a wrong type. */
export function checkFields<T extends z.ZodObject>(schema: T, value: unknown): z.infer<T> {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const issue = elementAt(result.error.issues, 0)
  if (issue.code === 'unrecognized_keys')
    throw new HttpRefusal('contract', `unknown field \`${issue.keys[0]}\`, expected one of ${namesOf(schema)}`)
  const expected = issue.code === 'custom' ? issue.message : 'a map'
  throw new HttpRefusal('contract', `invalid type: ${describeValue(issue.input)}, expected ${expected}`)
}

const namesOf = (schema: z.ZodObject): string =>
  Object.keys(schema.shape)
    .map((name) => `\`${name}\``)
    .join(', ')

function describeValue(value: unknown): string {
  if (value instanceof WholeFloat) return `floating point \`${value.value}.0\``
  if (Array.isArray(value)) return 'sequence'
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value)}`
    case 'number':
      return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``
    case 'boolean':
      return `boolean \`${value}\``
    default:
      return 'map'
  }
}
