/** Formats whose calls are in a run after one opening: a list, or consecutive objects. */

import { elementAt } from '#lib/util/element-at.ts'
import type { CallMarkup, ParsedCall, PlacedCall, TextRange } from '../parser.ts'
import { createRangeCheck } from './within.ts'

/**
 * Reads the runs that open outside of the shielded ranges, each from the end of the run before. Calls that begin in a
 * shielded range are ignored.
 */
export function readCallRuns(
  shielded: readonly TextRange[],
  nextOpen: (from: number) => number,
  read: (open: number) => CallRun,
): ParsedCall[] {
  const calls: ParsedCall[] = []
  const isShielded = createRangeCheck(shielded)
  let shield = 0
  for (let open = nextOpen(0); open >= 0; ) {
    while ((shielded[shield]?.end ?? Infinity) <= open) shield++
    const block = shielded[shield]
    if (block && block.start <= open) {
      open = nextOpen(block.end)
      continue
    }
    const run = read(open)
    for (const call of run.calls) if (!isShielded(call.text.start)) calls.push(call)
    open = nextOpen(run.end)
  }
  return calls
}

/** A run of calls. */
export interface CallRun {
  readonly calls: readonly ParsedCall[]
  /** A position after its opening. */
  readonly end: number
}

interface RunMarkup {
  /** Possible openings of a run in order. An empty range is a position where one may begin without a mark. */
  readonly opens: readonly TextRange[]
  /** Text between two calls and after the last; sticky. */
  readonly between: RegExp
  /** Omitted if nothing closes a run. */
  readonly close?: RegExp
  /** True if an opening may have no calls. */
  readonly mayBeEmpty: boolean
}

/** Returns the markup around the calls of its runs. */
export function markupOfRuns(
  calls: readonly PlacedCall[],
  shielded: readonly TextRange[],
  text: string,
  { opens, between, close, mayBeEmpty }: RunMarkup,
): readonly CallMarkup[] {
  const isShielded = createRangeCheck(shielded)
  // Positions are checked in the order of the text.
  const isGapShielded = createRangeCheck(shielded)
  const isInCall = createRangeCheck(calls.map((call) => call.text))
  const markup: CallMarkup[] = []
  let next = 0
  for (const open of opens) {
    while ((calls[next]?.text.end ?? Infinity) <= open.start) next++
    if (isShielded(open.start) || (open.end > open.start && isInCall(open.start))) continue
    const first = calls[next]?.text
    if (first?.start !== open.end && !mayBeEmpty) continue
    if (open.end > open.start) markup.push({ ...open, kind: 'open' })
    let at = open.end
    while (calls[next]?.text.start === at) {
      at = elementAt(calls, next).text.end
      next++
      const gap = matchEnd(between, text, at)
      if (gap === undefined || calls[next]?.text.start !== gap) break
      if (gap > at && !isGapShielded(at)) markup.push({ kind: 'between', start: at, end: gap })
      at = gap
    }
    const end = close && matchEnd(close, text, at)
    if (end !== undefined && !isGapShielded(at)) markup.push({ kind: 'close', start: at, end })
  }
  return markup
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Marks a call of an invalid run as malformed. */
export function refuseCall(call: ParsedCall, why: string): ParsedCall {
  if (call.kind === 'malformed') return call
  const { name, raw, text, writtenId } = call
  return { kind: 'malformed', name, raw, text, ...(writtenId !== undefined && { writtenId }), why, at: text.start }
}
