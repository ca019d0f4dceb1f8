import { isObject, type JsonObject, objectOf } from './json-object.ts'

/** Parses JSON so that JSON.stringify keeps the spelling of numbers, with JSON.rawJSON. */
export const parseWritten = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && context.source !== String(value)
      ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(context.source)
      : value,
  )

/** Returns the JSON object in a field's text as parseWritten does: an empty one for an empty text, undefined for invalid text. */
export const writtenObject = (text: string): JsonObject | undefined =>
  objectOf(text) && (parseWritten(text.trim() || '{}') as JsonObject)

/** Returns the JSON text of a number that parseWritten kept as it is written; undefined for any other value. */
export const writtenNumber = (value: object): string | undefined =>
  Object.getPrototypeOf(value) === null && 'rawJSON' in value ? JSON.stringify(value) : undefined

/** The arguments of a call. Without `json`, `input` has all that was written. */
interface WrittenInput {
  readonly input: unknown
  readonly json?: string | undefined
}

/** Returns the text of arguments if `input`, which JSON.parse returned for it, lacks digits that it has: those of 1.0, or of 20 digits. */
export const exactText = (text: string, input: unknown): Pick<WrittenInput, 'json'> =>
  isObject(input) && losesDigits(text) ? { json: text } : {}

/** Returns the arguments of a call with their numbers as they are written. */
export const exactInput = ({ input, json }: WrittenInput): unknown => (json === undefined ? input : parseWritten(json))

const losesDigits = (text: string): boolean =>
  MAY_LOSE.test(text) && JSON.stringify(parseWritten(text)) !== JSON.stringify(JSON.parse(text))

const MAY_LOSE = /\d[.eE]|\d{16}|-0/
