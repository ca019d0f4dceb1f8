import { describe, expect, test } from 'vitest'
import { calculator } from './calculator.ts'
import { createInputCheck } from './tool-input.ts'

const why = (schema: object, input: Record<string, unknown>) => createInputCheck({ type: 'object', ...schema })(input)
const property = (schema: unknown, value: unknown) => why({ properties: { a: schema } }, { a: value })
const weather = {
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
  additionalProperties: false,
}

test('arguments that match the schema are accepted', () => {
  expect(why(weather, { city: 'Rome', days: 3 })).toBeUndefined()
  expect(why({}, { anything: [1] })).toBeUndefined()
  expect(createInputCheck(calculator.spec.inputSchema)({ expression: '1' })).toBeUndefined()
})

describe('arguments that do not match are reported by path, expectation and finding:', () => {
  test.each<[object, Record<string, unknown>, string]>([
    [weather, {}, 'city: expected a value, it is required, found nothing'],
    [weather, { city: 5 }, 'city: expected a string, found 5'],
    [weather, { city: 'Rome', days: '3' }, 'days: expected an integer, found "3"'],
    [weather, { city: 'Rome', days: 2.5 }, 'days: expected an integer, found 2.5'],
    [weather, { city: 'Rome', town: 'x' }, 'town: expected no such property, found "x"'],
    [{ minProperties: 2 }, { a: 1 }, 'expected at least 2 properties, found an object with a'],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, 'expected at most 1 property, found an object with a, b'],
    [{ propertyNames: { pattern: '^x' } }, { y: 1 }, 'y: expected another property name, found "y"'],
    [{ patternProperties: { '^n_': { type: 'number' } } }, { n_1: 'x' }, 'n_1: expected a number, found "x"'],
    [
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      'expected a value that "dependentRequired" of the schema allows, found an object with a',
    ],
    [
      { properties: { a: { type: 'object', properties: { b: { items: { required: ['c'] } } } } } },
      { a: { b: [{ c: 1 }, {}] } },
      'a.b[1].c: expected a value, it is required, found nothing',
    ],
    [
      { properties: { a: { $ref: '#/$defs/x%20y~1z' } }, $defs: { 'x y/z': { enum: ['m', 'f'] } } },
      { a: 'n' },
      'a: expected one of "m", "f", found "n"',
    ],
    [{ properties: { 'a/b~c d': { type: 'null' } } }, { 'a/b~c d': 1 }, '["a/b~c d"]: expected null, found 1'],
    [{ required: ['toString'] }, {}, 'toString: expected a value, it is required, found nothing'],
    [
      JSON.parse('{"properties": {"__proto__": {"type": "string"}}}'),
      JSON.parse('{"__proto__": 1}'),
      '__proto__: expected a string, found 1',
    ],
  ])('%#', (schema, input, expected) => {
    expect(why(schema, input)).toBe(expected)
  })

  test.each<[unknown, unknown, string | RegExp]>([
    [{ type: ['string', 'null'] }, 1, 'a string or null, found 1'],
    [{ type: 'array' }, {}, 'an array, found an object with no keys'],
    [{ const: { x: 1 } }, 1, '{"x":1}, found 1'],
    [
      { enum: Array.from({ length: 100 }, (_, i) => `value ${i}`) },
      1,
      /^a: expected one of "value 0".{180,200}…, found 1$/,
    ],
    [{ minLength: 2 }, 'x', 'a string of at least 2 characters, found "x"'],
    [{ maxLength: 1 }, 'xy', 'a string of at most 1 character, found "xy"'],
    [{ pattern: '^\\d+$' }, 'x', 'a string that matches ^\\d+$, found "x"'],
    [{ format: 'date' }, 'soon', 'a string in the format date, found "soon"'],
    [{ minimum: 1 }, 0, 'at least 1, found 0'],
    [{ maximum: 1 }, 2, 'at most 1, found 2'],
    [{ exclusiveMinimum: 1 }, 1, 'more than 1, found 1'],
    [{ exclusiveMaximum: 1 }, 1, 'less than 1, found 1'],
    [{ multipleOf: 0.1 }, 0.25, 'a multiple of 0.1, found 0.25'],
    [{ minItems: 1 }, [], 'at least 1 item, found an array of 0'],
    [{ maxItems: 2 }, [1, 2, 3], 'at most 2 items, found an array of 3'],
    [{ uniqueItems: true }, [1, 1], 'no item twice, found an array of 2'],
    [{ contains: { const: 1 } }, [2], 'a value that "contains" of the schema allows, found an array of 1'],
    [{ not: { const: 1 } }, 1, 'a value that "not" of the schema allows, found 1'],
    [
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      1,
      'a value that matches one of the alternatives of the schema, found 1',
    ],
    [
      { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
      3,
      'a value that matches exactly one of the alternatives of the schema, found 3',
    ],
    [{ items: [{ const: 1 }, { const: 2 }] }, [1, 3], /^a\[1\]: expected 2, found 3$/],
    [{ prefixItems: [true, false] }, [1, 3], /^a\[1\]: expected no such property, found 3$/],
    [false, 1, 'no such property, found 1'],
  ])('%j of %j', (schema, value, expected) => {
    const found = property(schema, value)
    if (typeof expected === 'string') expect(found).toBe(`a: expected ${expected}`)
    else expect(found).toMatch(expected)
  })

  test('with the alternative that matched furthest', () => {
    const circle = { type: 'object', properties: { kind: { const: 'circle' }, radius: { type: 'number' } } }
    const schema = { anyOf: [{ type: 'string' }, circle] }
    expect(property(schema, { kind: 'circle', radius: 'wide' })).toBe('a.radius: expected a number, found "wide"')
  })
})

