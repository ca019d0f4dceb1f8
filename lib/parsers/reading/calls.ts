/** Calls between their own delimiters: where they open, and where a malformed one ends. */

import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { createFinder } from './finder.ts'
import { readCallRuns } from './runs.ts'

/** Searches for a format's delimiters in one text; each returns -1 if there is none. */
export interface DelimiterFinders {
  readonly nextOpen: (from: number) => number
  readonly nextClose: (from: number) => number
}

/** Creates the searches for the delimiters of a format. */
export function createDelimiterFinders(text: string, { open, close }: ToolParser['delimiters']): DelimiterFinders {
  return { nextOpen: createFinder(text, open), nextClose: createFinder(text, close) }
}

/** Reads the calls that open outside of the shielded ranges, each from the end of the call before. */
export const readEachCall = (
  shielded: readonly TextRange[],
  { nextOpen }: DelimiterFinders,
  read: (open: number) => ParsedCall,
): ParsedCall[] =>
  readCallRuns(shielded, nextOpen, (open) => {
    const call = read(open)
    return { calls: [call], end: call.text.end }
  })

/** Why a call could not be parsed. */
export interface CallFault {
  readonly why: string
  readonly at: number
  readonly name?: string | undefined
}

/**
 * Returns a malformed call. It ends after its closing delimiter or where the next call opens, whichever comes first
 * after `from`, so it never contains a good call.
 */
export function malformedCall(
  text: string,
  open: number,
  { why, at, name }: CallFault,
  delimiters: ToolParser['delimiters'],
  end: MalformedEnd,
): MalformedCall {
  const raw = text.slice(open + delimiters.open.length, end.body)
  const range = { start: open, end: end.isClosed ? end.body + delimiters.close.length : end.body }
  return callOfFault({ why, at: Math.min(at, end.body), name }, raw, range)
}

type MalformedCall = Extract<ParsedCall, { kind: 'malformed' }>

/**
 * Returns a malformed call. Both objects are written out, because spreading an optional name takes as long as everything else
 * (bench/computation/parsers.ts).
 */
export const callOfFault = ({ why, at, name }: CallFault, raw: string, text: TextRange): MalformedCall =>
  name === undefined ? { kind: 'malformed', why, at, raw, text } : { kind: 'malformed', name, why, at, raw, text }

interface MalformedEnd {
  /** End of its body. */
  readonly body: number
  /** True if the closing delimiter follows. */
  readonly isClosed: boolean
}

/** Returns where a malformed call ends. */
export function malformedEnd(text: string, from: number, { nextOpen, nextClose }: DelimiterFinders): MalformedEnd {
  const close = nextClose(from)
  const open = nextOpen(from)
  const isClosed = close >= 0 && (open < 0 || close < open)
  return { isClosed, body: isClosed ? close : open < 0 ? text.length : open }
}

/**
 * Returns the offset of the first character from `start` on that ends a name, or the end of the text; `ends` is global.
 */
export function endOfName(text: string, start: number, ends: RegExp): number {
  ends.lastIndex = start
  return ends.exec(text)?.index ?? text.length
}

/** Returns the earlier of two positions; -1 means none. */
export const earlierPosition = (a: number, b: number): number => (a < 0 ? b : b < 0 ? a : Math.min(a, b))
