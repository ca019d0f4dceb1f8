import { elementAt } from '#lib/util/element-at.ts'
import type { JsonObject } from './json-object.ts'

/**
 * Returns whether two plain values have the same JSON, without writing it: the same entries in the same order. Fields with
 * the value undefined do not count.
 */
export function hasSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (!isHolder(one) || !isHolder(other)) return false
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((entry, index) => hasSameJson(entry, other[index]))
    )
  return hasSameFields(one as JsonObject, other as JsonObject)
}

/** Compares without lists of fields: a client sends its whole history with every call, and most of its messages are the same. */
function hasSameFields(one: JsonObject, other: JsonObject): boolean {
  const others = Object.keys(other)
  let at = nextField(others, 0, other)
  for (const name of Object.keys(one)) {
    const value = one[name]
    if (value === undefined) continue
    if (others[at] !== name || !hasSameJson(value, other[name])) return false
    at = nextField(others, at + 1, other)
  }
  return at === others.length
}

/** Returns the index of the first name from `at` on whose value is not undefined. */
function nextField(names: readonly string[], at: number, object: JsonObject): number {
  let next = at
  while (next < names.length && object[elementAt(names, next)] === undefined) next++
  return next
}

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null
