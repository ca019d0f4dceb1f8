/** Names and values in Python, wherever they stand: `temperature=0.6, stop=["a"]`, `'temperature': 0.6`. Nothing of it is run. */
import { endOfString, type LiteralWords, PYTHON_WORDS, scanLiteral } from '#lib/json/python-literal.ts'
import { isMeant, WRAPPERS } from './names.ts'

export interface NamedValues {
  readonly values: ReadonlyMap<string, unknown>
  /** Names whose value is no plain one, with how it is written. */
  readonly unread: ReadonlyMap<string, string>
}

/** What stands before an opening bracket only wraps them, be it a call or an object in which parameters are kept. */
export function pairsOf(text: string): NamedValues {
  const values = new Map<string, unknown>()
  const unread = new Map<string, string>()
  /** How many brackets are open. */
  let depth = 0
  for (let at = skipBetween(text, 0); at < text.length; at = skipBetween(text, at)) {
    const key = keyAt(text, at)
    if (!key) {
      depth = depthAfter(depth, text[at] as string)
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

/** `name =`, or a text and a colon. */
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

/** Behind a text, a name, or one character. */
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

/** At the end of a line that no bracket keeps open, or before the next of several assignments on it. */
const OUTSIDE = /[ \t]*(?:$|[\r\n#\\]|[\p{L}_][\p{L}\p{N}_.]*=(?!=))/uy

/** Whether a value ends here, and is no part of an expression. */
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
  return !isMeant(name) && CALL.test(text)
}

/** Up to the comma, bracket or line break that ends it. */
function endOfExpression(text: string, start: number, depth: number): number {
  let open = 0
  for (let at = start; at < text.length; ) {
    const character = text[at] as string
    if (open === 0 && (',;)]}'.includes(character) || (depth === 0 && character === '\n'))) return at
    open = depthAfter(open, character)
    at = character === '#' ? skipBetween(text, at) : endOfPart(text, at)
  }
  return text.length
}

/** Words of Python and of JSON: both are pasted. */
const WORDS: LiteralWords = new Map([...PYTHON_WORDS, ['true', 'true'], ['false', 'false'], ['null', 'null']])

/** The literal that starts at `start`; undefined: none that has a value in JSON. */
function valueAt(text: string, start: number): { readonly value: unknown; readonly end: number } | undefined {
  const scan = scanLiteral(text, start, WORDS)
  return scan.ok ? { value: JSON.parse(scan.json), end: scan.end } : undefined
}

const BETWEEN = /(?:[ \t\n\r\f]|\\\r?\n|#[^\n]*)*/y

/** Past white space, line continuations and comments. */
export function skipBetween(text: string, start: number): number {
  BETWEEN.lastIndex = start
  BETWEEN.test(text)
  return BETWEEN.lastIndex
}

const QUOTES = /[a-z]{0,2}("""|'''|"|')/iy

/** Past the text in quotes that starts here, whatever its prefix; undefined: none starts. One that is not closed ends where it was looked for. */
export function skipQuoted(text: string, start: number): number | undefined {
  QUOTES.lastIndex = start
  const quotes = QUOTES.exec(text)?.[1]
  if (quotes === undefined) return undefined
  const end = endOfString(text, QUOTES.lastIndex, quotes)
  if (end >= 0) return end + quotes.length
  const line = text.indexOf('\n', start)
  return quotes.length === 1 && line >= 0 ? line : text.length
}
