/** Calls between delimiters of their own: where they open, and where one ends that could not be read. */

import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { finder } from './finder.ts'
import { runsIn } from './runs.ts'

/** The places of a format's delimiters in one text. */
export interface Marks {
  readonly nextOpen: (from: number) => number
  readonly nextClose: (from: number) => number
}

export function marksIn(text: string, { open, close }: ToolParser['delimiters']): Marks {
  return { nextOpen: finder(text, open), nextClose: finder(text, close) }
}

/** Reads the calls that open outside the shielded ranges, each from where the one before has ended. */
export const callsIn = (
  shielded: readonly TextRange[],
  { nextOpen }: Marks,
  read: (open: number) => ParsedCall,
): ParsedCall[] =>
  runsIn(shielded, nextOpen, (open) => {
    const call = read(open)
    return { calls: [call], end: call.text.end }
  })

export interface Fault {
  readonly why: string
  readonly at: number
  readonly name?: string | undefined
}

/**
 * A call that could not be read. It ends behind its closing delimiter, or where the next call opens, whichever comes
 * first from `from` on: it must not swallow a good call.
 */
export function malformedCall(
  text: string,
  open: number,
  { why, at, name }: Fault,
  delimiters: ToolParser['delimiters'],
  end: MalformedEnd,
): MalformedCall {
  const raw = text.slice(open + delimiters.open.length, end.body)
  const range = { start: open, end: end.isClosed ? end.body + delimiters.close.length : end.body }
  return malformed({ why, at: Math.min(at, end.body), name }, raw, range)
}

type MalformedCall = Extract<ParsedCall, { kind: 'malformed' }>

/** Written out: spreading a name that may be missing takes as long as all the rest (bench/parsers.ts). */
export const malformed = ({ why, at, name }: Fault, raw: string, text: TextRange): MalformedCall =>
  name === undefined ? { kind: 'malformed', why, at, raw, text } : { kind: 'malformed', name, why, at, raw, text }

interface MalformedEnd {
  /** Where its body ends. */
  readonly body: number
  /** Whether the closing delimiter follows there. */
  readonly isClosed: boolean
}

export function malformedEnd(text: string, from: number, { nextOpen, nextClose }: Marks): MalformedEnd {
  const close = nextClose(from)
  const open = nextOpen(from)
  const isClosed = close >= 0 && (open < 0 || close < open)
  return { isClosed, body: isClosed ? close : open < 0 ? text.length : open }
}

/** The offset of the first character from `start` on that ends a name; `ends` is global. The end of the text is one. */
export function endOfName(text: string, start: number, ends: RegExp): number {
  ends.lastIndex = start
  return ends.exec(text)?.index ?? text.length
}

/** The earlier of two places; -1 for none. */
export const earlier = (a: number, b: number): number => (a < 0 ? b : b < 0 ? a : Math.min(a, b))
