/**
 * Reads the arguments of Gemma 4 as JSON: `{key:<|"|>text<|"|>,n:1.5,flag:true,list:[…],nested:{…}}`. Keys are bare or
 * between the quote token of texts; a text has no escapes. Depth is limited, and so is recursion. Offsets are UTF-16.
 */

import {
  describeRepeatedName,
  describeUnexpected,
  MAX_JSON_DEPTH,
  type Member,
  type ScanError,
  scanError,
  skipSpace,
} from '#lib/json/json-scan.ts'
import { endOfName } from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'

/** The quote token of Gemma 4. */
export const GEMMA_QUOTE = '<|"|>'
/** The quote token of FunctionGemma. */
export const FUNCTION_GEMMA_QUOTE = '<escape>'

interface GemmaObject {
  readonly ok: true
  readonly end: number
  /** Keys and texts without their quotes. */
  readonly members: readonly Member[]
  /** Digits as in the text. */
  readonly json: string
}

/** Reads the object at a position, no further than `limit`. */
export type GemmaReader = (start: number, limit: number) => GemmaObject | ScanError

/** Creates a reader; `what` names the object in errors, and `quote` is the token around texts. */
export function gemmaReader(text: string, what: string, quote: string): GemmaReader {
  const nextQuote = createFinder(text, quote)
  return (start, limit) => {
    if (start < limit && text[start] === '{') return readObject(start, limit, 1)
    return scanError(start, `${what} are missing: ${describeUnexpected(text, start, limit, '"{"')}`)
  }

  function readObject(start: number, limit: number, depth: number): GemmaObject | ScanError {
    const members: Member[] = []
    const json = new Map<string, string>()
    let at = skipSpace(text, start + 1, limit)
    if (at < limit && text[at] === '}') return { ok: true, end: at + 1, members, json: '{}' }
    for (;;) {
      const key = readKey(at, limit)
      if (!key.ok) return key
      if (json.has(key.name)) return scanError(at, describeRepeatedName(key.name), 'refused')
      const colon = skipSpace(text, key.end, limit)
      if (colon >= limit || text[colon] !== ':') return unexpected(colon, limit, '":"')
      const value = readValue(skipSpace(text, colon + 1, limit), limit, depth)
      if (!value.ok) return value
      json.set(key.name, value.json)
      members.push({ name: key.name, key: key.range, value: value.range })
      at = skipSpace(text, value.end, limit)
      if (at < limit && text[at] === '}') break
      if (at >= limit || text[at] !== ',') return unexpected(at, limit, '"," or "}"')
      at = skipSpace(text, at + 1, limit)
    }
    const written = Array.from(json, ([name, value]) => `${JSON.stringify(name)}: ${value}`)
    return { ok: true, end: at + 1, members, json: `{${written.join(', ')}}` }
  }

  function readKey(start: number, limit: number) {
    if (startsWith(quote, start, limit)) {
      const quoted = readText(start, limit)
      return quoted.ok ? { ...quoted, name: text.slice(quoted.range.start, quoted.range.end) } : quoted
    }
    const end = Math.min(endOfName(text, start, KEY_END), limit)
    const name = text.slice(start, end).trimEnd()
    if (name === '') return unexpected(start, limit, 'a name')
    return { ok: true as const, name, end, range: { start, end: start + name.length } }
  }

  function readValue(start: number, limit: number, depth: number): Value | ScanError {
    if (startsWith(quote, start, limit)) return readText(start, limit)
    if (text[start] === '{' || text[start] === '[') {
      if (depth >= MAX_JSON_DEPTH) return scanError(start, `nested deeper than ${MAX_JSON_DEPTH} levels`, 'refused')
      const nested = text[start] === '{' ? readObject(start, limit, depth + 1) : readList(start, limit, depth + 1)
      return nested.ok ? { ok: true, end: nested.end, json: nested.json, range: { start, end: nested.end } } : nested
    }
    SCALAR.lastIndex = start
    const scalar = SCALAR.exec(text)?.[0]
    if (scalar === undefined || start + scalar.length > limit)
      return unexpected(start, limit, `a number, true, false, null or ${quote}`)
    const json = scalar === 'None' ? 'null' : scalar
    if (!Number.isFinite(Number(JSON.parse(json))))
      return scanError(start, 'a number is larger than any that can be represented')
    const end = start + scalar.length
    return { ok: true, end, json, range: { start, end } }
  }

  function readList(start: number, limit: number, depth: number) {
    const items: string[] = []
    let at = skipSpace(text, start + 1, limit)
    if (at < limit && text[at] === ']') return { ok: true as const, end: at + 1, json: '[]' }
    for (;;) {
      const item = readValue(at, limit, depth)
      if (!item.ok) return item
      items.push(item.json)
      at = skipSpace(text, item.end, limit)
      if (at < limit && text[at] === ']') return { ok: true as const, end: at + 1, json: `[${items.join(', ')}]` }
      if (at >= limit || text[at] !== ',') return unexpected(at, limit, '"," or "]"')
      at = skipSpace(text, at + 1, limit)
    }
  }

  function readText(start: number, limit: number): Value | ScanError {
    const from = start + quote.length
    const close = nextQuote(from)
    if (close < 0 || close + quote.length > limit)
      return { ok: false, at: limit, why: 'the text ends inside a string', kind: 'inside-string' }
    const range = { start: from, end: close }
    return { ok: true, end: close + quote.length, json: JSON.stringify(text.slice(from, close)), range }
  }

  function startsWith(mark: string, at: number, limit: number): boolean {
    return at + mark.length <= limit && text.startsWith(mark, at)
  }

  function unexpected(at: number, limit: number, expected: string): ScanError {
    return scanError(Math.min(at, limit), describeUnexpected(text, at, limit, expected))
  }
}

interface Value {
  readonly ok: true
  readonly end: number
  readonly json: string
  /** The range without the quotes of a text. */
  readonly range: { readonly start: number; readonly end: number }
}

const KEY_END = /[:,{}[\]<>"\r\n]/g
/** Early templates of the family wrote None for null. */
const SCALAR = /(?:true|false|null|None)(?![\w.])|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y

/** Returns the JSON of a text that is one value, with the quote token of either model; undefined if it is not valid. */
export function gemmaJson(text: string): string | undefined {
  const object = `{a:${text}}`
  for (const quote of [GEMMA_QUOTE, FUNCTION_GEMMA_QUOTE]) {
    const scan = gemmaReader(object, 'the arguments', quote)(0, object.length)
    if (scan.ok && scan.end === object.length && scan.members.length === 1) return scan.json.slice('{"a": '.length, -1)
  }
  return undefined
}
