import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unitsOf } from './units.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const symbols = (text: string): Int32Array => Int32Array.from(encoder.encode(text))

const cut = (text: Int32Array): string[] => {
  const { starts } = unitsOf(text, new Int32Array()).left
  return Array.from(starts.subarray(1), (end, index) =>
    decoder.decode(Uint8Array.from(text.subarray(starts[index], end))),
  )
}

test.each([
  ['I am here', 'I| am| here'],
  ['    return  x', '   | return| | x'],
  ['a\t\tb  1', 'a|\t\t|b|  |1'],
  ['getElementById HTMLElement', 'get|Element|By|Id| HTMLElement'],
  ['a1b22', 'a|1|b|22'],
  ['x\n\n\r\ny', 'x|\n\n\r\n|y'],
  ['{"a": -1.5}', '{|"|a|"|:| |-|1|.|5|}'],
  ['<|im_end|>\n</think>', '<|im_end|>|\n|</think>'],
  ['a<b c>d<<x>', 'a|<|b| c|>|d|<|<x>'],
  [`<${'a'.repeat(60)}>`, `<|${'a'.repeat(60)}|>`],
  ['<', '<'],
  ['<\n>', '<|\n|>'],
  ['héè损', 'h|é|è|损'],
  ['<｜end▁of▁sentence｜>', '<｜end▁of▁sentence｜>'],
])('unitsOf cuts %j', (text, units) => {
  expect(cut(symbols(text)).join('|')).toBe(units)
})

describe('unitsOf', () => {
  const text = fc
    .array(fc.constantFrom(10, 32, 60, 62, 65, 97, 48, 0xc3, 0xa9, 300, 301), { maxLength: 40 })
    .map((all) => Int32Array.from(all))
  const spelled = (all: Int32Array, { starts }: { starts: Int32Array }) =>
    Array.from(starts.subarray(1), (end, index) => all.slice(starts[index], end).join())

  test('covers the whole text and gives equal texts the same number', () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        const units = unitsOf(left, right)
        const texts = [...spelled(left, units.left), ...spelled(right, units.right)]
        const classes = [...units.left.classes, ...units.right.classes]
        expect(texts.filter((one) => one !== '').join()).toBe([...left, ...right].join())
        for (const [index, one] of texts.entries())
          expect(texts.map((other) => one === other)).toEqual(classes.map((other) => classes[index] === other))
      }),
    )
  })

  test('gives different texts different numbers', () => {
    const many = symbols(Array.from({ length: 5000 }, (_, index) => `${index}\n`).join(''))
    expect(new Set(unitsOf(many, many).right.classes).size).toBe(5001)
  })
})
