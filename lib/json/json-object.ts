/** A JSON object from any source. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Returns whether a value is a JSON object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
