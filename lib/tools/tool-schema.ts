/**
 * Checks a tool's input schema (JSON Schema, 2020-12 and older spellings in use). Schemas come from untrusted files:
 * nothing is fetched, depth and size are limited, and the result contains only the keywords below, so a validator never
 * sees others.
 */
import { isObject } from '#lib/json/json-object.ts'
import { describeValue, fieldPathText, type Violation } from '#lib/util/schema-violation.ts'

/** A schema with only known keywords. */
export type CheckedSchema = boolean | { readonly [keyword: string]: unknown }

/** A checked schema, or the violation that makes it invalid. */
export type SchemaCheck =
  | { readonly ok: true; readonly schema: CheckedSchema }
  | { readonly ok: false; readonly violation: Violation; readonly at: readonly Key[] }

type Key = string | number

/** Limits far beyond any tool in use. Validators are recursive, and a schema is read again for every call. */
const DEEPEST = 32
const MOST_SCHEMAS = 2_000
const LONGEST_PATTERN = 1_000

/**
 * Checks the schema of a tool's arguments. Keywords outside of the table do not affect validity (title, default,
 * examples …) and are removed.
 */
export const checkToolSchema = (value: unknown): SchemaCheck => checkSchemaWithin(value, true)

/** Checks the schema of any value. */
export const checkSchema = (value: unknown): SchemaCheck => checkSchemaWithin(value, false)

function checkSchemaWithin(value: unknown, isOfArguments: boolean): SchemaCheck {
  const seen: Seen = { schemas: new Set(), references: [], problem: undefined }
  const root: Place = { path: [], seen }
  const schema = isObject(value) ? schemaAt(value, root) : refuse(value, root, 'an object')
  const { type: kind = 'object' } = (schema ?? {}) as { readonly type?: unknown }
  if (isOfArguments && kind !== 'object')
    refuse(kind, { ...root, path: ['type'] }, '"object", because arguments have names')
  for (const { to, path } of seen.references)
    if (!seen.schemas.has(placeOf(pointerKeys(to))))
      refuse(to, { ...root, path }, 'a position in this schema that contains a schema')
  return seen.problem ?? { ok: true, schema: schema as CheckedSchema }
}

/** State of reading one schema. */
interface Seen {
  readonly schemas: Set<string>
  readonly references: { readonly to: string; readonly path: readonly Key[] }[]
  /** The first violation. */
  problem: Extract<SchemaCheck, { ok: false }> | undefined
}

interface Place {
  readonly path: readonly Key[]
  readonly seen: Seen
}

/** Returns the keyword's value for the validator. */
type Keyword = (value: unknown, place: Place) => unknown

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

const type: Keyword = (value, place) =>
  Array.isArray(value) && value.length > 0
    ? value.map((one, index) => typeName(one, inside(place, index)))
    : typeName(value, place)

const typeName: Keyword = (value, place) =>
  TYPES.includes(value as string) ? value : refuse(value, place, `one of ${TYPES.join(', ')}`)

/** Accepts any value of limited depth, because validators and JSON.stringify are recursive. */
const anything: Keyword = (value, place) => {
  if (typeof value !== 'object' || value === null) return value
  if (isTooDeep(place)) return refuse(value, place, `at most ${DEEPEST} levels`)
  for (const [key, one] of Object.entries(value)) anything(one, inside(place, Array.isArray(value) ? Number(key) : key))
  return value
}

const list: Keyword = (value, place) =>
  Array.isArray(value) && value.length > 0
    ? anything(value, place)
    : refuse(value, place, 'an array of at least one value')

const count: Keyword = (value, place) =>
  Number.isInteger(value) && (value as number) >= 0 ? value : refuse(value, place, 'a whole number from 0')

const number: Keyword = (value, place) => (typeof value === 'number' ? value : refuse(value, place, 'a number'))

const divisor: Keyword = (value, place) =>
  typeof value === 'number' && value > 0 ? value : refuse(value, place, 'a number above 0')

const flag: Keyword = (value, place) => (typeof value === 'boolean' ? value : refuse(value, place, 'true or false'))

const text: Keyword = (value, place) => (typeof value === 'string' ? value : refuse(value, place, 'a text'))

const names: Keyword = (value, place) =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')
    ? value
    : refuse(value, place, 'an array of names')

