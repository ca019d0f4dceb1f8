import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineOfPath, parseWrittenJson } from './json-lines.ts'

test.each([
  ['{\n  "a": 1,\n  "b" 2\n}', 'line 3: "2" where ":" is expected'],
  ['{\n  "a": 1,\n}', 'line 3: "}" where a member name in double quotes is expected'],
  ['', 'line 1: the text ends where a JSON value is expected'],
  ['{"a": 1}\n\nx', 'line 3: unexpected text after the JSON value'],
  ['{\n"a": "open', 'line 2: the text ends inside a string'],
])('parseWrittenJson names the line and the reason of an error: %j', (text, expected) => {
  const json = parseWrittenJson(text)
  expect(json.ok ? 'read' : json.error).toContain(expected)
})

test('parseWrittenJson parses valid JSON', () => {
  expect(parseWrittenJson(' {"a": [1, null]}\n')).toEqual({ ok: true, value: { a: [1, null] } })
})

test.each<[(string | number)[], number]>([
  [[], 1],
  [['a'], 2],
  [['b', 0], 4],
  [['b', 1, 'c'], 6],
  [['b', 1, 'a'], 7],
  [['e "x"', 'a'], 11],
])('lineOfPath finds the path %j in line %d', (path, line) => {
  const text = [
    '{',
    '  "a": "b",',
    '  "b": [',
    '    {"a": [], "x": {}},',
    '    {',
    '      "c": [1, "}"],',
    '      "a": 1',
    '    }',
    '  ],',
    '  "e \\"x\\"": {',
    '    "a": null',
    '  }',
    '}',
  ].join('\n')
  expect(lineOfPath(text, path)).toBe(line)
})

test('lineOfPath finds the line of every member of any JSON object', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as object
      const text = JSON.stringify(plain, null, 1)
      for (const key of Object.keys(plain)) {
        const line = text.split('\n')[lineOfPath(text, [key]) - 1]
        expect(line?.startsWith(` ${JSON.stringify(key)}: `)).toBe(true)
      }
    }),
  )
})
