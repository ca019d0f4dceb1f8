/** A JSON object from any source. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Returns whether a value is a JSON object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the objects of a list; none of another value. */
export const objectsIn = (list: unknown): readonly JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** Returns the JSON object in a field's text: an empty one for an empty text, undefined for invalid text. */
export function objectOf(text: string): JsonObject | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the object without some keys, or undefined if none are left. Keys that JavaScript gives a meaning are data.
 */
export function without(value: JsonObject, keys: readonly string[]): JsonObject | undefined {
  const rest = Object.entries(value).filter(([key]) => !keys.includes(key))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

/** Returns the value with the texts of NaN and the infinities in their places, because JSON cannot represent them. */
export const storable = (value: JsonObject): JsonObject =>
  isAsJson(value) ? value : (JSON.parse(JSON.stringify(value, numberText)) as JsonObject)

const numberText = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value

/** Returns whether JSON represents every number of a value. A copy of a large value takes many times as long as this check. */
function isAsJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isAsJson(value[index])) return false
    return true
  }
  for (const key in value) if (!isAsJson((value as JsonObject)[key])) return false
  return true
}
