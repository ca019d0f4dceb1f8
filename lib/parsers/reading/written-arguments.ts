/** The arguments of a call as JSON, with numbers and the order of names as the model wrote them: JSON.stringify makes 1 of 1.0. */
import { decidedJson } from '#lib/json/decided-json.ts'
import { scanWhole } from '#lib/json/json-scan.ts'
import { memberOf, readJsonText, sourceOf } from '#lib/json/json-text.ts'
import { literalJson } from '#lib/json/python-literal.ts'
import type { NamedRange, ParsedCall, TextRange } from '../parser.ts'
import { gemmaJson } from '../tags/gemma-value.ts'

/** A parsed call, with the places of its arguments. */
type WrittenCall = Pick<Extract<ParsedCall, { kind: 'parsed' }>, 'raw' | 'input'> & {
  readonly arguments: readonly Pick<NamedRange, 'name' | 'text'>[]
}

/** Returns the arguments without spaces, as a growing call has them too. `text` is that of the reply. */
export const compactArguments = (call: WrittenCall, text: string): string =>
  decidedJson(argumentsSource(call, text), 0).json

/**
 * Returns the arguments as the model spelled them: 1.0 remains 1.0. `text` is that of the reply. If the call is not JSON, each value is
 * the JSON that was written for it, or the JSON of its text.
 */
export function argumentsSource({ raw, input, arguments: named }: WrittenCall, text: string): string {
  const written = raw.trim()
  const reading = readJsonText(written)
  const member = reading.ok ? (memberOf(reading.root, 'arguments') ?? memberOf(reading.root, 'parameters')) : undefined
  const source = member && sourceOf(written, member.value)
  // An argument of the call may have such a name too, and of two such members the parser may take the other one.
  if (source !== undefined && isJsonOf(input, source)) return source
  const last = new Map(named.map((argument) => [argument.name, argument.text]))
  const members = Object.keys(input).length === last.size ? [...last] : []
  if (members.length === 0) return JSON.stringify(input)
  const value = (name: string, { start, end }: TextRange) => valueJson(input[name], text.slice(start, end))
  return `{${members.map(([name, range]) => `${JSON.stringify(name)}: ${value(name, range)}`).join(', ')}}`
}

/** Returns a value as JSON. Bare texts, literals of Python and values of Gemma 4 are not JSON: they are converted and keep their digits. */
export function valueJson(value: unknown, written: string): string {
  const isJson = value !== written && scanWhole(written, 0, written.length).ok
  const literal = isJson ? written.trim() : value === written ? undefined : (literalJson(written) ?? gemmaJson(written))
  return literal !== undefined && isJsonOf(value, literal) ? literal : JSON.stringify(value)
}

/** Returns whether a JSON text has this value. */
const isJsonOf = (value: unknown, json: string): boolean => JSON.stringify(JSON.parse(json)) === JSON.stringify(value)
