import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import { createRecordFinder } from './record-finder.ts'

const SMALL: Limits = { ...LIMITS, records: 3, recordBytes: 40, entries: 5, depth: 4 }

/** Returns the texts of the records with the line and the position in the list, or the problem. */
function foundIn(text: string, limits = LIMITS, chunks: readonly number[] = []) {
  const bytes = new TextEncoder().encode(text)
  const finder = createRecordFinder(limits)
  let at = 0
  for (const length of [...chunks, bytes.length]) {
    finder.push(bytes.subarray(at, at + length))
    at += length
  }
  const found = finder.end()
  if ('error' in found) return { ...found.error, ...found.place }
  return found.records.map(({ start, end, line, item }) => {
    const content = new TextDecoder().decode(bytes.subarray(start, end)).trim()
    return [found.isLines ? line : undefined, item, content].filter((part) => part !== undefined).join(' ')
  })
}

test.each<[string, string, readonly string[]]>([
  ['A file that is one value has one record', '{"a": [1, 2]}\n', ['{"a": [1, 2]}']],
  ['A value may span several lines', '{\n"a":\n1}\n', ['{\n"a":\n1}']],
  ['Each line of JSON lines is a record', '{"a":1}\r\n\n {"b":"]"}', ['1 {"a":1}', '3 {"b":"]"}']],
  ['Each element of a list is a record', ' [{"a":[1,2]}\n, 7,"x,]\\"" ]\n', ['0 {"a":[1,2]}', '1 7', '2 "x,]\\""']],
  ['Each element of lists in lines is a record', '[1]\n[2,{"a":{}}]', ['1 0 1', '2 0 2', '2 1 {"a":{}}']],
  ['A list inside of a list is one record', '[[1,2],[]]', ['0 [1,2]', '1 []']],
  ['An empty list has no record', '[ \n]', []],
  ['A file of spaces has no record', ' \n\t', []],
  ['A byte order mark belongs to no record', '\uFEFF[1]', ['0 1']],
  [
    'A line that is cut is a record of its own, and the next begins anew',
    '1\n{"a":["x\n{"b":2}',
    ['1 1', '2 {"a":["x', '3 {"b":2}'],
  ],
  ['Text that is no JSON is left to the parser', 'a,}\n]b', ['1 a,}', '2 ]b']],
])('%s', (_what, text, records) => {
  expect(foundIn(text)).toEqual(records)
})

test.each<[string, string, object]>([
  ['A list without its end', '[1,2', { found: 'a list that has no end (byte 5)' }],
  ['A list without its end in a line', '1\n[1\n2', { line: 2, found: 'a list that has no end (byte 5)' }],
  ['A list that ends as an object', '[1}', { found: 'a list that ends with } (byte 3)' }],
  ['A list with two commas', '[1,,2]', { found: 'a list with an element missing (byte 4)' }],
  ['A list with a comma at its end', '[1,]', { found: 'a list with an element missing (byte 4)' }],
  ['More after a list', '[1] 2', { found: 'more after the end of its list (byte 5)' }],
])('%s is no JSON', (_what, text, wrong) => {
  expect(foundIn(text)).toEqual({ path: '', expected: 'JSON', ...wrong })
})

describe('createRecordFinder', () => {
  test.each<[string, string, object]>([
    ['with too many elements', '[1,2,3,4,', { expected: 'at most 3 trajectories', found: 'more' }],
    ['with too many lines', '1\n2\n3\n4\n', { expected: 'at most 3 trajectories', found: 'more' }],
    [
      'with a long line',
      `1\n"${'x'.repeat(40)}"\n3`,
      { line: 2, expected: 'a record of at most 40 bytes', found: 'a longer record' },
    ],
    [
      'with a long element that has no end',
      `[1,"${'x'.repeat(40)}`,
      { path: '[1]', expected: 'a record of at most 40 bytes', found: 'a longer record' },
    ],
    ['with a long list', '{"a": [1,2,3,4,5,6', { expected: 'at most 5 entries in a list or an object', found: 'more' }],
    [
      'nested too deep in a line',
      '1\n{"a":[[[[',
      { line: 2, expected: 'JSON', found: 'it is nested deeper than 4 levels (byte 11)' },
    ],
  ])('%s is refused before it is parsed', (_what, text, wrong) => {
    expect(foundIn(text, SMALL)).toEqual({ path: '', ...wrong })
  })

  test('accepts a file exactly at the limits', () => {
    expect(foundIn('[{"a":[[1]]},[1,2,3,4,5],3]', SMALL)).toHaveLength(3)
    expect(foundIn(`"${'x'.repeat(38)}"`, SMALL)).toHaveLength(1)
  })

  test('reports a broken limit before the rest of the file is read', () => {
    const finder = createRecordFinder(SMALL)
    finder.push(new TextEncoder().encode('[1,1,1,'))
    expect(finder.broken()).toBeUndefined()
    finder.push(new TextEncoder().encode('1,'))
    expect(finder.broken()).toMatchObject({ error: { found: 'more' } })
  })
})

test('createRecordFinder finds the elements of any list, for any division into chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 1), fc.array(fc.nat(9)), (values, indent, chunks) => {
      const records = foundIn(JSON.stringify(values, null, indent), LIMITS, chunks) as string[]
      expect(records.map((text) => JSON.parse(text.replace(/^\d+ /, '')))).toEqual(values)
    }),
  )
})

test('createRecordFinder finds the lines of any JSON lines, for any division into chunks', () => {
  const line = fc.jsonValue().filter((value) => !Array.isArray(value))
  fc.assert(
    fc.property(fc.array(line, { minLength: 2 }), fc.array(fc.nat(9)), (values, chunks) => {
      const text = values.map((value) => JSON.stringify(value)).join('\n')
      const records = foundIn(text, LIMITS, chunks) as string[]
      expect(records).toEqual(values.map((value, index) => `${index + 1} ${JSON.stringify(value)}`))
    }),
  )
})
