/** JSON objects in a text: between delimiters, as in most formats, or up to a bound. */

import { type ObjectScan, type ScanError, scanError, scanObject, skipSpace } from '#lib/json/json-scan.ts'
import { type DelimiterFinders, malformedEnd } from './calls.ts'

type Body<Scanned> =
  | (Scanned & {
      readonly start: number
      /** Offset of the closing delimiter. */
      readonly close: number
    })
  | {
      readonly ok: false
      /** Where parsing failed; the search for the end of the call starts here. */
      readonly at: number
      readonly why: string
    }

/** A value that was read completely, up to `end`. */
interface CompleteValue {
  readonly ok: true
  readonly end: number
}

/** Reads the value at a position, no further than `limit`. */
type Scanner<Scanned> = (start: number, limit: number) => Scanned | ScanError

/** A complete JSON object. */
export type CompleteObject = Extract<ObjectScan, { ok: true }>

/** Reads the object at `start` and finds the closing delimiter after it. */
export type JsonBodyReader = (start: number) => Body<CompleteObject>

/** Creates a reader; `what` names the object in errors, for example "the call". */
export const createJsonBodyReader = (
  text: string,
  closer: string,
  finders: DelimiterFinders,
  what: string,
): JsonBodyReader => createBodyReader(text, closer, finders, createJsonScanner(text, what), 'the JSON')

/** Creates a reader of any scanned value; `what` names it in errors about text after it. */
export function createBodyReader<Scanned extends CompleteValue>(
  text: string,
  closer: string,
  finders: DelimiterFinders,
  scan: Scanner<Scanned>,
  what: string,
): (start: number) => Body<Scanned> {
  const read = createBoundedReader(text, finders.nextClose, scan)
  return (start) => {
    const found = read(start, (longer) => findCloser(longer).ok)
    if (!found.ok) return { ok: false, at: found.at, why: found.why }
    const end = findCloser(found)
    return end.ok ? { ...found, start: skipSpace(text, start, found.end), close: end.close } : end
  }

  function findCloser({ end }: CompleteValue) {
    const close = skipSpace(text, end, text.length)
    if (text.startsWith(closer, close)) return { ok: true as const, close }
    const { isClosed } = malformedEnd(text, end, finders)
    const why = isClosed
      ? `unexpected text between ${what} and ${closer}`
      : `the call is not closed: no ${closer} follows`
    return { ok: false as const, at: end, why }
  }
}

/** Creates a reader of the object at a position, up to the next bound. */
export const createObjectReader = (
  text: string,
  nextBound: (from: number) => number,
  what: string,
): ((start: number, accepts: (longer: CompleteObject) => boolean) => ObjectScan) =>
  createBoundedReader(text, nextBound, createJsonScanner(text, what))

/**
 * Creates a reader up to the next bound. A string that is cut at the bound may continue: the bound is then part of the string, if the
 * longer value is accepted.
 */
function createBoundedReader<Scanned extends CompleteValue>(
  text: string,
  nextBound: (from: number) => number,
  scan: Scanner<Scanned>,
): (start: number, accepts: (longer: Scanned) => boolean) => Scanned | ScanError {
  // Reading past a bound costs the length of the remaining text, so all calls of a parse share a number of characters.
  let remainingCharacters = 2 * text.length
  return (start, accepts) => {
    const bound = nextBound(start)
    const found = scan(start, bound < 0 ? text.length : bound)
    if (found.ok || found.kind !== 'inside-string') return found
    if (bound >= 0 && remainingCharacters > 0) {
      const longer = scan(start, text.length)
      remainingCharacters -= (longer.ok ? longer.end : longer.at) - bound
      if (longer.ok && accepts(longer)) return longer
    }
    return { ...found, why: 'a string is not closed' }
  }
}

const createJsonScanner =
  (text: string, what: string): Scanner<CompleteObject> =>
  (start, limit) => {
    const brace = skipSpace(text, start, limit)
    if (brace < limit && text[brace] === '{') return scanObject(text, brace, limit)
    const why =
      brace < limit ? `${what} is not a JSON object: it starts with ${JSON.stringify(text[brace])}` : `${what} is empty`
    return scanError(brace, why)
  }
