/**
 * Converts Python literals to JSON: texts with prefixes and escapes, numbers as written, True, False, None, lists, and
 * dicts with text keys. Other literals have no value in JSON. Offsets are UTF-16 code units.
 */

import { elementAt } from '#lib/util/element-at.ts'
import { describeRepeatedName, MAX_JSON_DEPTH } from './json-scan.ts'

/** The scanned literal, or the error. */
export type LiteralScan =
  | {
      readonly ok: true
      readonly end: number
      /** JSON text of the value, with the digits of the source. */
      readonly json: string
    }
  | {
      readonly ok: false
      readonly at: number
      readonly why: string
      /** syntax: the text is invalid. value: it may be valid Python, but has no value in JSON. */
      readonly kind: 'syntax' | 'value'
    }

/** JSON texts by the word that denotes the value. */
export type LiteralWords = ReadonlyMap<string, string>

/** The words of Python for true, false and null. */
export const PYTHON_WORDS: LiteralWords = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])

/** Scans the literal that starts at `start`. */
export const scanLiteral = (text: string, start: number, words: LiteralWords = PYTHON_WORDS): LiteralScan =>
  scanValue(text, start, words, 1)

/** Returns the JSON of a text that is one literal, except for white space around it, or undefined. */
export function literalJson(text: string, words: LiteralWords = PYTHON_WORDS): string | undefined {
  const scan = scanLiteral(text, skipPythonSpace(text, 0), words)
  return scan.ok && skipPythonSpace(text, scan.end) === text.length ? scan.json : undefined
}

const SPACE = /[ \t\n\r\f]*/y

/** Skips white space; within brackets a line break is white space. */
export function skipPythonSpace(text: string, start: number): number {
  SPACE.lastIndex = start
  SPACE.test(text)
  return SPACE.lastIndex
}

const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy
const NUMBER =
  /([+-]?)(?:(0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)|((?:\d+(?:_\d+)*)?)(\.?)((?:\d+(?:_\d+)*)?)((?:[eE][+-]?\d+(?:_\d+)*)?))(?![\p{L}\p{N}_])/uy
const QUOTED = /([a-zA-Z]{0,2})("""|'''|"|')/y

function scanValue(text: string, start: number, words: LiteralWords, depth: number): LiteralScan {
  const first = text[start]
  if (first === '[' || first === '{')
    return depth >= MAX_JSON_DEPTH
      ? { ok: false, at: start, why: `nested deeper than ${MAX_JSON_DEPTH} levels`, kind: 'syntax' }
      : first === '['
        ? scanList(text, start, words, depth)
        : scanDict(text, start, words, depth)
  QUOTED.lastIndex = start
  if (QUOTED.test(text)) return scanStrings(text, start)
  WORD.lastIndex = start
  const word = words.get(WORD.exec(text)?.[0] ?? '')
  if (word !== undefined) return { ok: true, end: WORD.lastIndex, json: word }
  NUMBER.lastIndex = start
  const number = NUMBER.exec(text)
  const json = number && numberJson(number)
  if (json === undefined || json === null) return notOne(start, 'a Python literal is expected here')
  if (!Number.isFinite(Number(json))) return notOne(start, 'a number is larger than any that can be represented')
  return { ok: true, end: NUMBER.lastIndex, json }
}

const notOne = (at: number, why: string): LiteralScan => ({ ok: false, at, why, kind: 'value' })
const syntax = (at: number, why: string): LiteralScan => ({ ok: false, at, why, kind: 'syntax' })

/** Returns a number as JSON; undefined for text that is not a number, or that Python refuses, such as 01. */
function numberJson([, sign, based, whole = '', point, fraction = '', exponent = '']: RegExpExecArray):
  | string
  | undefined {
  const minus = sign === '-' ? '-' : ''
  if (based !== undefined) return `${minus}${BigInt(based.replaceAll('_', ''))}`
  if (whole === '' && fraction === '') return undefined
  const digits = whole.replaceAll('_', '')
  const isFloat = point !== '' || exponent !== ''
  if (!isFloat && /^0+[1-9]/.test(digits)) return undefined
  const plain = digits.replace(/^0+(?=\d)/, '') || '0'
  const behind = point === '' ? '' : `.${fraction.replaceAll('_', '') || '0'}`
  return `${minus}${plain}${behind}${exponent.replaceAll('_', '')}`
}

function scanList(text: string, start: number, words: LiteralWords, depth: number): LiteralScan {
  const items: string[] = []
  let at = skipPythonSpace(text, start + 1)
  while (text[at] !== ']') {
    const item = scanValue(text, at, words, depth + 1)
    if (!item.ok) return item
    items.push(item.json)
    at = skipPythonSpace(text, item.end)
    if (text[at] === ',') at = skipPythonSpace(text, at + 1)
    else if (text[at] !== ']') return notOne(at, '"," or "]" is expected here')
  }
  return { ok: true, end: at + 1, json: `[${items.join(', ')}]` }
}

function scanDict(text: string, start: number, words: LiteralWords, depth: number): LiteralScan {
  /** JSON values by their keys as JSON. */
  const members = new Map<string, string>()
  let at = skipPythonSpace(text, start + 1)
  while (text[at] !== '}') {
    QUOTED.lastIndex = at
    if (!QUOTED.test(text)) return notOne(at, 'a string is expected here as a key of the dict')
    const key = scanStrings(text, at)
    if (!key.ok) return key
    if (members.has(key.json)) return notOne(at, describeRepeatedName(JSON.parse(key.json) as string))
    const colon = skipPythonSpace(text, key.end)
    if (text[colon] !== ':') return notOne(colon, '":" is expected here')
    const value = scanValue(text, skipPythonSpace(text, colon + 1), words, depth + 1)
    if (!value.ok) return value
    members.set(key.json, value.json)
    at = skipPythonSpace(text, value.end)
    if (text[at] === ',') at = skipPythonSpace(text, at + 1)
    else if (text[at] !== '}') return notOne(at, '"," or "}" is expected here')
  }
  const json = Array.from(members, ([key, value]) => `${key}: ${value}`)
  return { ok: true, end: at + 1, json: `{${json.join(', ')}}` }
}

/** Scans one or more adjacent strings, which Python joins. */
function scanStrings(text: string, start: number): LiteralScan {
  let value = ''
  let end = start
  for (let at = start; ; at = skipPythonSpace(text, end)) {
    QUOTED.lastIndex = at
    const open = QUOTED.exec(text)
    if (!open) return { ok: true, end, json: JSON.stringify(value) }
    const prefix = elementAt(open, 1).toLowerCase()
    if (prefix.includes('b')) return notOne(at, 'bytes have no value in JSON')
    if (prefix.includes('f') || prefix.includes('t')) return notOne(at, 'an f-string is not a literal')
    if (!['', 'r', 'u'].includes(prefix)) return notOne(at, 'a Python literal is expected here')
    const body = endOfString(text, QUOTED.lastIndex, elementAt(open, 2))
    if (body < 0) return syntax(endOfReading(text, at, elementAt(open, 2)), 'a text is not closed')
    const written = text.slice(QUOTED.lastIndex, body)
    const decoded = prefix === 'r' ? written : unescapeText(written)
    if (decoded === undefined) return notOne(at, 'a text has an escape that cannot be read')
    value += decoded
    end = body + elementAt(open, 2).length
  }
}

/** Returns the position of the closing quotes, or -1. A single quote must close on its line. */
export function endOfString(text: string, start: number, quotes: string): number {
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === quotes[0] && text.startsWith(quotes, at)) return at
    else if (character === '\n' && quotes.length === 1) return -1
  }
  return -1
}

/** Returns how far the closing quotes were searched. */
function endOfReading(text: string, start: number, quotes: string): number {
  const line = text.indexOf('\n', start)
  return quotes.length === 1 && line >= 0 ? line : text.length
}

const ESCAPE =
  /\\(?:(\r\n|\n)|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([abfnrtv\\'"])|([xuUN])|)/g
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Decodes escapes. An unknown escape keeps its backslash, as in Python. Undefined for a named character or too few digits. */
function unescapeText(written: string): string | undefined {
  let isReadable = true
  const text = written.replace(ESCAPE, (...found) => {
    const [whole, line, two, four, eight, octal, control, odd] = found as string[]
    if (line !== undefined) return ''
    const code = two ?? four ?? eight
    if (code !== undefined || octal !== undefined) {
      const point = code === undefined ? Number.parseInt(octal as string, 8) : Number.parseInt(code, 16)
      if (point <= 0x10ffff) return String.fromCodePoint(point)
    }
    if (control !== undefined) return CONTROLS[control] ?? control
    if (odd !== undefined || eight !== undefined) isReadable = false
    return whole as string
  })
  return isReadable ? text : undefined
}
