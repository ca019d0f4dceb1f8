import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonError } from '#lib/json/json-reader.ts'
import { fromJs, type JsonOptions, readJson, toJson } from './json.ts'
import { equals, repr } from './operators.ts'
import { testRuntime } from './test-runtime.ts'
import { PyDict, PyFloat } from './values.ts'

const plain: JsonOptions = { ensureAscii: false, indent: undefined, separators: undefined, sortKeys: false }
const written = (text: string, options: Partial<JsonOptions> = {}): string =>
  toJson(readJson(text), { ...plain, ...options }, testRuntime)

/** Any JSON value. The detour over its text turns -0 into 0, because Python reads "-0" as the int 0. */
const anyJson = fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

describe('JSON of templates', () => {
  test('is written so that JavaScript reads the same value', () => {
    fc.assert(
      fc.property(anyJson, fc.boolean(), fc.constantFrom(undefined, 0, 2, '\t'), (value, ensureAscii, indent) => {
        expect(JSON.parse(written(JSON.stringify(value), { ensureAscii, indent }))).toEqual(value)
      }),
    )
  })

  test('is read the same with space around every sign', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const spaced = JSON.stringify(value, null, 3)
        expect(equals(readJson(spaced), readJson(JSON.stringify(value)), testRuntime)).toBe(true)
      }),
    )
  })

  test('keeps floats, ints of any size and the order of keys that look like numbers', () => {
    const text = '{"10": 1.0, "2": 12345678901234567890, "b": 1e+16, "a": -0.0}'
    expect(written(text)).toBe(text)
  })

  test('keeps a lone surrogate', () => {
    expect(written('"\\ud83d x"')).toBe('"\ud83d x"')
    expect(written('"\\ud83d x"', { ensureAscii: true })).toBe('"\\ud83d x"')
  })

  test('throws JsonError for 100,000 nested lists', () => {
    expect(() => readJson('['.repeat(100_000) + ']'.repeat(100_000))).toThrow(JsonError)
    expect(() => readJson('{"a":'.repeat(100_000))).toThrow(JsonError)
  })

  test('throws JsonError with a position within the text for every incomplete text', () => {
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

describe('JavaScript data as template values', () => {
  test('equals the value of its JSON', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const given = fromJs(value)
        expect(repr(given, testRuntime)).toBe(repr(readJson(JSON.stringify(value)), testRuntime))
      }),
    )
  })

  test('omits undefined members and leaves values unchanged', () => {
    const one = new PyFloat(1)
    expect(fromJs({ a: undefined, b: one })).toEqual(PyDict.of([['b', one]]))
  })

  test('is converted again after its lists have changed', () => {
    const messages = [{ role: 'user', content: 'hi' }]
    expect(repr(fromJs(messages), testRuntime)).toBe("[{'role': 'user', 'content': 'hi'}]")
    messages.push({ role: 'user', content: 'again' })
    expect(repr(fromJs(messages), testRuntime)).toContain('again')
  })
})
