import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromJs, JsonError, type JsonOptions, readJson, toJson } from './json.ts'
import { equals, repr } from './operators.ts'
import { testRuntime } from './test-runtime.ts'
import { PyDict, PyFloat } from './values.ts'

const plain: JsonOptions = { ensureAscii: false, indent: undefined, separators: undefined, sortKeys: false }
const written = (text: string, options: Partial<JsonOptions> = {}): string =>
  toJson(readJson(text), { ...plain, ...options }, testRuntime)

/** JSON.parse makes -0 of "-0", where Python has the int 0. */
const anyJson = fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

describe('JSON is read and written without loss', () => {
  test('what JavaScript reads of our text is what it read of its own', () => {
    fc.assert(
      fc.property(anyJson, fc.boolean(), fc.constantFrom(undefined, 0, 2, '\t'), (value, ensureAscii, indent) => {
        expect(JSON.parse(written(JSON.stringify(value), { ensureAscii, indent }))).toEqual(value)
      }),
    )
  })

  test('a space before or behind every sign changes nothing', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const spaced = JSON.stringify(value, null, 3)
        expect(equals(readJson(spaced), readJson(JSON.stringify(value)), testRuntime)).toBe(true)
      }),
    )
  })

  test('1.0 stays a float, ints are of any size, keys that look like numbers keep their place', () => {
    const text = '{"10": 1.0, "2": 12345678901234567890, "b": 1e+16, "a": -0.0}'
    expect(written(text)).toBe(text)
  })

  test('half a character is kept', () => {
    expect(written('"\\ud83d x"')).toBe('"\ud83d x"')
    expect(written('"\\ud83d x"', { ensureAscii: true })).toBe('"\\ud83d x"')
  })

  test('a list in a list in a list … is an error, not a crash', () => {
    expect(() => readJson('['.repeat(100_000) + ']'.repeat(100_000))).toThrow(JsonError)
    expect(() => readJson('{"a":'.repeat(100_000))).toThrow(JsonError)
  })

  test('every beginning of a JSON text is refused with a place within it', () => {
    fc.assert(
      fc.property(anyJson, fc.nat(), (value, cut) => {
        const text = `[${JSON.stringify(value)}]`
        const part = text.slice(0, cut % text.length)
        expect(() => readJson(part)).toThrow(JsonError)
        try {
          readJson(part)
        } catch (error) {
          expect((error as JsonError).column).toBeLessThanOrEqual([...part].length + 1)
        }
      }),
    )
  })
})

describe('JavaScript data as values', () => {
  test('is what its JSON is', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const given = fromJs(value)
        expect(repr(given, testRuntime)).toBe(repr(readJson(JSON.stringify(value)), testRuntime))
      }),
    )
  })

  test('leaves members out that are undefined, and values as they are', () => {
    const one = new PyFloat(1)
    expect(fromJs({ a: undefined, b: one })).toEqual(PyDict.of([['b', one]]))
  })

  test('is as it is now, also where the same list was longer or shorter before', () => {
    const messages = [{ role: 'user', content: 'hi' }]
    expect(repr(fromJs(messages), testRuntime)).toBe("[{'role': 'user', 'content': 'hi'}]")
    messages.push({ role: 'user', content: 'again' })
    expect(repr(fromJs(messages), testRuntime)).toContain('again')
  })
})
