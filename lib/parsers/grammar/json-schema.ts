/** The values that a JSON Schema allows, as a grammar in the notation of a format. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { unicodeEscape } from '#lib/json/unicode-escape.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type JsonType, jsonTypes, resolvePointer } from '../reading/argument-types.ts'
import {
  choice,
  type GrammarExpression,
  listOf,
  noneOf,
  oneOf,
  optional,
  recursive,
  repeat,
  sequence,
  shared,
  text,
  textWithout,
} from './expression.ts'

/** How a format writes values. */
export interface Notation {
  /** Any text with its quotes. */
  readonly text: GrammarExpression
  /** Returns a text with its quotes. */
  readonly quote: (value: string) => string
  /** The words for true, false and null. */
  readonly words: readonly [yes: string, no: string, none: string]
  /** Returns the name of a member of an object. */
  readonly name: (name: string) => string
  /** Any name of a member. */
  readonly anyName: GrammarExpression
  /** What may follow a comma or a colon. */
  readonly space: GrammarExpression
}

const SPACE = optional(' ')
const DIGIT = oneOf(['0', '9'])
const HEX = oneOf(['0', '9'], ['a', 'f'], ['A', 'F'])

/** Returns the notation of JSON whose texts do not contain these characters, except as escapes. */
export function jsonNotation(excluded = ''): Notation {
  const escaped = sequence('\\', choice([oneOf('"\\/bfnrt'), sequence('u', repeat(HEX, 4, 4))]))
  const any = sequence('"', repeat(choice([noneOf(['\0', '\x1f'], '"\\', excluded), escaped])), '"')
  const quote = (value: string) =>
    Array.from(JSON.stringify(value), (character) =>
      excluded.includes(character) ? unicodeEscape(character) : character,
    ).join('')
  return { text: any, quote, words: ['true', 'false', 'null'], name: quote, anyName: any, space: SPACE }
}

/** Notation of Python literals. Its texts have the escapes that Python and JSON have in common. */
export const PYTHON_NOTATION: Notation = {
  ...jsonNotation(),
  text: sequence('"', repeat(choice([noneOf(['\0', '\x1f'], '"\\'), sequence('\\', oneOf('"\\nrt'))])), '"'),
  words: ['True', 'False', 'None'],
}

/** Returns the notation of Gemma 4: texts are between these quote tokens, and names have no quotes. */
export const gemmaNotation = (quote: string): Notation => ({
  text: sequence(quote, textWithout([quote]), quote),
  quote: (value) => `${quote}${value}${quote}`,
  words: ['true', 'false', 'null'],
  name: (name) => name,
  anyName: repeat(oneOf(['a', 'z'], ['A', 'Z'], ['0', '9'], '_'), 1),
  space: text(''),
})

/** Integers that every number type represents. */
const INTEGER = sequence(optional('-'), choice([text('0'), sequence(oneOf(['1', '9']), repeat(DIGIT, 0, 14))]))
const NUMBER = sequence(
  INTEGER,
  optional(sequence('.', repeat(DIGIT, 1, 15))),
  optional(sequence(oneOf('eE'), optional(oneOf('+-')), repeat(DIGIT, 1, 2))),
)

/** Writes values of the schemas of one tool. */
export interface ValueGrammar {
  /** Returns the values that a schema allows. Of keywords, those in the docstring of `valueGrammar` count. */
  value(schema: unknown): GrammarExpression
  /** Returns the values of one of the sets of a schema. */
  valuesOf(one: Alternative): GrammarExpression
}

/**
 * Returns the writer of the values of a tool, whose whole schema resolves references. The keywords type, properties, required,
 * additionalProperties, items, enum, const, anyOf, oneOf, allOf and $ref count. Others, such as pattern and minimum, do not restrict values.
 * Members of objects come in the order of the schema. An object that lists members has others only if the schema says so.
 */
export function valueGrammar(root: unknown, notation: Notation): ValueGrammar {
  const { words, space } = notation
  const references = new Map<string, GrammarExpression>()
  const comma = sequence(',', space)
  const anyMember = (schema: unknown): GrammarExpression => sequence(notation.anyName, ':', space, value(schema))
  const anything = recursive(() =>
    choice(jsonTypes.filter((type) => type !== 'integer').map((type) => ofType(type, {}))),
  )

  function value(schema: unknown): GrammarExpression {
    return choice(alternativesOf(schema).map(valuesOf))
  }

  function valuesOf(one: Alternative): GrammarExpression {
    switch (one.kind) {
      case 'any':
        return anything
      case 'reference':
        return referenced(one.pointer)
      case 'constant':
        return text(literal(one.value, notation))
      case 'type':
        return ofType(one.type, one.schema)
    }
  }

  function referenced(pointer: string): GrammarExpression {
    const known = references.get(pointer)
    if (known) return known
    if (isEndless(pointer, root, new Set()))
      throw new RangeError(`the reference ${pointer} of a schema leads to itself`)
    const rule = recursive(() => value(resolvePointer(pointer, root)))
    references.set(pointer, rule)
    return rule
  }

  function ofType(type: JsonType, schema: JsonObject): GrammarExpression {
    switch (type) {
      case 'string':
        return notation.text
      case 'integer':
        return INTEGER
      case 'number':
        return NUMBER
      case 'boolean':
        return choice([text(words[0]), text(words[1])])
      case 'null':
        return text(words[2])
      case 'array':
        return sequence('[', optional(listOf(value(schema.items), comma)), ']')
      case 'object':
        return objectOf(schema)
    }
  }

  function objectOf(schema: JsonObject): GrammarExpression {
    const { additionalProperties: further, properties } = schema
    const members = membersOf(schema)
    if (members.length === 0)
      return further === false || (isObject(properties) && further === undefined)
        ? text('{}')
        : sequence('{', optional(listOf(anyMember(further), comma)), '}')
    const written = members.map(({ name, schema: own, isRequired }) => ({
      isRequired,
      member: shared(sequence(`${notation.name(name)}:`, space, value(own))),
    }))
    const more = isObject(further) || further === true ? [repeat(sequence(comma, anyMember(further)))] : []
    return sequence('{', separated(written, comma, sequence(...more)), '}')
  }

  return { value, valuesOf }
}

