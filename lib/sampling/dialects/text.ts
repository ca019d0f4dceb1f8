/** What was pasted, as names and values: JSON, a Python call or dict, or the arguments of a command. Nothing of it is run. */

import { tooDeepAt } from '#lib/json/json-depth.ts'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { withoutByteOrderMark } from '#lib/util/text/byte-order-mark.ts'
import { isCommand, optionsOf } from './command.ts'
import { pairsOf } from './pairs.ts'

/** No parameter comes near it; what follows walks values by recursion. */
const DEEPEST = 100

export type DialectText =
  | {
      readonly ok: true
      readonly values: JsonObject
      /** Names whose value is no plain one, with how it is written. */
      readonly unread: ReadonlyMap<string, string>
    }
  | { readonly ok: false; readonly why: string }

export function readDialectText(pasted: string): DialectText {
  const text = withoutByteOrderMark(pasted).trim()
  const json = jsonValue(text)
  if (json !== undefined && tooDeepAt(text, DEEPEST) !== undefined)
    return { ok: false, why: `It is nested deeper than ${DEEPEST} levels.` }
  if (json !== undefined) return named(isObject(json) ? json : {}, new Map())
  const { values, unread } = isCommand(text) ? optionsOf(text) : pairsOf(text)
  return named(Object.fromEntries(values), unread)
}

const named = (values: JsonObject, unread: ReadonlyMap<string, string>): DialectText =>
  Object.keys(values).length + unread.size > 0
    ? { ok: true, values, unread }
    : { ok: false, why: 'Nothing in it has a name and a value.' }

/** Undefined: it is no JSON. */
function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
