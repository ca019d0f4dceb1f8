import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decidedJson } from './decided-json.ts'
import { unicodeEscape } from './unicode-escape.ts'

/** Returns what is decided of each beginning of a text. */
const decided = (text: string) =>
  Array.from({ length: text.length + 1 }, (_, end) => decidedJson(text.slice(0, end), 0))

describe('The decided JSON of a growing text', () => {
  test('is the beginning of its compact form, and all of it at the end', () => {
    const spaced = fc.constantFrom(0, 1, 4)
    const values = fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' })
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 6 }), values, { maxKeys: 4 }),
        spaced,
        fc.boolean(),
        (value, indent, isAscii) => {
          const plain = JSON.stringify(value, null, indent)
          const text = isAscii ? plain.replace(/[^\0-\x7f]/g, unicodeEscape) : plain
          const whole = JSON.stringify(JSON.parse(text))
          const all = decided(text)
          for (const [index, { json }] of all.entries()) {
            expect(whole.startsWith(json)).toBe(true)
            expect(json.startsWith(all[index - 1]?.json ?? '')).toBe(true)
          }
          expect(all.at(-1)).toEqual({ json: whole, end: text.length })
        },
      ),
    )
  })

  test.each([
    ['{"a": "so f', '{"a":"so f'],
    ['{"a": "é\\u00', '{"a":"é'],
    ['{"a": "\\ud83d', '{"a":"'],
    ['{"a": "\\ud83d\\ude42', '{"a":"🙂'],
    ['{"a": 1.0, "b": 1', '{"a":1.0,"b":'],
    ['{"a": tru', '{"a":'],
    ['{"a": [1, {"b', '{"a":[1,{'],
    ['{"a": "\\x', '{"a":"'],
    ['{"a": nil, "b": 1}', '{"a":'],
    ['{"a": 1, "a": 2}', '{"a":1,'],
    ['{1: 2}', '{'],
    ['', ''],
  ])('of %s is %s', (text, json) => {
    expect(decidedJson(text, 0)).toEqual({ json, end: undefined })
  })

  test('ends at the end of the value', () => {
    expect(decidedJson('x [1, "]"] y', 2)).toEqual({ json: '[1,"]"]', end: 10 })
  })

  test('keeps numbers and the order of names as they are written', () => {
    const text = '{"b": 12345678901234567890, "1": [1.0, 1E3, -0.0], "__proto__": 1}'
    expect(decidedJson(text, 0)).toEqual({ json: text.replaceAll(' ', ''), end: text.length })
  })
})
