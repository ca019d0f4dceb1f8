/**
 * Pythonic, the format of Llama 4: `[f(a=1, b="x"), g()]`, a list of calls whose arguments are named literals. A list
 * on its own line is intended as calls, and malformed if it is broken; within a line only a valid one counts.
 */

import { PYTHON_WORDS } from '#lib/json/python-literal.ts'
import type { CallMarkup, ParsedCall, PlacedCall, TextRange, ToolParser } from '../parser.ts'
import { type CallFault, callOfFault } from '../reading/calls.ts'
import { type CallRun, markupOfRuns, readCallRuns } from '../reading/runs.ts'
import { pythonListReader } from './python-calls.ts'

const delimiters = { open: '[', close: '' } as const

/** Parser of pythonic calls. */
export const pythonic: ToolParser = { name: 'pythonic', sglangNames: ['pythonic'], delimiters, parse, markup }

const OPEN = /\[[ \t\n\r\f]*[\p{L}_][\p{L}\p{N}_.-]*[ \t]*\(/gu

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const readList = pythonListReader(text, PYTHON_WORDS)
  const nextOpen = (from: number) => {
    OPEN.lastIndex = from
    return OPEN.exec(text)?.index ?? -1
  }
  return readCallRuns(shielded, nextOpen, (open): CallRun => {
    const list = readList(open)
    const isMeant = standsAlone(text, open, shielded)
    if (list.ok && (isMeant || list.calls.some(({ kind }) => kind === 'parsed'))) return list
    return isMeant && !list.ok ? brokenList(text, open, list) : { calls: [], end: open + 1 }
  })
}

/** Returns whether only white space, or the token that opens calls, precedes a position on its line. */
function standsAlone(text: string, open: number, shielded: readonly TextRange[]): boolean {
  let at = open
  while (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) at--
  return (
    at === 0 || text[at - 1] === '\n' || text.endsWith('<|python_start|>', at) || shielded.some(({ end }) => end === at)
  )
}

/** Returns one malformed call, up to the last bracket of its line or the line's end. */
function brokenList(text: string, open: number, { why, at, name }: CallFault): CallRun {
  LINE_END.lastIndex = at
  const lineEnd = LINE_END.exec(text)?.index ?? text.length
  const bracket = text.slice(at, lineEnd).lastIndexOf(']')
  const end = bracket < 0 ? Math.max(lineEnd, open + 1) : at + bracket + 1
  const raw = text.slice(open + 1, end)
  const call = callOfFault({ why, at, name }, raw, { start: open, end })
  return { calls: [call], end }
}

const LINE_END = /\n|<\|/g

function markup(text: string, calls: readonly PlacedCall[], shielded: readonly TextRange[]): readonly CallMarkup[] {
  const space = '[ \\t\\n\\r\\f]*'
  const opens = Array.from(
    text.matchAll(new RegExp(`(?:<\\|python_start\\|>)?\\[${space}`, 'g')),
    ({ 0: tag, index }) => ({ start: index, end: index + tag.length }),
  )
  return markupOfRuns(calls, shielded, text, {
    opens,
    between: new RegExp(`${space},${space}`, 'y'),
    close: new RegExp(`${space},?${space}\\](?:<\\|python_end\\|>)?`, 'y'),
    mayBeEmpty: false,
  })
}