const pattern: Keyword = (value, place) =>
  typeof value === 'string' && value.length <= LONGEST_PATTERN && isPattern(value)
    ? value
    : refuse(value, place, 'a regular expression (JavaScript, with the u flag)')

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}

const reference: Keyword = (value, place) => {
  if (typeof value !== 'string' || !/^#(\/|$)/.test(value))
    return refuse(value, place, 'a position in this schema, for example #/$defs/name')
  place.seen.references.push({ to: value, path: place.path })
  return value
}

const schemas: Keyword = (value, place) =>
  Array.isArray(value) && value.length > 0
    ? value.map((one, index) => schemaAt(one, inside(place, index)))
    : refuse(value, place, 'an array of schemas')

const schemaOrSchemas: Keyword = (value, place) =>
  Array.isArray(value) ? schemas(value, place) : schemaAt(value, place)

const mapOf =
  (member: Keyword, name: Keyword = anything): Keyword =>
  (value, place) => {
    if (!isObject(value)) return refuse(value, place, 'an object')
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => {
        const inner = inside(place, key)
        name(key, inner)
        return [key, member(one, inner)]
      }),
    )
  }

const refused =
  (instead: string): Keyword =>
  (value, place) =>
    refuse(value, place, instead)

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({
    type,
    enum: list,
    const: anything,
    $ref: reference,
    $defs: mapOf(schemaAt),
    definitions: mapOf(schemaAt),
    // No tool uses these keywords; ignoring them would allow what they forbid.
    $dynamicRef: refused('$ref instead'),
    $recursiveRef: refused('$ref instead'),
    allOf: schemas,
    anyOf: schemas,
    oneOf: schemas,
    not: schemaAt,
    if: schemaAt,
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: schemaAt,
    else: schemaAt,
    properties: mapOf(schemaAt),
    patternProperties: mapOf(schemaAt, pattern),
    additionalProperties: schemaAt,
    unevaluatedProperties: schemaAt,
    propertyNames: schemaAt,
    required: names,
    dependentRequired: mapOf(names),
    dependentSchemas: mapOf(schemaAt),
    minProperties: count,
    maxProperties: count,
    items: schemaOrSchemas,
    prefixItems: schemas,
    additionalItems: schemaAt,
    unevaluatedItems: schemaAt,
    contains: schemaAt,
    minContains: count,
    maxContains: count,
    minItems: count,
    maxItems: count,
    uniqueItems: flag,
    minimum: number,
    maximum: number,
    exclusiveMinimum: number,
    exclusiveMaximum: number,
    multipleOf: divisor,
    minLength: count,
    maxLength: count,
    pattern,
    format: text,
  } satisfies Record<string, Keyword>),
)

function schemaAt(value: unknown, place: Place): CheckedSchema | undefined {
  const { schemas: found } = place.seen
  found.add(placeOf(place.path))
  if (found.size > MOST_SCHEMAS) return refuse(value, place, `at most ${MOST_SCHEMAS} schemas in one`)
  if (typeof value === 'boolean') return value
  if (!isObject(value)) return refuse(value, place, 'a schema (an object, true or false)')
  if (isTooDeep(place)) return refuse(value, place, `at most ${DEEPEST} levels`)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const keyword = KEYWORDS.get(name)
      const read = (keyword ?? anything)(one, inside(place, name))
      return keyword ? [[name, read]] : []
    }),
  )
}

/** Returns true beyond DEEPEST schemas. A nested schema is two steps deeper: a keyword, and a name or an index. */
const isTooDeep = ({ path }: Place): boolean => path.length > 2 * DEEPEST

const inside = ({ path, seen }: Place, key: Key): Place => ({ path: [...path, key], seen })

const placeOf = (path: readonly Key[]): string => JSON.stringify(path.map(String))

/** Returns the member names of a JSON pointer in fragment notation: `#/$defs/a~1b`. */
export const pointerKeys = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => unescapeKey(key).replaceAll('~1', '/').replaceAll('~0', '~'))

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** Records the first violation; later ones have no effect. */
function refuse(found: unknown, { path, seen }: Place, expected: string): undefined {
  seen.problem ??= {
    ok: false,
    violation: { path: fieldPathText(path), expected, found: describeValue(found) },
    at: path,
  }
}
