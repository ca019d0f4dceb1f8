/** Calls in a list: of JSON objects, or between two tokens in any notation. */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { CallMarkup, ParsedCall, PlacedCall, TextRange, ToolParser } from '../parser.ts'
import { type CallFault, earlierPosition } from './calls.ts'
import { createFinder } from './finder.ts'
import { type CompleteObject, createObjectReader } from './json-body.ts'
import { brokenCall } from './object-call.ts'
import { type CallRun, markupOfRuns, readCallRuns, refuseCall } from './runs.ts'

/** A broken list; `from` is the offset at which it stops being a list, after some calls. */
type BrokenList = CallFault & { readonly calls: readonly ParsedCall[]; readonly from: number }
type List = ({ readonly ok: true } & CallRun) | ({ readonly ok: false } & BrokenList)

/** Accepts every object, because a delimiter of the format may occur in any string of a list. */
const anyObject = () => true

/** Reads the list whose bracket is at a position. */
export type ListReader = (bracket: number) => List

/** Creates a reader of JSON lists; `called` returns the call of an object. */
export function jsonListReader(
  text: string,
  nextBound: (from: number) => number,
  called: (text: string, start: number, object: CompleteObject) => ParsedCall,
): ListReader {
  const read = createObjectReader(text, nextBound, 'the call')
  return (bracket) => {
    const calls: ParsedCall[] = []
    let start = skipSpace(text, bracket + 1, text.length)
    if (text[start] === ']') return { ok: true, calls, end: start + 1 }
    for (;;) {
      const scan = read(start, anyObject)
      if (!scan.ok) return { ok: false, calls, from: start, why: scan.why, at: scan.at }
      calls.push(called(text, start, scan))
      const next = skipSpace(text, scan.end, text.length)
      if (text[next] === ']') return { ok: true, calls, end: next + 1 }
      if (text[next] !== ',')
        return {
          ok: false,
          calls,
          from: next,
          why: describeUnexpected(text, next, text.length, '"," or "]"'),
          at: next,
        }
      start = skipSpace(text, next + 1, text.length)
    }
  }
}

/** Creates a reader of consecutive objects without brackets, at most `most` of them. */
export function jsonLinesReader(
  text: string,
  nextBound: (from: number) => number,
  called: (text: string, start: number, object: CompleteObject) => ParsedCall,
  most = Number.POSITIVE_INFINITY,
): ListReader {
  const read = createObjectReader(text, nextBound, 'the call')
  return (start) => {
    const calls: ParsedCall[] = []
    for (let at = start; ; ) {
      const scan = read(at, anyObject)
      if (!scan.ok) return { ok: false, calls, from: at, why: scan.why, at: scan.at }
      calls.push(called(text, at, scan))
      at = skipSpace(text, scan.end, text.length)
      if (text[at] !== '{' || calls.length === most) return { ok: true, calls, end: scan.end }
    }
  }
}

/** Returns the run of a broken list. A list is one value: if it is broken, none of its calls counts. The malformed part ends at `end`. */
export function brokenList(
  text: string,
  open: number,
  { calls: read, from, ...fault }: BrokenList,
  end: number,
): CallRun {
  const start = read.length === 0 ? open : from
  const calls = read.map((call) => refuseCall(call, `the list of calls could not be parsed: ${fault.why}`))
  return end > start
    ? { calls: [...calls, brokenCall(text, { start, end }, fault)], end }
    : { calls, end: Math.max(end, start) }
}

interface ListFormat extends Pick<ToolParser, 'name' | 'sglangNames'> {
  readonly open: string
  /** Text before the list, after optional white space. */
  readonly fence?: string
  readonly close: string
  /** Matches the first character of a list without brackets. Omitted: the brackets are required. */
  readonly bareStart?: RegExp
  /** True if `close` is optional: the list ends with its bracket. */
  readonly mayBeUnclosed?: boolean
  /** True if `open` also occurs without a list: it opens one only before a bracket. */
  readonly opensWithWord?: boolean
  /** `nextBound` returns where the next list opens or this one is closed. */
  readonly reader: (text: string, nextBound: (from: number) => number) => ListReader
}

/** Creates the parser of a format whose calls are in one list between two tokens. */
export function listParser({
  open,
  fence = '',
  close,
  bareStart,
  mayBeUnclosed = false,
  opensWithWord = false,
  reader,
  ...names
}: ListFormat): ToolParser {
  const before = `${open}${fence === '' ? '' : '[ \\t\\n\\r]*'}${fence}`.replaceAll('|', '\\|')
  const opening = opensWithWord ? `${before}(?=${SPACE}\\[)` : before
  return { ...names, delimiters: { open, close: '', section: { open, close } }, parse, markup }

  function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
    const nextOpen = createFinder(text, opening === open ? open : new RegExp(opening, 'g'))
    const nextClose = createFinder(text, close)
    const nextBound = (from: number) => earlierPosition(nextOpen(from), nextClose(from))
    const read = reader(text, nextBound)
    return readCallRuns(shielded, nextOpen, (at): CallRun => {
      const start = skipSpace(text, at + open.length, text.length) + fence.length
      const list = readClosed(skipSpace(text, start, text.length))
      if (list.ok) return list
      const bound = nextBound(Math.max(list.at, start))
      const end = bound < 0 ? text.length : bound === nextClose(bound) ? bound + close.length : bound
      return brokenList(text, at, list, end)
    })

    function readClosed(bracket: number): List {
      if (text[bracket] !== '[' && !bareStart?.test(text[bracket] ?? '')) {
        const why = describeUnexpected(text, bracket, text.length, 'the list of calls')
        return { ok: false, calls: [], from: bracket, why, at: bracket }
      }
      const list = read(bracket)
      if (!list.ok) return list
      const end = skipSpace(text, list.end, text.length)
      if (text.startsWith(close, end)) return { ok: true, calls: list.calls, end: end + close.length }
      if (mayBeUnclosed) return list
      return {
        ok: false,
        calls: list.calls,
        from: list.end,
        why: describeUnexpected(text, end, text.length, close),
        at: end,
      }
    }
  }

  function markup(text: string, calls: readonly PlacedCall[], shielded: readonly TextRange[]): readonly CallMarkup[] {
    const closing = close.replaceAll('|', '\\|')
    const maybe = bareStart ? '?' : ''
    const bracket = `${SPACE}(?:,${SPACE})?(?:\\])${maybe}`
    const tag = `${SPACE}${closing}`
    const end = !mayBeUnclosed ? bracket + tag : bareStart ? `(?:${bracket}${tag})?` : `${bracket}(?:${tag})?`
    const head = new RegExp(`${opening}${SPACE}(?:\\[${SPACE})${maybe}`, 'g')
    const opens = Array.from(text.matchAll(head), ({ 0: tag, index }) => ({
      start: index,
      end: index + tag.length,
    }))
    return markupOfRuns(calls, shielded, text, {
      opens,
      between: new RegExp(`${SPACE}(?:,${SPACE})${maybe}`, 'y'),
      close: new RegExp(end, 'y'),
      mayBeEmpty: true,
    })
  }
}

const SPACE = '[ \\t\\n\\r\\f]*'
