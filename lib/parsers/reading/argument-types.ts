/** The JSON types that an argument may have, from the JSON Schema of its tool. */
import { pointerKeys } from '#lib/tools/tool-schema.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'

/** The allowed types; undefined if the schema does not restrict them. */
export type ArgumentTypes = ReadonlySet<JsonType> | undefined
/** A type of JSON Schema. */
export type JsonType = (typeof jsonTypes)[number]

/** All types of JSON Schema. */
export const jsonTypes = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'] as const

/** Returns the types of an argument of a tool. */
export function argumentTypes(tools: readonly ToolSpec[], tool: string, argument: string): ArgumentTypes {
  const schema = tools.find(({ name }) => name === tool)?.inputSchema
  return schema && typesOf(member(schema.properties, argument) ?? schema.additionalProperties, schema, new Set())
}

/** The schema of a value, and of its parts. */
export interface ValueSchema {
  readonly types: ArgumentTypes
  member(name: string): ValueSchema
  item(): ValueSchema
}

/** Returns the schema of all arguments of a tool. */
export function argumentsSchema(tools: readonly ToolSpec[], tool: string): ValueSchema {
  const schema = tools.find(({ name }) => name === tool)?.inputSchema
  return valueSchema(schema, schema)
}

const valueSchema = (schema: unknown, root: unknown): ValueSchema => ({
  types: typesOf(schema, root, new Set()),
  member: (name) =>
    valueSchema(
      partOf(schema, root, (one) => member(one.properties, name) ?? one.additionalProperties, new Set()),
      root,
    ),
  item: () =>
    valueSchema(
      partOf(schema, root, ({ items }) => items, new Set()),
      root,
    ),
})

/** Returns the schema of a part: from the schema itself, its reference, or its first choice that defines it. */
function partOf(
  schema: unknown,
  root: unknown,
  take: (schema: Readonly<Record<string, unknown>>) => unknown,
  seen: Set<unknown>,
): unknown {
  if (!isObject(schema) || seen.has(schema)) return undefined
  seen.add(schema)
  const own = take(schema)
  if (own !== undefined) return own
  const others =
    typeof schema.$ref === 'string'
      ? [resolvePointer(schema.$ref, root)]
      : [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray).flat()
  return others.map((other) => partOf(other, root, take, seen)).find((part) => part !== undefined)
}

/** Returns the types that a schema allows. `seen` are the schemas being read; a reference back to one of them adds nothing. */
function typesOf(schema: unknown, root: unknown, seen: Set<unknown>): ArgumentTypes {
  if (!isObject(schema)) return undefined
  if (seen.has(schema)) return new Set()
  seen.add(schema)
  if (typeof schema.$ref === 'string') return typesOf(resolvePointer(schema.$ref, root), root, seen)
  const named = [schema.type].flat()
  if (named.length > 0 && named.every(isJsonType)) return new Set(named)
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(jsonType))
  if ('const' in schema) return new Set([jsonType(schema.const)])
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray)
  if (choices) return union(choices.map((choice) => typesOf(choice, root, seen)))
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part) => typesOf(part, root, seen)).find(Boolean)
  return undefined
}

/** Returns the types of all choices; undefined if one of them allows any type. */
function union(choices: readonly ArgumentTypes[]): ArgumentTypes {
  const all = new Set<JsonType>()
  for (const types of choices) {
    if (!types) return undefined
    for (const type of types) all.add(type)
  }
  return all
}

/** Resolves a JSON pointer within the schema, such as `#/$defs/Color`. */
export function resolvePointer(pointer: string, root: unknown): unknown {
  return pointer.split('/')[0] === '#' ? pointerKeys(pointer).reduce(member, root) : undefined
}

/** Returns the type of a value; integer for whole numbers. */
export function jsonType(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  return typeof value as JsonType
}

const isJsonType = (name: unknown): name is JsonType => jsonTypes.includes(name as JsonType)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const member = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