/** A part of a list whose parts may be missing. */
interface ListPart {
  readonly member: GrammarExpression
  readonly isRequired: boolean
}

/** The largest number of parts that may all be missing: their grammar has a place for each two of them. */
const MOST_OPTIONAL = 200

/**
 * Returns the lists of these parts in their order, with separators between those that are there; `more` follows the last part. Throws
 * RangeError for too many parts of which none is required.
 */
export function separated(
  parts: readonly ListPart[],
  separator: GrammarExpression,
  more: GrammarExpression,
): GrammarExpression {
  const following = parts.map(({ member, isRequired }) => {
    const next = sequence(separator, member)
    return isRequired ? next : optional(next)
  })
  const first = parts.findIndex(({ isRequired }) => isRequired)
  if (first >= 0) {
    const before = parts.slice(0, first).map(({ member }) => optional(sequence(member, separator)))
    return sequence(...before, elementAt(parts, first).member, ...following.slice(first + 1), more)
  }
  if (parts.length > MOST_OPTIONAL)
    throw new RangeError(
      `an object of a schema has ${parts.length} members and requires none, and a grammar takes at most ${MOST_OPTIONAL} such members`,
    )
  const begun = parts.map(({ member }, index) => sequence(member, ...following.slice(index + 1), more))
  return optional(choice(begun))
}

/** Returns whether a reference leads to itself without a value in between. */
function isEndless(pointer: string, root: unknown, seen: ReadonlySet<string>): boolean {
  if (seen.has(pointer)) return true
  const further = new Set(seen).add(pointer)
  return alternativesOf(resolvePointer(pointer, root)).some(
    (one) => one.kind === 'reference' && isEndless(one.pointer, root, further),
  )
}

/** One of the sets of values that a schema allows. */
export type Alternative =
  | { readonly kind: 'any' }
  | { readonly kind: 'reference'; readonly pointer: string }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'type'; readonly type: JsonType; readonly schema: JsonObject }

/** Returns the sets whose union a schema allows. */
export function alternativesOf(schema: unknown): readonly Alternative[] {
  if (!isObject(schema)) return [{ kind: 'any' }]
  if (typeof schema.$ref === 'string') return [{ kind: 'reference', pointer: schema.$ref }]
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => ({ kind: 'constant', value }))
  if ('const' in schema) return [{ kind: 'constant', value: schema.const }]
  const options = [schema.anyOf, schema.oneOf].filter(Array.isArray).find(({ length }) => length > 0)
  if (options) return options.flatMap(alternativesOf)
  if (Array.isArray(schema.allOf))
    return alternativesOf(Object.assign({}, schema, { allOf: undefined }, ...schema.allOf))
  const types = [schema.type].flat().filter((type): type is JsonType => jsonTypes.includes(type as JsonType))
  if (types.length > 0) return types.map((type) => ({ kind: 'type', type, schema }))
  return [isObject(schema.properties) ? { kind: 'type', type: 'object', schema } : { kind: 'any' }]
}

/** A member of an object. */
export interface SchemaMember {
  readonly name: string
  readonly schema: unknown
  readonly isRequired: boolean
}

/** Returns the members that a schema lists, in its order. */
export function membersOf({ properties, required }: JsonObject): readonly SchemaMember[] {
  const names = new Set<unknown>(Array.isArray(required) ? required : [])
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    schema,
    isRequired: names.has(name),
  }))
}

/** Returns a value in a notation, with a space after commas and colons where the notation has one. */
function literal(value: unknown, notation: Notation): string {
  const space = notation.space === SPACE ? ' ' : ''
  if (typeof value === 'string') return notation.quote(value)
  if (value === null) return notation.words[2]
  if (typeof value === 'boolean') return notation.words[value ? 0 : 1]
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, notation)).join(`,${space}`)}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, one]) => `${notation.name(name)}:${space}${literal(one, notation)}`)
  return `{${members.join(`,${space}`)}}`
}
