import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonPath } from './json-path.ts'
import {
  type JsonNode,
  nodeAt,
  readJsonText,
  sourceAtMargin,
  sourceOf,
  withInserted,
  withoutValue,
  withSwapped,
  withValue,
} from './json-text.ts'

/** Returns the value as JSON.parse would. */
function plain(text: string, node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plain(text, value)]))
    case 'array':
      return node.items.map((item) => plain(text, item))
    case 'string':
      return node.value
    case 'plain':
      return JSON.parse(sourceOf(text, node))
  }
}

const read = (text: string): JsonNode => {
  const reading = readJsonText(text)
  if (!reading.ok) throw new Error(`${text}: ${reading.problem.message}`)
  return reading.root
}
const problem = (text: string): string => {
  const reading = readJsonText(text)
  return reading.ok ? 'none' : `${reading.problem.message} ${reading.problem.line}:${reading.problem.column}`
}

const value = fc.jsonValue({ maxDepth: 4 })
const key = fc.string({ maxLength: 4 }).filter((name) => name !== '__proto__')
const written = fc.tuple(fc.array(fc.dictionary(key, value), { minLength: 1 }), fc.constantFrom(0, 1, 2, 4, '\t'))

describe('readJsonText', () => {
  test('reads the same as JSON.parse', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (any, indent) => {
        const text = JSON.stringify(any, undefined, indent)
        expect(JSON.stringify(plain(text, read(text)))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  test('refuses the same as JSON.parse, except NaN and Infinity', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.constantFrom('', ',', '"', '\\', '}', '0', ' ', '\n', 'x'), (any, at, sign) => {
        const whole = JSON.stringify(any)
        const place = at % (whole.length + 1)
        const text = whole.slice(0, place) + sign + whole.slice(place + 1)
        const isJson = (() => {
          try {
            JSON.parse(text)
            return true
          } catch {
            return false
          }
        })()
        expect(readJsonText(text).ok).toBe(isJson)
      }),
    )
  })

  test.each([
    ['', 'Expecting value 1:1'],
    ['[1,\n 2 3]', "Expecting ',' delimiter 2:4"],
    ['{"a" 1}', "Expecting ':' delimiter 1:6"],
    ['{a: 1}', 'Expecting property name enclosed in double quotes 1:2'],
    ['{"a": 1,}', 'Illegal trailing comma before end of object 1:8'],
    ['[1,]', 'Illegal trailing comma before end of array 1:3'],
    ['"ab', 'Unterminated string starting at 1:1'],
    ['"a\nb"', 'Invalid control character at 1:3'],
    ['"a\\x"', 'Invalid \\escape 1:3'],
    ['"\\u12"', 'Invalid \\uXXXX escape 1:3'],
    ['[1] 2', 'Extra data 1:5'],
    ['[NaN, Infinity, -Infinity]', 'none'],
    ['['.repeat(100_000), 'Nested too deeply 1:202'],
  ])('reports the error of %j: %s', (text, expected) => {
    expect(problem(text)).toBe(expected)
  })

  test('reads a string of megabytes without recursion', () => {
    const long = JSON.stringify('a\\"é'.repeat(500_000))
    expect(read(long)).toMatchObject({ kind: 'string', end: long.length })
  })
})

describe('a JSON text edit', () => {
  test('replaces the value at a path and nothing else', () => {
    const text = '[{"n": 1.0, "big": 1e3,\n   "a": {"b": 12345678901234567890}}, {"n": -0.0}]'
    expect(withValue(text, [0, 'a', 'b'], '"x"')).toBe('[{"n": 1.0, "big": 1e3,\n   "a": {"b": "x"}}, {"n": -0.0}]')
    expect(withValue(text, [1, 'm'], '2')).toBe(
      '[{"n": 1.0, "big": 1e3,\n   "a": {"b": 12345678901234567890}}, {"n": -0.0, "m": 2}]',
    )
    expect(withSwapped(text, [], 0, 1)).toBe(
      '[{"n": -0.0}, {"n": 1.0, "big": 1e3,\n   "a": {"b": 12345678901234567890}}]',
    )
  })

  test('formats new text like its neighbours', () => {
    expect(withValue('{\n  "a": 1\n}', ['b'], '2')).toBe('{\n  "a": 1,\n  "b": 2\n}')
    expect(withValue('{}', ['b'], '2')).toBe('{\n  "b": 2\n}')
    expect(withInserted('[\n  1,\n  2\n]', [1], '{\n  "x": 3\n}')).toBe('[\n  1,\n  {\n    "x": 3\n  },\n  2\n]')
    expect(withInserted('[1, 2]', [0], '0')).toBe('[0, 1, 2]')
    expect(withoutValue('[1, 2]', [1])).toBe('[1]')
    expect(withoutValue('{"a": 1}', ['a'])).toBe('{}')
  })

  test('returns a source of several lines at the left margin and indents it again when it is inserted', () => {
    const text = '[\n  {\n    "a": {\n      "b": [\n        1\n      ]\n    }\n  }\n]'
    const source = sourceAtMargin(text, nodeAt(read(text), [0, 'a']) as JsonNode)
    expect(source).toBe('{\n  "b": [\n    1\n  ]\n}')
    expect(withValue(text, [0, 'a'], source)).toBe(text)
  })

  /** Returns every position of a value, from the root. */
  const paths = (node: JsonNode, path: JsonPath = []): readonly JsonPath[] => [
    path,
    ...(node.kind === 'array' ? node.items.flatMap((item, i) => paths(item, [...path, i])) : []),
    ...(node.kind === 'object' ? node.members.flatMap(({ key, value }) => paths(value, [...path, key])) : []),
  ]

  test('sets the new value and keeps the spelling of all others', () => {
    fc.assert(
      fc.property(written, value, fc.nat(), ([any, indent], other, pick) => {
        const text = JSON.stringify(any, undefined, indent)
        const all = paths(read(text))
        const path = all[pick % all.length] as JsonPath
        const changed = withValue(text, path, JSON.stringify(other))
        const node = nodeAt(read(text), path) as JsonNode
        expect(JSON.stringify(plain(changed, nodeAt(read(changed), path) as JsonNode))).toBe(JSON.stringify(other))
        expect(changed.startsWith(text.slice(0, node.start))).toBe(true)
        expect(changed.endsWith(text.slice(node.end))).toBe(true)
      }),
    )
  })

  test('restores the list when an inserted value is removed', () => {
    fc.assert(
      fc.property(written, value, fc.nat(), ([any, indent], other, pick) => {
        const text = JSON.stringify(any, undefined, indent)
        const at = pick % (any.length + 1)
        const longer = withInserted(text, [at], JSON.stringify(other, undefined, indent))
        expect(JSON.parse(longer)).toEqual(JSON.parse(JSON.stringify(any.toSpliced(at, 0, other as never))))
        expect(JSON.parse(withoutValue(longer, [at]))).toEqual(JSON.parse(text))
      }),
    )
  })
})
