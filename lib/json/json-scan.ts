/**
 * Parses JSON (RFC 8259, strictly) with the position of every member and of the first error. It is iterative, so depth
 * cannot overflow the stack. Values come from JSON.parse over a valid range. A repeated name in an object is an error
 * at any depth. The RFC leaves its meaning open and parsers differ (Python and JavaScript take the last value, others
 * the first or none), and a tool must not run with a guessed value.
 */

/** A member of an object with its offsets in UTF-16 code units, half-open. */
export interface Member {
  readonly name: string
  /** Range of the name with its quotes. */
  readonly key: { readonly start: number; readonly end: number }
  readonly value: { readonly start: number; readonly end: number }
}

type Scan = { readonly ok: true; readonly end: number } | ScanError
/** The members of an object, or the error. */
export type ObjectScan = { readonly ok: true; readonly end: number; readonly members: readonly Member[] } | ScanError
/** A syntax error with its position. */
export interface ScanError {
  readonly ok: false
  readonly at: number
  readonly why: string
  /**
   * inside-string: the text only ended (at `limit`) in a string. refused: it is JSON so far, but nested too deeply or
   * with a repeated name.
   */
  readonly kind: 'syntax' | 'inside-string' | 'refused'
}

/** Deeper JSON is refused: no tool takes it, and JSON.stringify would overflow the stack. */
export const MAX_JSON_DEPTH = 128

/** Scans the object that starts at `start` (a brace), no further than `limit`. */
export function scanObject(text: string, start: number, limit: number): ObjectScan {
  const members: Member[] = []
  const names = new Set<string>()
  let position = skipSpace(text, start + 1, limit)
  if (text[position] === '}' && position < limit) return { ok: true, end: position + 1, members }
  for (;;) {
    const name = scanName(text, position, limit, names)
    if (!name.ok) return name
    const value = scanValue(text, name.valueStart, limit)
    if (!value.ok) return value
    members.push({
      name: name.name,
      key: { start: position, end: name.end },
      value: { start: name.valueStart, end: value.end },
    })
    const next = skipSpace(text, value.end, limit)
    if (next < limit && text[next] === '}') return { ok: true, end: next + 1, members }
    if (next >= limit || text[next] !== ',') return unexpectedError(text, next, limit, '"," or "}"')
    position = skipSpace(text, next + 1, limit)
  }
}

/** Scans the value that fills the range, except for white space around it. `mayRepeat` allows repeated names. */
export function scanWhole(text: string, start: number, end: number, mayRepeat = false): Scan {
  const value = scanValue(text, skipSpace(text, start, end), end, mayRepeat)
  if (!value.ok) return value
  const rest = skipSpace(text, value.end, end)
  return rest === end ? value : scanError(rest, 'unexpected text after the JSON value')
}

interface OpenBracket {
  readonly closer: '}' | ']'
  /** Names of an object so far; undefined for a list. */
  readonly names: Set<string> | undefined
}

/** Scans the value that starts at `start`. */
function scanValue(text: string, start: number, limit: number, mayRepeat = false): Scan {
  /** Open brackets, the innermost last. */
  const open: OpenBracket[] = []
  let position = start
  for (;;) {
    const scalar = scanScalarOrOpen(text, position, limit)
    if (!scalar.ok) return scalar
    position = scalar.end
    if (scalar.opens) {
      if (open.length === MAX_JSON_DEPTH - 1)
        return scanError(position - 1, `nested deeper than ${MAX_JSON_DEPTH} levels`, 'refused')
      const names = scalar.opens === '}' ? new Set<string>() : undefined
      open.push({ closer: scalar.opens, names })
      position = skipSpace(text, position, limit)
      if (position >= limit || text[position] !== scalar.opens) {
        if (!names) continue
        const name = scanName(text, position, limit, names, mayRepeat)
        if (!name.ok) return name
        position = name.valueStart
        continue
      }
    }
    for (;;) {
      const bracket = open.at(-1)
      if (!bracket) return { ok: true, end: position }
      const { closer, names } = bracket
      position = skipSpace(text, position, limit)
      if (position < limit && text[position] === closer) {
        open.pop()
        position++
        continue
      }
      if (position >= limit || text[position] !== ',')
        return unexpectedError(text, position, limit, `"," or "${closer}"`)
      position = skipSpace(text, position + 1, limit)
      if (names) {
        const name = scanName(text, position, limit, names, mayRepeat)
        if (!name.ok) return name
        position = name.valueStart
      }
      break
    }
  }
}

