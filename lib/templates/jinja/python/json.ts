/** JSON as Python's json module reads and writes it. */

import { textOf } from './markup.ts'
import { asInt, floatRepr, intText, readInt } from './numbers.ts'
import { sorted } from './sorting.ts'
import { MAX_DEPTH, typeName } from './text/repr.ts'
import { PyDict, PyError, PyFloat, PyObject, PyTuple, type Runtime, Undefined, type Value } from './values.ts'

/** What is wrong in a JSON text, and where. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  /** Both from 1; the column counts code points. */
  readonly line: number
  readonly column: number
  constructor(message: string, line: number, column: number) {
    super(message)
    this.line = line
    this.column = column
  }
}

/** json.loads: 1 is an int of any size, 1.0 a float, the last of equal keys wins. Throws JsonError. */
export function readJson(text: string): Value {
  if (text.startsWith('\ufeff')) throw problem('Unexpected UTF-8 BOM (decode using utf-8-sig)', text, 0)
  const reader = { text, at: 0 }
  skipSpace(reader)
  const value = readValue(reader, 0)
  skipSpace(reader)
  if (reader.at < text.length) throw problem('Extra data', text, reader.at)
  return value
}

interface Reader {
  readonly text: string
  /** The UTF-16 unit that is read next. */
  at: number
}

/** Worded as Python's JSONDecodeError, its place in fields of their own. */
function problem(message: string, text: string, at: number): JsonError {
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  const line = before.split('\n').length
  return new JsonError(message, line, [...before.slice(lineStart)].length + 1)
}

function skipSpace(reader: Reader): void {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    reader.at += 1
  }
}

function readValue(reader: Reader, depth: number): Value {
  const { text, at } = reader
  switch (text[at]) {
    case '"':
      return readString(reader)
    case '{':
      return readObject(reader, depth)
    case '[':
      return readArray(reader, depth)
    default:
      return readScalar(reader)
  }
}

const WORDS: readonly (readonly [string, Value])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', new PyFloat(Number.NaN)],
  ['Infinity', new PyFloat(Number.POSITIVE_INFINITY)],
  ['-Infinity', new PyFloat(Number.NEGATIVE_INFINITY)],
]

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y

function readScalar(reader: Reader): Value {
  const { text, at } = reader
  NUMBER.lastIndex = at
  const number = NUMBER.exec(text)
  if (number) {
    reader.at += number[0].length
    const isFloat = number[1] !== undefined || number[2] !== undefined
    return isFloat ? new PyFloat(Number(number[0])) : readWhole(number[0], text, at)
  }
  for (const [word, value] of WORDS) {
    if (!text.startsWith(word, at)) continue
    reader.at += word.length
    return value
  }
  throw problem('Expecting value', text, at)
}

function readWhole(digits: string, text: string, at: number): Value {
  if (digits.length < 16) return Number(digits) + 0
  try {
    return readInt(digits, 10) ?? asInt(BigInt(digits))
  } catch (error) {
    if (error instanceof PyError) throw problem(error.message, text, at)
    throw error
  }
}

function enter(reader: Reader, depth: number): void {
  reader.at += 1
  if (depth > MAX_DEPTH) throw problem('More than 960 levels deep', reader.text, reader.at - 1)
}

function readArray(reader: Reader, depth: number): Value {
  enter(reader, depth)
  const { text } = reader
  const items: Value[] = []
  skipSpace(reader)
  if (text[reader.at] === ']') {
    reader.at += 1
    return items
  }
  for (;;) {
    items.push(readValue(reader, depth + 1))
    skipSpace(reader)
    const next = text[reader.at]
    if (next !== ',' && next !== ']') throw problem("Expecting ',' delimiter", text, reader.at)
    reader.at += 1
    if (next === ']') return items
    skipSpace(reader)
  }
}

function readObject(reader: Reader, depth: number): Value {
  enter(reader, depth)
  const { text } = reader
  const dict = new PyDict()
  skipSpace(reader)
  if (text[reader.at] === '}') {
    reader.at += 1
    return dict
  }
  for (;;) {
    if (text[reader.at] !== '"') throw problem('Expecting property name enclosed in double quotes', text, reader.at)
    const key = readString(reader)
    skipSpace(reader)
    if (text[reader.at] !== ':') throw problem("Expecting ':' delimiter", text, reader.at)
    reader.at += 1
    skipSpace(reader)
    dict.set(key, readValue(reader, depth + 1))
    skipSpace(reader)
    const next = text[reader.at]
    if (next !== ',' && next !== '}') throw problem("Expecting ',' delimiter", text, reader.at)
    reader.at += 1
    if (next === '}') return dict
    skipSpace(reader)
  }
}

/** Where a str ends or needs a closer look. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const SPECIAL = /["\\\0-\x1f]/g

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

function readString(reader: Reader): string {
  const { text } = reader
  const open = reader.at
  let result = ''
  let at = open + 1
  for (;;) {
    SPECIAL.lastIndex = at
    const found = SPECIAL.exec(text)
    if (!found) throw problem('Unterminated string starting at', text, open)
    result += text.slice(at, found.index)
    at = found.index + 1
    if (found[0] === '"') break
    if (found[0] !== '\\') throw problem('Invalid control character at', text, found.index)
    const letter = text[at]
    if (letter === undefined) throw problem('Unterminated string starting at', text, open)
    if (letter === 'u') {
      const hex = text.slice(at + 1, at + 5)
      if (!/^[\da-fA-F]{4}$/.test(hex)) throw problem('Invalid \\uXXXX escape', text, at)
      result += String.fromCharCode(Number.parseInt(hex, 16))
      at += 5
    } else {
      const meant = ESCAPES[letter]
      if (meant === undefined) throw problem('Invalid \\escape', text, found.index)
      result += meant
      at += 1
    }
  }
  reader.at = at
  return result
}

/**
 * Plain JavaScript data as a value: whole numbers are ints, undefined members are left out, values stay as they are.
 * Made anew each time: 10,000 tokens of messages take 0.04 ms, and remembering each object would take ten times that.
 */
export function fromJs(value: unknown): Value {
  return converted(value, 0)
}

function converted(value: unknown, depth: number): Value {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : floatOrWhole(value)
  if (typeof value === 'bigint') return asInt(value)
  if (typeof value !== 'object') throw new TypeError(`a template cannot take a ${typeof value}`)
  if (isValue(value)) return value
  if (depth > MAX_DEPTH) throw new RangeError('more than 960 levels deep')
  return Array.isArray(value)
    ? value.map((item) => converted(item, depth + 1))
    : dictOfMembers(value as Readonly<Record<string, unknown>>, depth)
}

function dictOfMembers(object: Readonly<Record<string, unknown>>, depth: number): PyDict {
  const dict = new PyDict()
  for (const key of Object.keys(object)) {
    const value = object[key]
    if (value !== undefined) dict.set(key, converted(value, depth + 1))
  }
  return dict
}

/** What JSON would write with a point or an exponent is a float; a large int has the digits that JSON would write. */
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

/** JSON of what readJson gave, to be read by it again: outside of any render, so not metered. */
export function jsonText(value: Value): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`
  if (value instanceof PyDict) {
    const members = Array.from(value.entries(), ([key, item]) => `${quoted(String(key))}: ${jsonText(item)}`)
    return `{${members.join(', ')}}`
  }
  return value instanceof PyFloat ? floatText(value.value) : String(value)
}

export interface JsonOptions {
  readonly ensureAscii: boolean
  /** Spaces, or the text that indents. */
  readonly indent: number | string | undefined
  /** Between items, between key and value; undefined: as json.dumps chooses. */
  readonly separators: readonly [string, string] | undefined
  readonly sortKeys: boolean
}

/** json.dumps. Throws PyError (TypeError) for what is no JSON. */
export function toJson(value: Value, options: JsonOptions, runtime: Runtime): string {
  const { indent, separators } = options
  if (typeof indent === 'number' && indent > 0) runtime.allocate(indent)
  const [item, key] = separators ?? [indent === undefined ? ', ' : ',', ': ']
  const layout: Layout = {
    item,
    key,
    indent: typeof indent === 'number' ? ' '.repeat(Math.max(0, indent)) : indent,
    sortKeys: options.sortKeys,
    quote: options.ensureAscii ? quotedAscii : quoted,
  }
  return written(value, layout, '\n', 0, runtime)
}

interface Layout {
  readonly item: string
  readonly key: string
  /** undefined: all on one line. */
  readonly indent: string | undefined
  readonly sortKeys: boolean
  readonly quote: (text: string) => string
}

/** `margin` begins the lines of what stands around the value. */
function written(value: Value, layout: Layout, margin: string, depth: number, runtime: Runtime): string {
  runtime.step()
  const text = textOf(value)
  if (text !== undefined) {
    runtime.allocate(text.length)
    return layout.quote(text)
  }
  if (value === null) return 'null'
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number' || typeof value === 'bigint') return intText(value)
  if (value instanceof PyFloat) return floatText(value.value)
  if (depth > MAX_DEPTH) {
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
  /** What stands between entries is charged before it is made: lines can be indented by millions. */
  const separate = (): string => {
    runtime.allocate(between.length)
    return between
  }
  if (value instanceof PyDict) {
    let inside = ''
    for (const [key, item] of layout.sortKeys ? sortedEntries(value, runtime) : value.entries()) {
      if (inside !== '') inside += separate()
      inside += layout.quote(keyText(key)) + layout.key + written(item, layout, inner, depth + 1, runtime)
    }
    return closed(inside, '{', '}')
  }
  const items = value instanceof PyTuple ? value.items : value
  if (Array.isArray(items)) {
    let inside = ''
    for (const item of items as readonly Value[]) {
      if (inside !== '') inside += separate()
      inside += written(item, layout, inner, depth + 1, runtime)
    }
    return closed(inside, '[', ']')
  }
  throw new PyError('TypeError', `Object of type ${typeName(value)} is not JSON serializable`)
}

/** json.dumps sorts the pairs, so equal keys cannot make it compare values. */
const sortedEntries = (dict: PyDict, runtime: Runtime): readonly (readonly [Value, Value])[] =>
  sorted([...dict.entries()], ([key]) => key, false, runtime)

function keyText(key: Value): string {
  const text = textOf(key)
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

/** Most texts hold nothing to escape. JavaScript escapes as Python does, but for lone surrogates, which Python leaves. */
const quoted = (text: string): string =>
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

const escapedUnit = (unit: string): string => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const quotedAscii = (text: string): string => `"${text.replace(/["\\]|[^ -~]/g, escapedUnit)}"`
