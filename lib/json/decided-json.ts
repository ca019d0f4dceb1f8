/** Reads a JSON text that is still growing: what of its compact form no further text can change. */
import { skipSpace, stringEnd } from './json-scan.ts'

/** The beginning of a value. */
export interface DecidedJson {
  /** Beginning of the value without spaces, as JSON.stringify writes it except that numbers and the order of names stay; all of it at its end. */
  readonly json: string
  /** Offset after the value. Undefined: it has not ended, or it cannot be read further. */
  readonly end: number | undefined
}

/** Reads the object or list at a position. A repeated name ends the reading. */
export function decidedJson(text: string, start: number): DecidedJson {
  let json = ''
  let at = start
  /** For each open container: the names so far, or undefined in a list. */
  const open: (Set<string> | undefined)[] = []
  let expectsName = false
  const undecided = (): DecidedJson => ({ json, end: undefined })
  for (;;) {
    at = skipSpace(text, at, text.length)
    const character = text[at]
    if (character === undefined) return undecided()
    if ('{[}],:'.includes(character)) {
      json += character
      at++
      if (character === '{' || character === '[') open.push(character === '{' ? new Set() : undefined)
      if (character === '}' || character === ']') open.pop()
      if (open.length === 0) return { json, end: at }
      expectsName = (character === '{' || character === ',') && open.at(-1) !== undefined
      continue
    }
    const isText = character === '"'
    const end = isText ? stringEnd(text, at) : endOfScalar(text, at)
    const isWhole = isText ? end <= text.length : end < text.length
    if (!isWhole)
      return isText && !expectsName ? { json: json + decidedText(text.slice(at)), end: undefined } : undecided()
    const value = parsed(text.slice(at, end))
    if (value === undefined) return undecided()
    const names = open.at(-1)
    if (expectsName && names) {
      if (typeof value !== 'string' || names.has(value)) return undecided()
      names.add(value)
    }
    // A number of JavaScript would lose digits, and the point of 1.0.
    json += isText ? JSON.stringify(value) : text.slice(at, end)
    at = end
  }
}

const SCALAR = /[^\s,:[\]{}"]*/y

function endOfScalar(text: string, start: number): number {
  SCALAR.lastIndex = start
  SCALAR.test(text)
  return SCALAR.lastIndex
}

/** Returns the value of a text or a scalar; undefined if it is not JSON. */
function parsed(written: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    return undefined
  }
}

/** Whole characters and escapes. */
const WHOLE_CHARACTERS = /^"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/u

/** Returns the beginning of a text that is not closed. A high surrogate may become a character with what follows. */
function decidedText(written: string): string {
  const value = JSON.parse(`${WHOLE_CHARACTERS.exec(written)?.[0] ?? '"'}"`) as string
  return JSON.stringify(value.replace(/[\uD800-\uDBFF]$/, '')).slice(0, -1)
}
