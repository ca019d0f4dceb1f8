/** Converts the grammar fields of bodies in OpenAI's form to sampling parameters. */

import { fieldsOf, TEXT } from '#lib/builtin-server/http/body-fields.ts'
import { badBody, HttpRefusal } from '#lib/builtin-server/http/refusal.ts'
import { isObject } from '#lib/json/json-object.ts'

interface GrammarFields {
  readonly regex: string | undefined
  readonly ebnf: string | undefined
  readonly json_schema: string | undefined
}

/** Returns the grammars of a body. A `response_format` is a grammar with its schema, or without one any object. Throws HttpRefusal. */
export function grammarFields(body: Readonly<Record<string, unknown>>): GrammarFields {
  const field = fieldsOf(body)
  return {
    regex: field('regex', TEXT),
    ebnf: field('ebnf', TEXT),
    json_schema: schemaOf(body.response_format),
  }
}

function schemaOf(format: unknown): string | undefined {
  if (format === undefined || format === null) return undefined
  const type = isObject(format) ? format.type : undefined
  if (type === 'text') return undefined
  if (type === 'json_object') return '{"type": "object"}'
  if (type === 'json_schema') {
    const named = (format as { json_schema?: unknown }).json_schema
    const schema = isObject(named) ? named.schema : undefined
    if (isObject(schema)) return JSON.stringify(schema)
    throw new HttpRefusal('chat', 'schema_ is required for json_schema response format request.')
  }
  throw badBody('literal_error', ['response_format', 'type'], "Input should be 'text', 'json_object' or 'json_schema'")
}
