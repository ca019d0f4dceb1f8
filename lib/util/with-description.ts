/** Descriptions of schemas, which the documents about the API and the formats print. */
import * as z from 'zod/mini'

/** Returns a copy of a schema with a description. A check named `describe` would be run for every value. */
export function withDescription<Schema extends z.core.$ZodType>(schema: Schema, description: string): Schema {
  const described = z.clone(schema)
  z.globalRegistry.add(described, { description })
  return described
}
