import { describe, expect, test } from 'vitest'
import { toEbnf, toRegex } from './expression.ts'
import { gemmaNotation, jsonNotation, PYTHON_NOTATION, valueGrammar } from './json-schema.ts'

/** Returns whether each text is a value of a schema. */
const accepted = (schema: unknown, texts: readonly string[], notation = jsonNotation()) => {
  const pattern = new RegExp(`^(?:${toRegex(valueGrammar(schema, notation).value(schema), 2)})$`, 'u')
  return texts.filter((text) => pattern.test(text))
}

test('A reference that leads to itself is refused, and many optional members at many levels are not many texts', () => {
  const grammarOf = (schema: object) => toEbnf(valueGrammar(schema, jsonNotation()).value(schema))
  expect(() => grammarOf({ $ref: '#' })).toThrow(RangeError)
  expect(() => grammarOf({ $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, true] } } })).toThrow(
    '#/$defs/a',
  )
  const nested = (levels: number): object =>
    levels === 0
      ? { type: 'string' }
      : { properties: Object.fromEntries(Array.from('abcdefghij', (name) => [name, nested(levels - 1)])) }
  const schema = nested(3)
  expect(grammarOf(schema).length).toBeLessThan(40 * JSON.stringify(schema).length)
})

test('An object with 20,000 members is refused if it requires none, because its grammar would need gigabytes', () => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`property_${index}`, {}]))
  const grammarOf = (schema: object) => valueGrammar(schema, jsonNotation()).value(schema)
  expect(() => grammarOf({ properties })).toThrow('20000 members and requires none')
  expect(toEbnf(grammarOf({ properties, required: Object.keys(properties) }))).toContain('property_19999')
})

describe('The values of a schema', () => {
  test.each<[string, unknown, readonly string[], readonly string[]]>([
    ['of any type', {}, ['1', '"a"', 'null', '[1, "a"]', '{}'], ['', 'a', '{a: 1}']],
    ['that is no object', true, ['1'], ['x']],
    ['with one type', { type: 'integer' }, ['0', '-12'], ['01', '1.5', '1e3', '"1"', '12345678901234567']],
    ['with several types', { type: ['number', 'null'] }, ['1.5', '2e9', 'null'], ['true', 'nul']],
    ['with an unknown type', { type: 'date' }, ['1', '"a"'], ['a']],
    ['of texts', { type: 'string' }, ['""', '"é\\n\\u00e9"'], ['"', '"\n"', '"\\x"', 'a']],
    ['of truth values', { type: 'boolean' }, ['true', 'false'], ['True', 'null']],
    ['of lists', { type: 'array', items: { type: 'integer' } }, ['[]', '[1]', '[1,2, 3]'], ['[1,]', '["a"]']],
    [
      'of named values',
      { enum: ['a', 1, null, true, [1, 'b'], { c: false }] },
      ['"a"', '1', 'null', 'true', '[1, "b"]', '{"c": false}'],
      ['"b"', '2'],
    ],
    ['of one value', { const: 'x' }, ['"x"'], ['x', '"y"']],
    ['with choices', { anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, ['1', 'true'], ['"a"']],
    ['with exclusive choices', { oneOf: [{ type: 'integer' }] }, ['1'], ['"a"']],
    ['with several parts', { allOf: [{ type: 'string' }, { minLength: 1 }] }, ['"a"'], ['1']],
    ['without choices', { anyOf: [], type: 'null' }, ['null'], ['1']],
    ['of an object without a type', { properties: { a: { type: 'integer' } } }, ['{"a": 1}', '{}'], ['{"b": 1}', '1']],
    ['of any object', { type: 'object' }, ['{}', '{"a": 1,"b":"c"}'], ['[]', '{"a"}']],
    ['of the empty object', { type: 'object', properties: {} }, ['{}'], ['{"a": 1}']],
    ['of an object without further members', { type: 'object', additionalProperties: false }, ['{}'], ['{"a": 1}']],
    ['of a map', { type: 'object', additionalProperties: { type: 'integer' } }, ['{}', '{"a": 1}'], ['{"a": "b"}']],
    [
      'of an object with further members',
      { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], additionalProperties: true },
      ['{"a": 1}', '{"a": 1, "b": "c"}'],
      ['{"b": "c"}'],
    ],
    [
      'of an object with members of one type more',
      { type: 'object', properties: { a: {} }, additionalProperties: { type: 'null' } },
      ['{"a": 1, "b": null}'],
      ['{"a": 1, "b": 2}'],
    ],
    [
      'of an object with members that may be missing',
      { type: 'object', properties: { a: {}, b: {}, c: {} }, required: ['b'] },
      ['{"b": 1}', '{"a": 1, "b": 1}', '{"a":1,"b":1,"c":1}', '{"b": 1, "c": 1}'],
      ['{}', '{"a": 1}', '{"b": 1, "a": 1}', '{"a": 1 "b": 1}'],
    ],
    ['with a broken list of required members', { properties: { a: {} }, required: 'a' }, ['{}'], []],
    ['of a reference to nothing', { $ref: '#/$defs/none' }, ['1', '"a"'], ['a']],
    ['of references', { $ref: '#/$defs/a', $defs: { a: { type: 'null' } } }, ['null'], ['1']],
    [
      'of trees',
      { $ref: '#/$defs/a', $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } } },
      ['[]', '[[]]'],
      ['[[[]]]', '1'],
    ],
  ])('%s are the texts that fit', (_, schema, fitting, others) => {
    expect(accepted(schema, [...fitting, ...others])).toEqual(fitting)
  })

  test('are written in the notation of the format', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'boolean' }, b: { enum: ['x"', null, { c: [1] }] }, d: { type: 'string' } },
    }
    expect(
      accepted(schema, ['{"a": True, "b": "x\\"", "d": "\\n"}', '{"b": None}', '{"d": "\\u0041"}'], PYTHON_NOTATION),
    ).toEqual(['{"a": True, "b": "x\\"", "d": "\\n"}', '{"b": None}'])
    const gemma = ['{a:true,b:<|"|>x"<|"|>,d:<|"|>a<b<|"|>}', '{b:{c:[1]}}', '{d:"a"}']
    expect(accepted(schema, gemma, gemmaNotation('<|"|>'))).toEqual(gemma.slice(0, 2))
    const excluded = jsonNotation('<')
    expect(accepted({ enum: ['a<'] }, ['"a<"', '"a\\u003c"'], excluded)).toEqual(['"a\\u003c"'])
    expect(accepted({ type: 'string' }, ['"a<"', '"a\\u003c"'], excluded)).toEqual(['"a\\u003c"'])
  })
})
