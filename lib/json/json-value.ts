/** JSON values from files of others. */
import type { JsonObject } from './json-object.ts'

/** The object without some of its keys; undefined when nothing is left. Keys that JavaScript gives a meaning are data. */
export function without(value: JsonObject, keys: readonly string[]): JsonObject | undefined {
  const rest = Object.entries(value).filter(([key]) => !keys.includes(key))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

/** A copy in which every number is one that JSON can hold: NaN and the infinities become null. */
export const storable = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject
