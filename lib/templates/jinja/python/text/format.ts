/** Implements str.format and format(): fields in braces, as string.Formatter and CPython read them. */

import { escapedHtml, Markup, stringOf } from '../markup.ts'
import { numeric } from '../numbers.ts'
import { PyError, type Runtime, type Value } from '../values.ts'
import { ascii, codePointLength, codePointSlice, isDecimal } from './code-points.ts'
import { formattedNumber, padText, readFormatSpec, unknownCode } from './number-format.ts'
import { repr, str, typeName } from './repr.ts'

/** The values that fill fields, and how fields read them. */
export interface Fields {
  readonly positional: readonly Value[]
  /** Returns a named argument. Throws PyError (KeyError) if the name is missing. */
  readonly named: (name: string) => Value
  /** Returns an attribute as the sandbox reads it. */
  readonly attribute: (value: Value, name: string) => Value
  readonly item: (value: Value, key: Value) => Value
  /** Whether a Markup formats, so that each field is escaped. */
  readonly markup: boolean
}

/** Returns str.format(). Throws PyError. */
export function format(text: string, fields: Fields, runtime: Runtime): string {
  return expandFields(text, fields, { next: 0 }, 2, runtime)
}

/** Number of the next field without a name; false after a field that has a number. */
interface Numbering {
  next: number | false
}

function expandFields(text: string, fields: Fields, numbering: Numbering, depth: number, runtime: Runtime): string {
  if (depth < 0) throw new PyError('ValueError', 'Max string recursion exceeded')
  let result = ''
  for (const part of parts(text)) {
    runtime.step()
    result += part.literal
    if (part.field !== undefined) {
      const value = convertValue(
        lookedUp(numberField(part.field.name, numbering), fields),
        part.field.conversion,
        runtime,
      )
      const spec = expandFields(part.field.spec, fields, numbering, depth - 1, runtime)
      const fieldText = fields.markup ? escapedField(value, spec, runtime) : formatValue(value, spec, runtime)
      runtime.allocate(fieldText.length)
      result += fieldText
    }
  }
  return result
}

function escapedField(value: Value, spec: string, runtime: Runtime): string {
  if (!(value instanceof Markup)) return escapedHtml(formatValue(value, spec, runtime))
  if (spec !== '') throw new PyError('ValueError', 'Unsupported format specification for Markup.')
  return value.html
}

function numberField(name: string, numbering: Numbering): string {
  const mixed = 'cannot switch from manual field specification to automatic field numbering'
  if (name === '') {
    if (numbering.next === false) throw new PyError('ValueError', mixed)
    numbering.next += 1
    return String(numbering.next - 1)
  }
  if ([...name].every(isDecimal)) {
    if (numbering.next !== false && numbering.next > 0) throw new PyError('ValueError', mixed)
    numbering.next = false
  }
  return name
}

function convertValue(value: Value, conversion: string | undefined, runtime: Runtime): Value {
  if (conversion === undefined) return value
  if (conversion === 's') return str(value, runtime)
  if (conversion === 'r') return repr(value, runtime)
  if (conversion === 'a') return ascii(repr(value, runtime))
  throw new PyError('ValueError', `Unknown conversion specifier ${conversion}`)
}

interface Part {
  readonly literal: string
  readonly field: { readonly name: string; readonly conversion: string | undefined; readonly spec: string } | undefined
}

/** Splits a format string as _string.formatter_parser does. */
function* parts(text: string): Generator<Part> {
  let at = 0
  while (at < text.length) {
    const brace = nextBrace(text, at)
    const character = text[brace]
    if (character === undefined) {
      yield { literal: text.slice(at), field: undefined }
      return
    }
    if (text[brace + 1] === character) {
      yield { literal: text.slice(at, brace + 1), field: undefined }
      at = brace + 2
      continue
    }
    if (character === '}' || brace + 1 === text.length) {
      throw new PyError('ValueError', `Single '${character}' encountered in format string`)
    }
    const { field, end } = readField(text, brace + 1)
    yield { literal: text.slice(at, brace), field }
    at = end
  }
}

function nextBrace(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (text[at] === '{' || text[at] === '}') return at
  return text.length
}