describe('a hostile schema', () => {
  const long = `${'a'.repeat(60)}!`
  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `d${i}`,
      { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
    ]),
  )
  test.each<[string, object]>([
    ['name pattern that backtracks', { patternProperties: { '^(a+)+$': true } }],
    ['reference to itself', { properties: { a: { $ref: '#/properties/a' } } }],
    ['pair of references', { properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: { $ref: '#/properties/a' } } }],
    ['doubling of references', { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...doubling, d30: {} } }],
  ])('%s ends in an error, for the whole run', (_, schema) => {
    const check = createInputCheck({ type: 'object', ...schema })
    const input = { a: long, [long]: 1 }
    const words = 'they cannot be checked, because checking the schema of the tool takes too long'
    expect(check(input)).toBe(words)
    expect(check({})).toBe(words)
  })

  test('that is broken is named; a reference elsewhere is never followed', () => {
    expect(createInputCheck({ type: 'objekt' })({})).toMatch(
      /^the tool's schema is broken \(type: expected one of string, /,
    )
    expect(createInputCheck({ properties: { a: { $ref: 'http://127.0.0.1:9/x' } } })({})).toContain(
      'a position in this schema',
    )
  })

  test('is limited also where it hides behind quick keywords', () => {
    const hidden = { properties: { a: { items: { properties: { b: { pattern: '^(a+)+$' } } } } } }
    expect(why(hidden, { a: [{ b: long }] })).toBe(
      'they cannot be checked, because checking the schema of the tool takes too long',
    )
  })

  test('gives the same report for a call, whatever calls came before', () => {
    const check = createInputCheck({ type: 'object', ...weather })
    expect([{ city: 1 }, { city: 'Rome' }, {}, { city: 'Rome' }].map((input) => check(input) === undefined)).toEqual([
      false,
      true,
      false,
      true,
    ])
  })

  test('of the trajectory stays unchanged', () => {
    const schema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
    })
    expect(createInputCheck(schema)({ a: 'x' })).toBeUndefined()
  })
})
