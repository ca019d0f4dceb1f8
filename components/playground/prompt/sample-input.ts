import { isObject } from '#lib/json/json-object.ts'

/** Returns example arguments for a JSON schema, to try a mock reply. They are not validated, and deep schemas are cut. */
export function sampleInput(schema: unknown, name = 'text', depth = 0): unknown {
  if (!isObject(schema) || depth > 8) return {}
  const [given] = [schema.const, schema.default, first(schema.examples), first(schema.enum)].filter(
    (one) => one !== undefined,
  )
  if (given !== undefined) return given
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'string':
      return name
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return [sampleInput(schema.items, name, depth + 1)]
    default:
      return isObject(schema.properties)
        ? Object.fromEntries(
            Object.entries(schema.properties).map(([key, inner]) => [key, sampleInput(inner, key, depth + 1)]),
          )
        : {}
  }
}

const first = (values: unknown): unknown => (Array.isArray(values) ? values[0] : undefined)
