/** This file prepares JSON values from other programs' files for storage. */
import type { JsonObject } from './json-object.ts'

/**
 * Returns the object without some keys, or undefined if none are left. Keys that JavaScript gives a meaning are data.
 */
export function without(value: JsonObject, keys: readonly string[]): JsonObject | undefined {
  const rest = Object.entries(value).filter(([key]) => !keys.includes(key))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

/** Copies a value and replaces NaN and the infinities by null, because JSON cannot represent them. */
export const storable = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject
