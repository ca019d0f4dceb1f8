/**
 * Reads the values that a call or a dict of Python holds: texts, numbers, True, False, None in any case and null, lists,
 * tuples, dicts, and int(…), float(…), str(…), list(…), tuple(…) of one of these. Nothing is run. Offsets are UTF-16 code units.
 */
import { endOfString, scanLiteral } from '#lib/json/python-literal.ts'

export interface ReadValue {
  readonly value: unknown
  readonly end: number
}

/** No parameter comes near it; what follows walks values by recursion. */
export const DEEPEST = 100

/** The value that starts at `start`; undefined: none that is plain. */
export const valueAt = (text: string, start: number): ReadValue | undefined => readValue(text, start, 1)

// A // where no operator can stand is a comment of JSON.
const BETWEEN = /(?:[ \t\n\r\f]|\\\r?\n|#[^\n]*|\/\/(?<=(?:^|[\n,{[(])[ \t]*\/\/)[^\n]*)*/y

/** Past white space, line continuations and comments. */
export function skipBetween(text: string, start: number): number {
  BETWEEN.lastIndex = start
  BETWEEN.test(text)
  return BETWEEN.lastIndex
}

const QUOTES = /[a-z]{0,2}("""|'''|"|')/iy

/** Behind the text in quotes that starts here, whatever its prefix; undefined: none starts. One that is not closed ends where it was looked for. */
export function skipQuoted(text: string, start: number): number | undefined {
  QUOTES.lastIndex = start
  const quotes = QUOTES.exec(text)?.[1]
  if (quotes === undefined) return undefined
  const end = endOfString(text, QUOTES.lastIndex, quotes)
  if (end >= 0) return end + quotes.length
  const line = text.indexOf('\n', start)
  return quotes.length === 1 && line >= 0 ? line : text.length
}

const WORD = /(true|false|none|null)(?!\w)/iy
const CAST = /(int|float|str|list|tuple)[ \t]*\(/y
const CLOSING = { '[': ']', '(': ')', '{': '}' } as const

function readValue(text: string, start: number, depth: number): ReadValue | undefined {
  if (depth > DEEPEST) return undefined
  const first = text[start]
  if (first === '[' || first === '(') return readList(text, start, CLOSING[first], depth)
  if (first === '{') return readDict(text, start, depth)
  WORD.lastIndex = start
  const word = WORD.exec(text)?.[1]?.toLowerCase()
  if (word !== undefined) return { value: word.startsWith('n') ? null : word === 'true', end: WORD.lastIndex }
  CAST.lastIndex = start
  const cast = CAST.exec(text)?.[1]
  return cast === undefined ? readLiteral(text, start) : readCast(text, CAST.lastIndex, cast, depth)
}

function readLiteral(text: string, start: number): ReadValue | undefined {
  const scan = scanLiteral(text, start)
  if (!scan.ok) return undefined
  const value: unknown = JSON.parse(scan.json)
  if (typeof value !== 'string') return { value, end: scan.end }
  // Texts side by side are one, over comments too.
  const next = skipBetween(text, scan.end)
  if (skipQuoted(text, next) === undefined) return { value, end: scan.end }
  const rest = readRest(text, next)
  return rest && { value: value + rest.value, end: rest.end }
}

function readRest(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  const parts: string[] = []
  let end = start
  for (let at = start; skipQuoted(text, at) !== undefined; at = skipBetween(text, end)) {
    const scan = scanLiteral(text, at)
    if (!scan.ok) return undefined
    parts.push(JSON.parse(scan.json) as string)
    end = scan.end
  }
  return { value: parts.join(''), end }
}

/** Of a list or a tuple; one value in round brackets without a comma is that value. */
function readList(text: string, start: number, close: ']' | ')', depth: number): ReadValue | undefined {
  const items: unknown[] = []
  let hasComma = false
  let at = skipBetween(text, start + 1)
  while (text[at] !== close) {
    const item = readValue(text, at, depth + 1)
    if (!item) return undefined
    items.push(item.value)
    at = skipBetween(text, item.end)
    if (text[at] === ',') {
      hasComma = true
      at = skipBetween(text, at + 1)
    } else if (text[at] !== close) return undefined
  }
  return { value: close === ')' && items.length === 1 && !hasComma ? items[0] : items, end: at + 1 }
}

/** Its keys are texts or whole numbers, which JSON writes as texts. */
function readDict(text: string, start: number, depth: number): ReadValue | undefined {
  const entries: [string, unknown][] = []
  let at = skipBetween(text, start + 1)
  while (text[at] !== '}') {
    const key = readLiteral(text, at)
    if (typeof key?.value !== 'string' && !Number.isInteger(key?.value)) return undefined
    const { value: name, end } = key as ReadValue
    const colon = skipBetween(text, end)
    const value = text[colon] === ':' ? readValue(text, skipBetween(text, colon + 1), depth + 1) : undefined
    if (!value) return undefined
    entries.push([String(name), value.value])
    at = skipBetween(text, value.end)
    if (text[at] === ',') at = skipBetween(text, at + 1)
    else if (text[at] !== '}') return undefined
  }
  return { value: Object.fromEntries(entries), end: at + 1 }
}

function readCast(text: string, start: number, cast: string, depth: number): ReadValue | undefined {
  const inner = readValue(text, skipBetween(text, start), depth + 1)
  const close = inner && skipBetween(text, inner.end)
  if (close === undefined || text[close] !== ')') return undefined
  const value = castValue(cast, inner?.value)
  return value === undefined ? undefined : { value, end: close + 1 }
}

function castValue(cast: string, value: unknown): unknown {
  if (typeof value === 'number' && cast === 'float') return value
  if (typeof value === 'number' && cast === 'int') return Math.trunc(value)
  if (typeof value === 'string' && cast === 'str') return value
  return Array.isArray(value) && (cast === 'list' || cast === 'tuple') ? value : undefined
}
