/** Types an argument that is bare text, without quotes that would distinguish a text from a number. */

import { scanWhole } from '#lib/json/json-scan.ts'
import { literalJson } from '#lib/json/python-literal.ts'
import type { TextRange } from '../parser.ts'
import { type ArgumentTypes, type JsonType, jsonType } from './argument-types.ts'

/** A typed value, or why it is not valid. */
export type TypedValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string; readonly at: number }

/** Python's literals besides those of JSON, for templates that write values with Jinja's `string` filter. */
export const PYTHON_VALUES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['True', true],
  ['False', false],
  ['None', null],
])

/**
 * Types a value by its schema. A text is unchanged. Other types are decoded as JSON and must match the schema. If text
 * is one of several types, the value is a text unless it decodes as one of the others; without a schema, unless it
 * decodes at all. `words` are literals besides JSON's for the types that the schema names.
 */
export function typedValue(
  text: string,
  { start, end }: TextRange,
  types: ArgumentTypes,
  words: ReadonlyMap<string, unknown>,
): TypedValue {
  const written = text.slice(start, end)
  const decoded = types && decodedTypes(types)
  if (decoded?.size === 0) return { ok: true, value: written }
  const word = words.get(written.trim())
  if (word !== undefined && decoded?.has(jsonType(word))) return { ok: true, value: word }
  const mayBeText = !types || types.has('string')
  const wanted = types ? `is not of type ${[...types].join(' or ')}` : 'cannot be represented'
  const scan = scanWhole(text, start, end)
  if (scan.ok) {
    const value: unknown = JSON.parse(written)
    if (!decoded || decoded.has(jsonType(value))) return { ok: true, value }
    return mayBeText ? { ok: true, value: written } : { ok: false, why: wanted, at: start }
  }
  // Refused JSON is an error even where a text is allowed, because no tool expects it as a text.
  if (mayBeText && scan.kind !== 'refused') return { ok: true, value: written }
  return { ok: false, why: `${wanted}: ${scan.why}`, at: scan.at }
}

/** Like typedValue for formats whose templates write Python: a list or a dict may be in Python notation. */
export function typedLiteral(
  text: string,
  range: TextRange,
  types: ArgumentTypes,
  words: ReadonlyMap<string, unknown>,
): TypedValue {
  const typed = typedValue(text, range, types, words)
  if (typed.ok) return typed
  const json = literalJson(text.slice(range.start, range.end))
  const literal: unknown = json === undefined ? undefined : JSON.parse(json)
  return typeof literal === 'object' && types?.has(jsonType(literal)) ? { ok: true, value: literal } : typed
}

/** Returns all types except text. A number may be whole. */
function decodedTypes(types: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  const decoded = new Set(types)
  decoded.delete('string')
  if (decoded.has('number')) decoded.add('integer')
  return decoded
}