function readField(text: string, start: number): { readonly field: NonNullable<Part['field']>; readonly end: number } {
  let at = start
  while (at < text.length && !'}:!'.includes(text.charAt(at))) {
    if (text[at] === '{') throw new PyError('ValueError', "unexpected '{' in field name")
    if (text[at] === '[') while (at < text.length && text[at] !== ']') at += 1
    at += 1
  }
  const name = text.slice(start, at)
  const terminator = text[at]
  if (terminator === undefined) throw new PyError('ValueError', "expected '}' before end of string")
  at += 1
  if (terminator === '}') return { field: { name, conversion: undefined, spec: '' }, end: at }
  let conversion: string | undefined
  if (terminator === '!') {
    if (at >= text.length) {
      throw new PyError('ValueError', 'end of string while looking for conversion specifier')
    }
    conversion = String.fromCodePoint(text.codePointAt(at) ?? 0)
    at += conversion.length
    const after = text[at]
    if (after === '}') return { field: { name, conversion, spec: '' }, end: at + 1 }
    if (after !== undefined && after !== ':') {
      throw new PyError('ValueError', "expected ':' after conversion specifier")
    }
    at += 1
  }
  const end = closingBrace(text, at)
  return { field: { name, conversion, spec: text.slice(at, end) }, end: end + 1 }
}

function closingBrace(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    else if (text[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  throw new PyError('ValueError', "unmatched '{' in format spec")
}

/** Returns the value of a field such as `0.name[key]`: the first part is an argument, the others are steps into it. */
function lookedUp(name: string, fields: Fields): Value {
  const first = /^[^.[]*/.exec(name)?.[0] ?? ''
  let value = argument(first, fields)
  let at = first.length
  while (at < name.length) {
    if (name[at] === '.') {
      const attribute = /^[^.[]*/.exec(name.slice(at + 1))?.[0] ?? ''
      if (attribute === '') throw new PyError('ValueError', 'Empty attribute in format string')
      value = fields.attribute(value, attribute)
      at += 1 + attribute.length
    } else if (name[at] === '[') {
      const end = name.indexOf(']', at)
      if (end < 0) throw new PyError('ValueError', "Missing ']' in format string")
      const key = name.slice(at + 1, end)
      if (key === '') throw new PyError('ValueError', 'Empty attribute in format string')
      value = fields.item(value, /^\d+$/.test(key) ? Number(key) : key)
      at = end + 1
    } else {
      throw new PyError('ValueError', "Only '.' or '[' may follow ']' in format field specifier")
    }
  }
  return value
}

function argument(name: string, fields: Fields): Value {
  if (!/^\d+$/.test(name)) return fields.named(name)
  const value = fields.positional[Number(name)]
  if (value === undefined) {
    throw new PyError('IndexError', 'tuple index out of range')
  }
  return value
}

/** Returns format(value, spec). */
function formatValue(value: Value, spec: string, runtime: Runtime): string {
  if (spec === '') return str(value, runtime)
  const text = stringOf(value)
  const name = typeName(value)
  if (text !== undefined) return formattedText(text, spec, name, runtime)
  const number = numeric(value)
  if (number !== undefined) {
    const read = readFormatSpec(spec, name, '>')
    return formattedNumber(number, read, name, runtime)
  }
  throw new PyError('TypeError', `unsupported format string passed to ${name}.__format__`)
}

function formattedText(text: string, specText: string, name: string, runtime: Runtime): string {
  const spec = readFormatSpec(specText, name, '<')
  if (spec.type !== '' && spec.type !== 's') throw unknownCode(spec.type, name)
  const refuse = (what: string): never => {
    throw new PyError('ValueError', `${what} not allowed in string format specifier`)
  }
  if (spec.sign !== '') refuse(spec.sign === ' ' ? 'Space' : 'Sign')
  if (spec.noNegativeZero) refuse('Negative zero coercion (z)')
  if (spec.alternate) refuse('Alternate form (#)')
  if (spec.align === '=') {
    throw new PyError('ValueError', "'=' alignment not allowed in string format specifier")
  }
  const cut = spec.precision === undefined ? text : codePointSlice(text, 0, spec.precision)
  const padding = Math.max(0, spec.width - codePointLength(cut))
  runtime.allocate(padding + cut.length)
  return padText(cut, padding, spec.fill, spec.align ?? '<')
}
