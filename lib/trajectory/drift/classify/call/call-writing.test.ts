import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callNodes } from './call-text.ts'
import { writingDifferences } from './call-writing.ts'

/** Returns `spacing 4-6|4-5`: how and where two texts of one value are written differently. */
const differences = (left: string, right: string): string =>
  writingDifferences(callNodes(left), callNodes(right))
    ?.map((each) => `${each.writing} ${each.left.start}-${each.left.end}|${each.right.start}-${each.right.end}`)
    .join(', ') ?? 'other value'

describe('writingDifferences', () => {
  test.each([
    ['{"a": 1}', '{"a":1}', 'spacing 4-6|4-5'],
    ['{"a": [1, 2]}', '{"a": [1,2 ]}', 'spacing 11-11|10-11, spacing 8-10|8-9'],
    ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', 'key-order 0-16|0-16'],
    ["{'a': 'b'}", '{"a": "b"}', 'quotes 1-4|1-4, quotes 6-9|6-9'],
    ['[True, None, NaN]', '[true, null, NaN]', 'booleans 1-5|1-5, booleans 7-11|7-11'],
    [
      '[1.0, 1e3, 12345678901234567890]',
      '[1, 1000, 12345678901234567000]',
      'numbers 1-4|1-2, numbers 6-9|4-8, numbers 11-31|10-30',
    ],
    ['"\\u00e9"', '"é"', 'other value'],
    ['["\\u00e9\\x41\\/\\n"]', '["éA/\n"]', 'escapes 1-17|1-7'],
    ['{"\\u0061": 1, "b": 2}', '{"b": 2, "a": 1}', 'key-order 0-21|0-16, escapes 1-9|9-12'],
    ['<a>\n1.0\n</a>', '<a>1</a>', 'spacing 3-4|3-3, numbers 4-7|3-4, spacing 7-8|4-4'],
    ['<a>True</a>', '<a>true</a>', 'booleans 3-7|3-7'],
    ['<f>x y</f>{}', '<f> x y</f> {}', 'spacing 3-3|3-4, spacing 10-10|11-12'],
    [
      'f(a=1, b=True)',
      'f(b = true, a = 1.0)',
      'key-order 1-14|1-20, spacing 3-4|13-16, numbers 4-5|16-19, spacing 8-9|3-6, booleans 9-13|6-10',
    ],
    [`f(a="x")`, `f(a='x' )`, 'spacing 7-7|7-8, quotes 4-7|4-7'],
    ['f(a={"b": [1]})', 'f({"a":{"b": [1]}})', 'other value'],
    ['(a=1, b={"c": 2})', '{"b": {"c": 2.0}, "a": 1}', 'numbers 14-15|12-15'],
    ['f()', 'f( )', 'spacing 2-2|2-3'],
  ])('finds how %s and %s differ', (left, right, expected) => {
    expect(differences(left, right)).toBe(expected)
  })

  test.each([
    ['{"a": 1}', '{"a": 2}'],
    ['{"a": 1}', '{"a": "1"}'],
    ['{"a": "x"}', '{"a": "y"}'],
    ['{"a": 1, "b": 2}', '{"b": 2, "c": 1}'],
    ['{"a": 1}', '{"a": 1, "b": 2}'],
    ['{"a": 1, "a": 1}', '{"b": 2, "a": 1}'],
    ['[1]', '[1, 2]'],
    ['f(a=1)', 'f(a=2)'],
    ['f(a=1)', 'g(a=1)'],
    ['f(a=1)', 'f(a=1, b=2)'],
    ['(a=1)', '{"a": 1, "b": 2}'],
    ['(a=1)', '{"b": 1}'],
    ['(a=1, a=1)', '{"a": 1}'],
    ['[]', '{}'],
    ['[true]', '[1]'],
    ['[true]', '["true"]'],
    ['<a>x y</a>', '<a>x  y</a>'],
    ['x', 'y'],
  ])('reports different values for %s and %s', (left, right) => {
    expect(differences(left, right)).toBe('other value')
  })

  test.each([
    '{"a" 1}',
    'f(1)',
    'f(a=1, 2)',
    'f(a=x)',
    'f(a==1)',
    'f(a=1',
    '{"a": }',
    '[1 2]',
    '{1: 2}',
    '["a]',
    '{"a": [}',
    '['.repeat(200) + ']'.repeat(200),
    '{"a": 1',
  ])('treats invalid JSON as text: %s', (text) => {
    expect(differences(text, text)).toBe('')
    expect(differences(text, `${text}x`)).toBe('other value')
  })

  test('takes little time for many empty brackets', () => {
    const text = `${'{'.repeat(20_000)}{"a": 1}`
    expect(differences(text, text)).toBe('')
  })
})

test('recognises one value in two serialisations, also with reordered members', () => {
  const reversed = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(reversed)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .toReversed()
              .map(([key, item]) => [key, reversed(item)]),
          )
        : value
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const input = { value }
      const spaced = writingDifferences(callNodes(JSON.stringify(input)), callNodes(JSON.stringify(input, null, 2)))
      expect(new Set(spaced?.map(({ writing }) => writing))).toEqual(new Set(['spacing']))
      const turned = writingDifferences(callNodes(JSON.stringify(input)), callNodes(JSON.stringify(reversed(input))))
      expect(turned?.every(({ writing }) => writing === 'key-order')).toBe(true)
    }),
  )
})

test('reports different values', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [left, right] = [JSON.stringify({ value: one }), JSON.stringify({ value: other })]
      fc.pre(left !== right && Object.is(JSON.stringify(one), JSON.stringify(other)) === false)
      const isSame = writingDifferences(callNodes(left), callNodes(right)) !== undefined
      expect(isSame).toBe(isEqual(JSON.parse(left), JSON.parse(right)))
    }),
  )
})

function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [ours, theirs] = [Object.entries(a), new Map(Object.entries(b))]
  return ours.length === theirs.size && ours.every(([key, value]) => theirs.has(key) && isEqual(value, theirs.get(key)))
}
