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
  if ('error' in found) return found.error
  return found.records.map(({ start, end, line, item, failure }) => {
    const content = failure?.error.found ?? new TextDecoder().decode(bytes.subarray(start, end)).trim()
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
  [
    'Values of several lines may follow each other',
    '\n{\n"a": 1\n}\n{\n"b": {}}\n[\n1, {}\n][\n2]{"c":3}',
    ['2 {\n"a": 1\n}', '5 {\n"b": {}}', '7 0 1', '7 1 {}', '9 0 2', '10 {"c":3}'],
  ],
  ['Values of a line may follow each other', '{"a":"}{"}{"b":1} [2]\n3', ['1 {"a":"}{"}', '1 {"b":1}', '1 0 2', '2 3']],
  [
    'Values between which anything else is are one record',
    '{"a":1};{"b":1} x {"c":1}\n3',
    ['1 {"a":1};{"b":1} x {"c":1}', '2 3'],
  ],
  [
    'Commas may follow values of several lines',
    '{"a":1},{"b":\n1},\n{"c":"},"}, [2], [3] ,\n',
    ['1 {"a":1}', '1 {"b":\n1}', '3 {"c":"},"}', '3 0 2', '3 0 3'],
  ],
  [
    'A line that is cut costs itself also after a comma',
    '{"a":1},\n{"b":\n{"c":2},',
    ['1 {"a":1}', '2 {"b":', '3 {"c":2}'],
  ],
  [
    'A record separator begins a value, which may span several lines',
    '\x1E{\n"a": 1\n}\n\x1E{"b": "x\n\x1E[{"c":\n2}]\n',
    ['1 {\n"a": 1\n}', '4 {"b": "x', '5 0 {"c":\n2}'],
  ],
  ['Text that is no JSON is left to the parser', 'a,}\n]b', ['1 a,}', '2 ]b']],
])('%s', (_what, text, records) => {
  expect(foundIn(text)).toEqual(records)
})

test.each<[string, string, readonly string[]]>([
  ['A list without its end', '[1,2', ['0 1', '1 a list that has no end (byte 5)']],
  ['A list without its end in a line', '1\n[1\n2', ['1 1', '2 0 a list that has no end (byte 5)', '3 2']],
  ['A list that ends as an object', '[1}\n2', ['1 0 a list that ends with } (byte 3)', '2 2']],
  ['A list with two commas', '[1,,2]', ['0 1', '1 a list with an element missing (byte 4)', '2 2']],
  ['A list with a comma at its end', '[1,]', ['0 1', '1 a list with an element missing (byte 4)']],
  [
    'A list that is only a comma',
    '[,]',
    ['0 a list with an element missing (byte 2)', '1 a list with an element missing (byte 3)'],
  ],
  ['More after a list', '[1] 2 "3', ['0 1', '1 more after the end of its list (byte 5)']],
  ['More after a list in a line', '[1] ;[\n2', ['1 0 1', '1 1 more after the end of its list (byte 5)', '2 2']],
])('%s costs one record, and those beside it are found', (_what, text, records) => {
  expect(foundIn(text)).toEqual(records)
})

test('createRecordFinder takes each line as a value on request, also if the first line is broken', () => {
  const text = new TextEncoder().encode('{"a": [1\n{"a": 2}\n')
  const spread = createRecordFinder(LIMITS)
  spread.push(text)
  expect(spread.end()).toMatchObject({ isSpread: true, isLines: false, records: [{ start: 0, end: 18 }] })
  const lines = createRecordFinder(LIMITS, true)
  lines.push(text)
  expect(lines.end()).toMatchObject({ isSpread: false, isLines: true, records: [{ end: 8 }, { start: 9, end: 17 }] })
})

describe('createRecordFinder', () => {
  test.each<[string, string, object]>([
    ['with too many elements', '[1,2,3,4,', { expected: 'at most 3 trajectories', found: 'more' }],
    ['with too many lines', '1\n2\n3\n4\n', { expected: 'at most 3 trajectories', found: 'more' }],
  ])('%s is refused before it is parsed', (_what, text, wrong) => {
    expect(foundIn(text, SMALL)).toEqual({ path: '', ...wrong })
  })

  test.each<[string, string, readonly string[]]>([
    ['A long line', `1\n"${'x'.repeat(40)}"\n3`, ['1 1', '2 a longer record', '3 3']],
    ['A long element that has no end', `[1,"${'x'.repeat(40)}`, ['0 1', '1 a longer record']],
    ['A long list', '{"a": [1,2,3,4,5,6]}\n2', ['1 more', '2 2']],
    ['Deep nesting', '1\n{"a":[[[[[[1]]]]\n3', ['1 1', '2 it is nested deeper than 4 levels (byte 11)', '3 3']],
    ['Deep nesting in a list', '[[[[[[[1]]]]]], 2]', ['0 it is nested deeper than 4 levels (byte 5)', '1 2']],
  ])('%s costs its record before it is parsed, and those beside it are found', (_what, text, records) => {
    expect(foundIn(text, SMALL)).toEqual(records)
  })

  test('accepts a file exactly at the limits', () => {
    expect(foundIn('[{"a":[[1]]},[1,2,3,4,5],3]', SMALL)).toHaveLength(3)
    expect(foundIn(`"${'x'.repeat(38)}"`, SMALL)).toHaveLength(1)
  })

  test('reports a broken limit before the rest of the file is read', () => {
    const finder = createRecordFinder(SMALL)
    finder.push(new TextEncoder().encode('[1,1,1,'))
    expect(finder.isBroken()).toBe(false)
    finder.push(new TextEncoder().encode('1,'))
    expect(finder.isBroken()).toBe(true)
  })
})

const LONG = ` ${'1234567, '.repeat(10_000)}8`
test.each<[string, string, readonly (readonly [start: number, end: number])[]]>([
  ['of an object', `{"a": [${LONG}], "b": [1]}`, [[6, LONG.length + 8]]],
  ['between texts with brackets', `{"a[\\"": [${LONG}], "]": 1}`, [[9, LONG.length + 11]]],
  ['in a list of lists, each of which is a record', `[[1], [${LONG}]]`, [[1, LONG.length + 3]]],
  ['that are elements of a record', `[{"a": [[${LONG}], [1]]}]`, [[7, LONG.length + 9]]],
  ['after a list with texts', `{"a": [${LONG}, "x"], "b": [${LONG}]}`, [[LONG.length + 20, 2 * LONG.length + 22]]],
  ['but not the file itself, whose elements are records', '[1, 2]', []],
  ['but none with an object', `{"a": [${LONG}, {}]}`, []],
  ['but none with a list', `{"a": [${LONG}, []]}`, []],
  ['but none that ends as an object', `{"a": [${LONG}}`, []],
])('createRecordFinder finds the long lists of numbers %s', (_what, text, ranges) => {
  const finder = createRecordFinder(LIMITS)
  finder.push(new TextEncoder().encode(text))
  const found = finder.end()
  const lists = 'error' in found ? [] : found.records.flatMap(({ longLists }) => longLists)
  expect(lists.map(({ start, end }) => [start, end])).toEqual(ranges)
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
