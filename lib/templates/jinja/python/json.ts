/** Reads and writes JSON as Python's json module does. */

import { JsonError, readJsonAs } from '#lib/json/json-reader.ts'
import { unicodeEscape } from '#lib/json/unicode-escape.ts'
import { writtenNumber } from '#lib/json/written-json.ts'
import { stringOf } from './markup.ts'
import { asInt, floatRepr, intText, readInt } from './numbers.ts'
import { sortBy } from './sorting.ts'
import { MAX_VALUE_DEPTH, typeName } from './text/repr.ts'
import { PyDict, PyError, PyFloat, PyObject, PyTuple, type Runtime, Undefined, type Value } from './values.ts'

/** Reads JSON as json.loads does: 1 is an int of any size, 1.0 a float, and the last of equal keys wins. Throws JsonError. */
export function readJson(text: string): Value {
  if (text.startsWith('\ufeff')) throw new JsonError('Unexpected UTF-8 BOM (decode using utf-8-sig)', text, 0)
  return readJsonAs<Value>(text, {
    string: (value) => value,
    // Of plain values only numbers end with a digit.
    plain: (source, start) =>
      source.charCodeAt(source.length - 1) <= NINE ? number(source, text, start) : (WORDS.get(source) ?? null),
    array: (items) => items,
    object: (members) => {
      const dict = new PyDict()
      for (const { key, value } of members) dict.set(key, value)
      return dict
    },
    depth: MAX_VALUE_DEPTH,
    tooDeep: 'More than 960 levels deep',
    namesTrailingCommas: false,
  })
}

const NINE = 0x39

/** Values of the words; null is not among them. */
const WORDS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['true', true],
  ['false', false],
  ['NaN', new PyFloat(Number.NaN)],
  ['Infinity', new PyFloat(Number.POSITIVE_INFINITY)],
  ['-Infinity', new PyFloat(Number.NEGATIVE_INFINITY)],
])

function number(source: string, text: string, at: number): Value {
  if (/[.eE]/.test(source)) return new PyFloat(Number(source))
  if (source.length < 16) return Number(source) + 0
  try {
    return readInt(source, 10) ?? asInt(BigInt(source))
  } catch (error) {
    if (error instanceof PyError) throw new JsonError(error.message, text, at)
    throw error
  }
}

/** Characters that must be escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const SPECIAL = /["\\\0-\x1f]/g

/**
 * Converts plain JavaScript data to a value: whole numbers become ints, undefined members are omitted, values remain unchanged. Data is
 * converted anew each time: 10,000 tokens of messages take 0.04 ms, and remembering each object would take ten times that. Throws TypeError
 * for functions and symbols, RangeError beyond 960 levels.
 */
export function fromJs(value: unknown): Value {
  return convertJson(value, 0)
}

function convertJson(value: unknown, depth: number): Value {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : floatOrWhole(value)
  if (typeof value === 'bigint') return asInt(value)
  if (typeof value !== 'object') throw new TypeError(`a template cannot take a ${typeof value}`)
  if (isValue(value)) return value
  const number = writtenNumber(value)
  if (number !== undefined) return readJson(number)
  if (depth > MAX_VALUE_DEPTH) throw new RangeError('more than 960 levels deep')
  return Array.isArray(value)
    ? value.map((item) => convertJson(item, depth + 1))
    : dictOfMembers(value as Readonly<Record<string, unknown>>, depth)
}

function dictOfMembers(object: Readonly<Record<string, unknown>>, depth: number): PyDict {
  const dict = new PyDict()
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value !== undefined) dict.set(key, convertJson(value, depth + 1))
  }
  return dict
}

/** Returns a float for a number that JSON writes with a point or an exponent, else the int with the digits that JSON writes. */
const floatOrWhole = (value: number): Value =>
  Number.isInteger(value) && Math.abs(value) < 1e21 && !Object.is(value, -0)
    ? asInt(BigInt(String(value)))
    : new PyFloat(value)

const isValue = (value: object): value is PyFloat | PyTuple | PyDict | Undefined | PyObject =>
  value instanceof PyFloat ||
  value instanceof PyTuple ||
  value instanceof PyDict ||
  value instanceof Undefined ||
  value instanceof PyObject

/** Returns JSON that readJson reads to the same value. It is used outside of renders, so that it is not metered. */
export function writeJson(value: Value): string {
  if (typeof value === 'string') return quoteText(value)
  if (Array.isArray(value)) return `[${value.map(writeJson).join(', ')}]`
  if (value instanceof PyDict) {
    const members = Array.from(value.entries(), ([key, item]) => `${quoteText(String(key))}: ${writeJson(item)}`)
    return `{${members.join(', ')}}`
  }
  return value instanceof PyFloat ? floatText(value.value) : String(value)
}

