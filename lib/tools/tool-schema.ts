/**
 * Whether a tool's input schema is one that calls can be checked against (JSON Schema, 2020-12 and the older spellings
 * of tools in use). Schemas come from strangers' files: nothing is fetched, depth and size are bounded, and what comes
 * out holds only the keywords below, so that a validator never meets others.
 */
import { isObject } from '#lib/json/json-object.ts'
import { pathText, shownValue, type Violation } from '#lib/util/schema-violation.ts'

export type CheckedSchema = boolean | { readonly [keyword: string]: unknown }

export type SchemaCheck =
  | { readonly ok: true; readonly schema: CheckedSchema }
  | { readonly ok: false; readonly violation: Violation; readonly at: readonly Key[] }

type Key = string | number

/** No tool in use comes near these; validators recurse, and a schema is read again at every call. */
const DEEPEST = 32
const MOST_SCHEMAS = 2_000
const LONGEST_PATTERN = 1_000

/** Keywords outside the table say nothing about what is valid (title, default, examples …) and are left out. */
export const checkToolSchema = (value: unknown): SchemaCheck => checked(value, true)

/** The same of a schema of any value. */
export const checkSchema = (value: unknown): SchemaCheck => checked(value, false)

function checked(value: unknown, isOfArguments: boolean): SchemaCheck {
  const seen: Seen = { schemas: new Set(), references: [], problem: undefined }
  const root: Place = { path: [], seen }
  const schema = isObject(value) ? schemaAt(value, root) : refuse(value, root, 'an object')
  const { type: kind = 'object' } = (schema ?? {}) as { readonly type?: unknown }
  if (isOfArguments && kind !== 'object') refuse(kind, { ...root, path: ['type'] }, '"object": arguments have names')
  for (const { to, path } of seen.references)
    if (!seen.schemas.has(placeOf(pointerKeys(to))))
      refuse(to, { ...root, path }, 'a place in this schema that holds a schema')
  return seen.problem ?? { ok: true, schema: schema as CheckedSchema }
}

/** What the whole schema holds, as far as it has been read. */
interface Seen {
  readonly schemas: Set<string>
  readonly references: { readonly to: string; readonly path: readonly Key[] }[]
  /** The first. */
  problem: Extract<SchemaCheck, { ok: false }> | undefined
}

interface Place {
  readonly path: readonly Key[]
  readonly seen: Seen
}

/** The keyword's value as the validator may have it. */
type Keyword = (value: unknown, place: Place) => unknown

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

const type: Keyword = (value, place) =>
  Array.isArray(value) && value.length > 0
    ? value.map((one, index) => typeName(one, inside(place, index)))
    : typeName(value, place)

const typeName: Keyword = (value, place) =>
  TYPES.includes(value as string) ? value : refuse(value, place, `one of ${TYPES.join(', ')}`)

/** Values of any kind, which validators compare and others write as JSON by recursion. */
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
    return refuse(value, place, 'a place in this schema, for example #/$defs/name')
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
    // Nothing in tools uses them; a check that passed over them would let through what they forbid.
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

/** A schema in a schema is two steps away: a keyword, and a name or an index. */
const isTooDeep = ({ path }: Place): boolean => path.length > 2 * DEEPEST

const inside = ({ path, seen }: Place, key: Key): Place => ({ path: [...path, key], seen })

const placeOf = (path: readonly Key[]): string => JSON.stringify(path.map(String))

/** The members that a JSON pointer names, as a fragment: `#/$defs/a~1b`. */
export const pointerKeys = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => unescaped(key).replaceAll('~1', '/').replaceAll('~0', '~'))

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** Notes the first problem; what is read after it is read in vain. */
function refuse(found: unknown, { path, seen }: Place, expected: string): undefined {
  seen.problem ??= { ok: false, violation: { path: pathText(path), expected, found: shownValue(found) }, at: path }
}
