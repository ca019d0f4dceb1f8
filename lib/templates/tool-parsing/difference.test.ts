import { expect, test } from 'vitest'
import { causesOf } from './difference.ts'

test.each([
  ['{"a": 1}', '{"a": 1}', ['tokens']],
  ['{"a":1}', '{"a": 1}', ['spacing']],
  ['{"a": 1.0}', '{"a": 1}', ['numbers']],
  ['{"a": 1e3}', '{"a": 1000.0}', ['numbers']],
  ['{"a": "\\u00e9"}', '{"a": "é"}', ['escapes']],
  ['{"a": True}', '{"a": true}', ['words']],
  ["{'a': 1}", '{"a": 1}', ['quotes']],
  ['{"b": 1, "a": 2}', '{"a": 2, "b": 1}', ['key-order']],
  ['{"arguments": {}, "name": "f"}', '{"name": "f", "arguments": {}}', ['key-order']],
  ['{"b":1.0,"a":"\\/"}', '{"a": "/", "b": 1}', ['escapes', 'numbers', 'spacing', 'key-order']],
  ['f\n<arg_key>a</arg_key>', 'f<arg_key>a</arg_key>', ['spacing']],
  ['<parameter=a>1</parameter>', '<parameter=a>2</parameter>', ['content']],
  ['{"a": 12345678901234567890}', '{"a": 12345678901234567891}', ['content']],
  ['{"a": "x', '{"a": "x"', ['content']],
])('the causes of the difference between %j and %j are %j', (written, rendered, causes) => {
  expect(causesOf(written, rendered, false)).toEqual(causes)
})

test('ignored members are the cause of a difference that has no other', () => {
  expect(causesOf('{"name": "f", "id": 1}', '{"name": "f"}', true)).toEqual(['ignored'])
})