/** Options of json.dumps. */
export interface JsonOptions {
  readonly ensureAscii: boolean
  /** Number of spaces, or the text, that indents one level; undefined writes one line. */
  readonly indent: number | string | undefined
  /** Text between items, and between key and value; undefined for the defaults of json.dumps. */
  readonly separators: readonly [string, string] | undefined
  readonly sortKeys: boolean
}

/** Returns JSON as json.dumps does. Throws PyError (TypeError) for a value that JSON cannot express. */
export function toJson(value: Value, options: JsonOptions, runtime: Runtime): string {
  const { indent, separators } = options
  if (typeof indent === 'number' && indent > 0) runtime.allocate(indent)
  const [item, key] = separators ?? [indent === undefined ? ', ' : ',', ': ']
  const layout: Layout = {
    item,
    key,
    indent: typeof indent === 'number' ? ' '.repeat(Math.max(0, indent)) : indent,
    sortKeys: options.sortKeys,
    quote: options.ensureAscii ? quotedAscii : quoteText,
  }
  return writeValue(value, layout, '\n', 0, runtime)
}

interface Layout {
  readonly item: string
  readonly key: string
  /** Text that indents one level; undefined writes one line. */
  readonly indent: string | undefined
  readonly sortKeys: boolean
  readonly quote: (text: string) => string
}

/** Returns the JSON of one value; `margin` begins the lines of the value around it. */
function writeValue(value: Value, layout: Layout, margin: string, depth: number, runtime: Runtime): string {
  runtime.step()
  const text = stringOf(value)
  if (text !== undefined) {
    runtime.allocate(text.length)
    return layout.quote(text)
  }
  if (value === null) return 'null'
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number' || typeof value === 'bigint') return intText(value)
  if (value instanceof PyFloat) return floatText(value.value)
  if (depth > MAX_VALUE_DEPTH) {
    throw new PyError('RecursionError', 'maximum recursion depth exceeded while encoding a JSON object')
  }
  if (layout.indent !== undefined) runtime.allocate(margin.length + layout.indent.length)
  const inner = layout.indent === undefined ? '' : margin + layout.indent
  const outer = layout.indent === undefined ? '' : margin
  const closed = (inside: string, open: string, close: string): string => {
    const result = inside === '' ? open + close : open + inner + inside + outer + close
    runtime.allocate(result.length)
    return result
  }
  const between = layout.item + inner
  /** Charges the text between entries before it is written, because lines can be indented by millions. */
  const separate = (): string => {
    runtime.allocate(between.length)
    return between
  }
  if (value instanceof PyDict) {
    let inside = ''
    for (const [key, item] of layout.sortKeys ? sortedEntries(value, runtime) : value.entries()) {
      if (inside !== '') inside += separate()
      inside += layout.quote(keyText(key)) + layout.key + writeValue(item, layout, inner, depth + 1, runtime)
    }
    return closed(inside, '{', '}')
  }
  const items = value instanceof PyTuple ? value.items : value
  if (Array.isArray(items)) {
    let inside = ''
    for (const item of items as readonly Value[]) {
      if (inside !== '') inside += separate()
      inside += writeValue(item, layout, inner, depth + 1, runtime)
    }
    return closed(inside, '[', ']')
  }
  throw new PyError('TypeError', `Object of type ${typeName(value)} is not JSON serializable`)
}

/** Returns the entries in the order of their keys. json.dumps sorts the pairs; since no keys are equal, it never compares values. */
const sortedEntries = (dict: PyDict, runtime: Runtime): readonly (readonly [Value, Value])[] =>
  sortBy([...dict.entries()], ([key]) => key, false, runtime)

function keyText(key: Value): string {
  const text = stringOf(key)
  if (text !== undefined) return text
  if (key === null) return 'null'
  if (typeof key === 'boolean') return String(key)
  if (typeof key === 'number' || typeof key === 'bigint') return intText(key)
  if (key instanceof PyFloat) return floatText(key.value)
  throw new PyError('TypeError', `keys must be str, int, float, bool or None, not ${typeName(key)}`)
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity'
  return floatRepr(value)
}

/**
 * Returns a text in quotes. Most texts contain nothing to escape. JavaScript escapes as Python does, except for lone surrogates, which
 * Python leaves.
 */
const quoteText = (text: string): string =>
  !ESCAPED.test(text)
    ? `"${text}"`
    : text.isWellFormed()
      ? JSON.stringify(text)
      : `"${text.replace(SPECIAL, escapedUnit)}"`

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what JSON escapes
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
}

const escapedUnit = (unit: string): string => SHORT[unit] ?? unicodeEscape(unit)

const quotedAscii = (text: string): string => `"${text.replace(/["\\]|[^ -~]/g, escapedUnit)}"`