/** Returns the position after white space. */
export function skipSpace(text: string, start: number, limit: number): number {
  let position = start
  while (position < limit && ' \t\n\r'.includes(text.charAt(position))) position++
  return position
}

type ScalarOrOpen = { readonly ok: true; readonly end: number; readonly opens?: '}' | ']' } | ScanError

const WORDS = ['true', 'false', 'null'] as const
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function scanScalarOrOpen(text: string, start: number, limit: number): ScalarOrOpen {
  const first = start < limit ? text[start] : undefined
  if (first === '"') return scanString(text, start, limit)
  if (first === '{') return { ok: true, end: start + 1, opens: '}' }
  if (first === '[') return { ok: true, end: start + 1, opens: ']' }
  const word = WORDS.find((candidate) => text.startsWith(candidate, start) && start + candidate.length <= limit)
  if (word) return { ok: true, end: start + word.length }
  NUMBER.lastIndex = start
  const number = first === undefined ? null : NUMBER.exec(text)
  if (number && start + number[0].length <= limit)
    return Number.isFinite(Number(number[0]))
      ? { ok: true, end: start + number[0].length }
      : scanError(start, 'a number is larger than any that can be represented')
  return unexpectedError(text, start, limit, 'a JSON value')
}

type Name = { readonly ok: true; readonly name: string; readonly end: number; readonly valueStart: number } | ScanError

/** Scans a member name, the colon and the space up to the value, and adds the name to those of its object. */
function scanName(text: string, start: number, limit: number, names: Set<string>, mayRepeat = false): Name {
  if (start >= limit || text[start] !== '"')
    return unexpectedError(text, start, limit, 'a member name in double quotes')
  const scan = scanString(text, start, limit)
  if (!scan.ok) return scan
  const colon = skipSpace(text, scan.end, limit)
  if (colon >= limit || text[colon] !== ':') return unexpectedError(text, colon, limit, '":"')
  const name = JSON.parse(text.slice(start, scan.end)) as string
  if (names.has(name) && !mayRepeat) return scanError(start, describeRepeatedName(name), 'refused')
  names.add(name)
  return { ok: true, name, end: scan.end, valueStart: skipSpace(text, colon + 1, limit) }
}

/** Returns why an object or a call with a repeated name is refused. */
export const describeRepeatedName = (name: string): string => `${JSON.stringify(name)} is given twice`

/** Returns the offset after the closing quote of the string at `start`; after the end of the text, plus one, if it is not closed. */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === BACKSLASH) at++
    else if (code === QUOTE) return at + 1
  }
  return text.length + 1
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const FIRST_PRINTABLE = 0x20

function scanString(text: string, start: number, limit: number): Scan {
  for (let position = start + 1; position < limit; position++) {
    const code = text.charCodeAt(position)
    if (code === QUOTE) return { ok: true, end: position + 1 }
    if (code < FIRST_PRINTABLE)
      return scanError(position, `${visible(text.charAt(position))} inside a string must be escaped`)
    if (code !== BACKSLASH) continue
    const escaped = position + 1 < limit ? text.charAt(position + 1) : ''
    if (escaped === '') break
    if (escaped === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(position + 2, Math.min(position + 6, limit))))
        return scanError(position, '\\u is not followed by four hexadecimal digits')
      position += 5
    } else if ('"\\/bfnrt'.includes(escaped)) position++
    else return scanError(position, `\\${visible(escaped)} is not a JSON escape`)
  }
  return { ok: false, at: limit, why: 'the text ends inside a string', kind: 'inside-string' }
}

function unexpectedError(text: string, at: number, limit: number, expected: string): ScanError {
  return scanError(Math.min(at, limit), describeUnexpected(text, at, limit, expected))
}

/** Describes the text at a position and the text that is expected there. */
export function describeUnexpected(text: string, at: number, limit: number, expected: string): string {
  return at >= limit
    ? `the text ends where ${expected} is expected`
    : `${visible(text.charAt(at))} where ${expected} is expected`
}

/** Creates a scan error. */
export const scanError = (at: number, why: string, kind: ScanError['kind'] = 'syntax'): ScanError => ({
  ok: false,
  at,
  why,
  kind,
})

const NAMED: Readonly<Record<string, string>> = {
  '\n': 'a line break',
  '\r': 'a carriage return',
  '\t': 'a tab',
  ' ': 'a space',
}

function visible(character: string): string {
  const code = character.charCodeAt(0)
  return (
    NAMED[character] ??
    (code < FIRST_PRINTABLE ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}` : `"${character}"`)
  )
}
