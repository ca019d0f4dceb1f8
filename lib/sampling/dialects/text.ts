/**
 * Parses pasted text to names and values: JSON, a Python call or dict, or command-line arguments. Nothing is executed.
 */

import { tooDeepAt } from '#lib/json/json-depth.ts'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { withoutByteOrderMark } from '#lib/util/text/byte-order-mark.ts'
import { isCommand, optionsOf } from './command.ts'
import { findNamedValues } from './pairs.ts'

/** No real parameter is nested this deeply; the code after this check is recursive. */
const DEEPEST = 100

/** Result of parsing pasted text. */
export type DialectText =
  | {
      readonly ok: true
      readonly values: JsonObject
      /** Source text of values that are not literals, by name. */
      readonly unread: ReadonlyMap<string, string>
    }
  | { readonly ok: false; readonly why: string }

/** Parses pasted sampling parameters in any of the known notations. */
export function readDialectText(pasted: string): DialectText {
  const text = withoutByteOrderMark(pasted).trim()
  const json = jsonValue(text)
  if (json !== undefined && tooDeepAt(text, DEEPEST) !== undefined)
    return { ok: false, why: `It is nested deeper than ${DEEPEST} levels.` }
  if (json !== undefined) return namedValues(isObject(json) ? json : {}, new Map())
  const { values, unread } = isCommand(text) ? optionsOf(text) : findNamedValues(text)
  return namedValues(Object.fromEntries(values), unread)
}

const namedValues = (values: JsonObject, unread: ReadonlyMap<string, string>): DialectText =>
  Object.keys(values).length + unread.size > 0
    ? { ok: true, values, unread }
    : { ok: false, why: 'It contains no name with a value.' }

/** Returns undefined if the text is not JSON. */
function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
