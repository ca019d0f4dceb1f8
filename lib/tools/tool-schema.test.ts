import { describe, expect, test } from 'vitest'
import { violationText } from '#lib/util/schema-violation.ts'
import { checkToolSchema } from './tool-schema.ts'

const said = (schema: unknown): string => {
  const checked = checkToolSchema(schema)
  return checked.ok ? 'accepted' : violationText(checked.violation)
}
const inside = (property: unknown) => said({ type: 'object', properties: { a: property } })

test('checkToolSchema accepts the schemas of real tools and keeps only checked keywords', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Weather',
    type: 'object',
    properties: {
      city: { type: 'string', description: 'The city', minLength: 1, pattern: '^\\p{L}+$', format: 'x-own' },
      days: {
        anyOf: [{ type: 'integer', minimum: 1, exclusiveMaximum: 9, multipleOf: 1 }, { type: 'null' }],
        default: null,
      },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' }, uniqueItems: true, maxItems: 3 },
      pair: { items: [{ type: ['string', 'number'] }, true] },
      tree: { $ref: '#' },
      __proto__: {},
    },
    $defs: { tag: { enum: ['a', 1, null] }, 'a/b ~': { const: {} } },
    required: ['city'],
    dependentRequired: { city: ['days'] },
    patternProperties: { '^x-': { not: { type: 'null' } } },
    additionalProperties: false,
    examples: [{ id: 'not a schema' }],
  }
  const checked = checkToolSchema(schema)
  expect(checked).toMatchObject({ ok: true })
  if (!checked.ok) return
  const { $schema, title, examples, properties, ...rest } = schema
  expect(checked.schema).toMatchObject(rest)
  expect(checked.schema).not.toHaveProperty('title')
  expect(JSON.stringify(checked.schema)).not.toContain('The city')
  expect(JSON.stringify(schema)).toContain('The city')
})

test.each<[unknown, string]>([
  [null, 'expected an object, found null'],
  [true, 'expected an object, found true'],
  [[], 'expected an object, found an array of 0'],
  [{ type: 'string' }, 'type: expected "object", because arguments have names, found "string"'],
  [{ type: ['object', 'null'] }, 'type: expected "object", because arguments have names, found an array of 2'],
  [{ properties: [] }, 'properties: expected an object, found an array of 0'],
  [{ properties: { city: 'string' } }, 'properties.city: expected a schema (an object, true or false), found "string"'],
  [{ required: 'city' }, 'required: expected an array of names, found "city"'],
  [{ required: [1] }, 'required: expected an array of names, found an array of 1'],
  [{ dependentRequired: { a: 'b' } }, 'dependentRequired.a: expected an array of names, found "b"'],
  [
    { patternProperties: { '(': {} } },
    'patternProperties["("]: expected a regular expression (JavaScript, with the u flag), found "("',
  ],
  [{ $dynamicRef: '#x' }, '$dynamicRef: expected $ref instead, found "#x"'],
  [{ allOf: [] }, 'allOf: expected an array of schemas, found an array of 0'],
  [{ anyOf: [{}, 1] }, 'anyOf[1]: expected a schema (an object, true or false), found 1'],
])('checkToolSchema refuses %j with %s', (schema, expected) => {
  expect(said(schema)).toBe(expected)
})

test.each<[unknown, string]>([
  [{ type: 'objct' }, 'type: expected one of string, number, integer, boolean, object, array, null, found "objct"'],
  [{ type: [] }, 'type: expected one of string, number, integer, boolean, object, array, null, found an array of 0'],
  [{ type: ['string', 5] }, 'type[1]: expected one of string, number, integer, boolean, object, array, null, found 5'],
  [{ enum: [] }, 'enum: expected an array of at least one value, found an array of 0'],
  [{ minLength: -1 }, 'minLength: expected a whole number from 0, found -1'],
  [{ maxItems: 1.5 }, 'maxItems: expected a whole number from 0, found 1.5'],
  [{ exclusiveMinimum: true }, 'exclusiveMinimum: expected a number, found true'],
  [{ multipleOf: 0 }, 'multipleOf: expected a number above 0, found 0'],
  [{ uniqueItems: 1 }, 'uniqueItems: expected true or false, found 1'],
  [{ format: 1 }, 'format: expected a text, found 1'],
  [{ pattern: 1 }, 'pattern: expected a regular expression (JavaScript, with the u flag), found 1'],
  [{ pattern: '[' }, 'pattern: expected a regular expression (JavaScript, with the u flag), found "["'],
  [{ items: [1] }, 'items[0]: expected a schema (an object, true or false), found 1'],
])('checkToolSchema refuses a property %j with %s', (property, expected) => {
  expect(inside(property)).toBe(`properties.a.${expected}`)
})

describe('checkToolSchema with references', () => {
  const elsewhere = 'properties.a.$ref: expected a position in this schema, for example #/$defs/name, found '
  const nothing = 'properties.a.$ref: expected a position in this schema that contains a schema, found '
  test.each([
    ['http://127.0.0.1:9/schema', elsewhere],
    ['other.json#/x', elsewhere],
    ['#anchor', elsewhere],
    [5, elsewhere],
    ['#/$defs/none', nothing],
    ['#/properties', nothing],
    ['#/examples/0', nothing],
    ['#/%', nothing],
  ])('accepts %s', ($ref, expected) => {
    expect(said({ properties: { a: { $ref } }, examples: [{}] })).toBe(`${expected}${JSON.stringify($ref)}`)
  })

  test.each(['#', '#/properties/a', '#/$defs/x~1y%20~0', '#/$defs/x~1y ~0/items/0'])('refuses %s', ($ref) => {
    expect(said({ properties: { a: { $ref } }, $defs: { 'x/y ~': { items: [{}] } } })).toBe('accepted')
  })
})

describe('checkToolSchema refuses, before any recursion, excessive', () => {
  const nested = (depth: number) => {
    let schema: object = {}
    for (let i = 0; i < depth; i++) schema = { properties: { a: schema } }
    return schema
  }
  test('depth', () => {
    expect(said(nested(32))).toBe('accepted')
    expect(said(nested(33))).toContain('expected at most 32 levels')
    expect(said(nested(100_000))).toContain('expected at most 32 levels')
  })

  test.each(['examples', 'default', 'const', 'enum', 'x-own'])('depth in %s, which contains any value', (keyword) => {
    const within = (depth: number) => {
      let value: unknown[] = []
      for (let i = 1; i < depth; i++) value = [value]
      return said({ [keyword]: value })
    }
    expect(within(64)).toBe(keyword === 'enum' ? within(2) : 'accepted')
    expect(within(65)).toContain('expected at most 32 levels')
    expect(within(100_000)).toContain('expected at most 32 levels')
  })

  test('size', () => {
    const wide = (n: number) => ({ properties: Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, {}])) })
    expect([said(wide(1_999)), said(wide(2_000))]).toEqual([
      'accepted',
      'properties.p1999: expected at most 2000 schemas in one, found an object with no keys',
    ])
  })

  test('long patterns', () => {
    expect(inside({ pattern: 'a'.repeat(1_000) })).toBe('accepted')
    expect(inside({ pattern: 'a'.repeat(1_001) })).toContain('properties.a.pattern: expected a regular expression')
  })
})
