/**
 * Reads JSON as Python's json.loads does, with NaN and Infinity, and fails with its messages. The caller creates the
 * values. Offsets are UTF-16 units; ranges are half-open.
 */

/** A syntax error in the words of json.loads, with its position. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  /** Line and column, both from 1; the column counts code points. */
  readonly line: number
  readonly column: number
  constructor(message: string, text: string, at: number) {
    super(message)
    const before = text.slice(0, at)
    this.line = before.split('\n').length
    this.column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1
  }
}

/** A member of an object with its key. Its range begins with the key. */
export interface JsonMember<T> {
  readonly key: string
  readonly value: T
  readonly start: number
  readonly end: number
}

/** Creates the values of a text, and says how json.loads is followed. */
export interface JsonValues<T> {
  readonly string: (value: string, start: number, end: number) => T
  /** Creates a number, true, false, null, NaN or an infinity from its spelling. */
  readonly plain: (source: string, start: number, end: number) => T
  readonly array: (items: T[], start: number, end: number) => T
  /** Duplicate keys are all in the list. */
  readonly object: (members: readonly JsonMember<T>[], start: number, end: number) => T
  /** Number of lists and objects around the deepest one, and the message beyond it. */
  readonly depth: number
  readonly tooDeep: string
  /** True for the messages of Python 3.13, which names a trailing comma. */
  readonly namesTrailingCommas: boolean
}

const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity/y

/** A string without escapes: every character but quotes, backslashes and control characters. */
const SIMPLE_STRING = /"[ !#-[\]-\uffff]*"/y

/** Reads a text that is one value, except for white space around it. Throws JsonError. */
export function readJsonAs<T>(text: string, values: JsonValues<T>): T {
  let at = 0
  skipSpace()
  const root = value(0)
  skipSpace()
  return at < text.length ? fail('Extra data') : root

  function fail(message: string, position = at): never {
    throw new JsonError(message, text, position)
  }

  function skipSpace(): void {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      at++
    }
  }

  function value(depth: number): T {
    const start = at
    switch (text[at]) {
      case '{': {
        const members = object(depth)
        return values.object(members, start, at)
      }
      case '[': {
        const items = array(depth)
        return values.array(items, start, at)
      }
      case '"': {
        const read = string()
        return values.string(read, start, at)
      }
    }
    PLAIN.lastIndex = at
    const source = PLAIN.exec(text)?.[0]
    if (source === undefined) return fail('Expecting value')
    at += source.length
    return values.plain(source, start, at)
  }

  function object(depth: number): readonly JsonMember<T>[] {
    const members: JsonMember<T>[] = []
    if (isEmpty('}', depth)) return members
    do {
      const start = at
      if (text[at] !== '"') fail('Expecting property name enclosed in double quotes')
      const key = string()
      skipSpace()
      if (text[at] !== ':') fail("Expecting ':' delimiter")
      at++
      skipSpace()
      members.push({ key, value: value(depth + 1), start, end: at })
    } while (continues('}', 'object'))
    return members
  }

  function array(depth: number): T[] {
    const items: T[] = []
    if (isEmpty(']', depth)) return items
    do items.push(value(depth + 1))
    while (continues(']', 'array'))
    return items
  }

  /** Moves after an opening bracket, and after the closing one if nothing is between them. */
  function isEmpty(closer: string, depth: number): boolean {
    if (depth > values.depth) fail(values.tooDeep)
    at++
    skipSpace()
    if (text[at] !== closer) return false
    at++
    return true
  }

  /** Moves after a comma and returns true, or after the closing bracket. */
  function continues(closer: string, container: string): boolean {
    skipSpace()
    const sign = text[at]
    const comma = at
    if (sign !== ',' && sign !== closer) fail("Expecting ',' delimiter")
    at++
    if (sign === closer) return false
    skipSpace()
    if (values.namesTrailingCommas && text[at] === closer)
      fail(`Illegal trailing comma before end of ${container}`, comma)
    return true
  }

  function string(): string {
    const start = at
    SIMPLE_STRING.lastIndex = start
    if (SIMPLE_STRING.test(text)) {
      at = SIMPLE_STRING.lastIndex
      return text.slice(start + 1, at - 1)
    }
    let end = text.indexOf('"', start + 1)
    while (end !== -1 && backslashesBefore(text, end) % 2 === 1) end = text.indexOf('"', end + 1)
    try {
      const read = JSON.parse(text.slice(start, end === -1 ? text.length : end + 1)) as string
      at = end + 1
      return read
    } catch {
      return fail(...stringProblem(text, start))
    }
  }
}

function backslashesBefore(text: string, end: number): number {
  let start = end
  while (text[start - 1] === '\\') start--
  return end - start
}

/** Returns the first error in a string that JSON.parse refuses, and its position. */
function stringProblem(text: string, start: number): readonly [message: string, at: number] {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) break
    if (code < 0x20) return ['Invalid control character at', at]
    if (code !== 0x5c || at + 1 === text.length) continue
    at++
    const letter = text.charAt(at)
    if (letter === 'u') {
      if (!/^[\da-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) return ['Invalid \\uXXXX escape', at]
      at += 4
    } else if (!'"\\/bfnrt'.includes(letter)) return ['Invalid \\escape', at - 1]
  }
  return ['Unterminated string starting at', start]
}
