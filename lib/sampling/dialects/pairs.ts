/** Finds names and values in Python text: `temperature=0.6, stop=["a"]`, `'temperature': 0.6`. Nothing is executed. */
import { endOfString, type LiteralWords, PYTHON_WORDS, scanLiteral } from '#lib/json/python-literal.ts'
import { isSamplingField, WRAPPERS } from './names.ts'

/** Names and values found in pasted text. */
export interface NamedValues {
  readonly values: ReadonlyMap<string, unknown>
  /** Source text of values that are not literals, by name. */
  readonly unread: ReadonlyMap<string, string>
}

/**
 * Finds the pairs of the text at any depth. A name before an opening bracket (a call or a nested object) is ignored.
 */
export function findNamedValues(text: string): NamedValues {
  const values = new Map<string, unknown>()
  const unread = new Map<string, string>()
  /** Number of open brackets. */
  let depth = 0
  for (let at = skipBetween(text, 0); at < text.length; at = skipBetween(text, at)) {
    const key = keyAt(text, at)
    if (!key) {
      depth = depthAfter(depth, text.charAt(at))
      at = endOfPart(text, at)
      continue
    }
    const value = valueAt(text, key.valueStart)
    if (value && isEnd(text, value.end, depth)) {
      values.set(key.name, value.value)
      at = value.end
    } else if (isWrapper(text, key)) at = key.valueStart
    else {
      at = endOfExpression(text, key.valueStart, depth)
      unread.set(key.name, text.slice(key.valueStart, at).trim())
    }
  }
  return { values, unread }
}

interface Key {
  readonly name: string
  readonly valueStart: number
}

const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy
const KEYWORD = /([\p{L}_][\p{L}\p{N}_]*)\s*=(?![=>])/uy

/** Matches `name =`, or a quoted text and a colon. */
function keyAt(text: string, at: number): Key | undefined {
  KEYWORD.lastIndex = at
  const keyword = KEYWORD.exec(text)?.[1]
  if (keyword !== undefined) return { name: keyword, valueStart: skipBetween(text, KEYWORD.lastIndex) }
  const end = skipQuoted(text, at)
  if (end === undefined) return undefined
  const colon = skipBetween(text, end)
  const name = text[colon] === ':' ? valueAt(text.slice(at, end), 0)?.value : undefined
  return typeof name === 'string' ? { name, valueStart: skipBetween(text, colon + 1) } : undefined
}

/** Returns the position after a quoted text, a name or a single character. */
function endOfPart(text: string, at: number): number {
  const quoted = skipQuoted(text, at)
  if (quoted !== undefined) return quoted
  NAME.lastIndex = at
  return NAME.test(text) ? NAME.lastIndex : at + 1
}

function depthAfter(depth: number, character: string): number {
  if ('([{'.includes(character)) return depth + 1
  return ')]}'.includes(character) ? Math.max(0, depth - 1) : depth
}

/** Matches the end of a line outside of brackets, or the start of the next assignment on the same line. */
const OUTSIDE = /[ \t]*(?:$|[\r\n#\\]|[\p{L}_][\p{L}\p{N}_.]*=(?!=))/uy

/** Returns whether a value ends here and is not part of an expression. */
function isEnd(text: string, end: number, depth: number): boolean {
  const next = text[skipBetween(text, end)]
  if (next === undefined || ',)]};'.includes(next)) return true
  OUTSIDE.lastIndex = end
  return depth === 0 && OUTSIDE.test(text)
}

const CALL = /[\p{L}_][\p{L}\p{N}_.]*\s*\(/uy

function isWrapper(text: string, { name, valueStart }: Key): boolean {
  if (WRAPPERS.has(name) && text[valueStart] === '{') return true
  CALL.lastIndex = valueStart
  return !isSamplingField(name) && CALL.test(text)
}

/** Returns the position of the comma, bracket or line break that ends the expression. */
function endOfExpression(text: string, start: number, depth: number): number {
  let open = 0
  for (let at = start; at < text.length; ) {
    const character = text.charAt(at)
    if (open === 0 && (',;)]}'.includes(character) || (depth === 0 && character === '\n'))) return at
    open = depthAfter(open, character)
    at = character === '#' ? skipBetween(text, at) : endOfPart(text, at)
  }
  return text.length
}

/** The words of Python and of JSON for true, false and null, because both are pasted. */
const WORDS: LiteralWords = new Map([...PYTHON_WORDS, ['true', 'true'], ['false', 'false'], ['null', 'null']])

/** Returns the literal at `start`, or undefined if it has no value in JSON. */
function valueAt(text: string, start: number): { readonly value: unknown; readonly end: number } | undefined {
  const scan = scanLiteral(text, start, WORDS)
  return scan.ok ? { value: JSON.parse(scan.json), end: scan.end } : undefined
}

const BETWEEN = /(?:[ \t\n\r\f]|\\\r?\n|#[^\n]*)*/y

/** Returns the position after white space, line continuations and comments. */
export function skipBetween(text: string, start: number): number {
  BETWEEN.lastIndex = start
  BETWEEN.test(text)
  return BETWEEN.lastIndex
}

const QUOTES = /[a-z]{0,2}("""|'''|"|')/iy

/**
 * Returns the end of the quoted text that starts here, with any prefix, or undefined if none starts. An unclosed text
 * ends where the search for its end stopped.
 */
export function skipQuoted(text: string, start: number): number | undefined {
  QUOTES.lastIndex = start
  const quotes = QUOTES.exec(text)?.[1]
  if (quotes === undefined) return undefined
  const end = endOfString(text, QUOTES.lastIndex, quotes)
  if (end >= 0) return end + quotes.length
  const line = text.indexOf('\n', start)
  return quotes.length === 1 && line >= 0 ? line : text.length
}
