/** Shared by pythonic, lfm2 and olmo3: a list of Python calls, whose arguments are named literals. */

import { describeRepeatedName } from '#lib/json/json-scan.ts'
import {
  endOfString,
  type LiteralScan,
  type LiteralWords,
  PYTHON_WORDS,
  scanLiteral,
  skipPythonSpace,
} from '#lib/json/python-literal.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { NamedRange, ParsedCall } from '../parser.ts'
import type { CallFault } from '../reading/calls.ts'
import type { ListReader } from '../reading/lists.ts'
import type { CallRun } from '../reading/runs.ts'

/** Literals of Python and JSON: some templates write nested values as JSON. */
export const PYTHON_AND_JSON_WORDS: LiteralWords = new Map([
  ...PYTHON_WORDS,
  ...['true', 'false', 'null'].map((word) => [word, word] as const),
])

/** Tool names of other systems may contain dashes and dots, which Python names cannot. */
const NAME = /[\p{L}_][\p{L}\p{N}_.-]*/uy
/** Matches the first character of a call. */
export const NAME_START = /[\p{L}_]/u

const NOT_CLOSED = 'the list of calls is not closed'

/** A list that could not be parsed; `readTo` is the offset at which the search for its end stopped. */
type Broken = CallFault & { readonly readTo: number }
/** A list of Python calls, or why it could not be parsed. */
export type PythonList = ({ readonly ok: true } & CallRun) | ({ readonly ok: false } & CallFault)

type Read = (
  text: string,
  start: number,
  words: LiteralWords,
) => Extract<PythonList, { ok: true }> | ({ ok: false } & Broken)

/** Creates a reader of the list whose bracket is at a position; `words` are the literals. */
export const pythonListReader = (text: string, words: LiteralWords): ((open: number) => PythonList) =>
  limitedReader(text, words, readList)

/** Creates a reader of the calls at a position, with a line break or a comma between two. */
export const pythonLinesReader = (text: string, words: LiteralWords): ((start: number) => PythonList) =>
  limitedReader(text, words, readLines)

function limitedReader(text: string, words: LiteralWords, read: Read): (start: number) => PythonList {
  // Unclosed lists are read to the end of the text, so the total work of a parse is limited.
  let reading = 3 * text.length
  return (start) => {
    if (reading <= 0) return { ok: false, why: NOT_CLOSED, at: start }
    const list = read(text, start, words)
    reading -= (list.ok ? list.end : list.readTo) - start
    return list
  }
}

/** Returns a list between two tokens. A text in it that is not closed ends at the next bound, because other calls may follow. */
export function listBetween(
  list: PythonList,
  start: number,
  nextBound: (from: number) => number,
): ReturnType<ListReader> {
  if (list.ok) return list
  const bound = nextBound(start)
  return { ...list, calls: [], from: start, at: bound < 0 ? list.at : Math.min(list.at, bound) }
}

const SEPARATED = /[,\n]/

const readLines: Read = (text, start, words) => {
  const calls: ParsedCall[] = []
  for (let at = start; ; ) {
    const call = readCall(text, at, words)
    if (!('kind' in call)) return { ok: false, ...call }
    calls.push(call)
    const { end } = call.text
    at = skipPythonSpace(text, end)
    if (text[at] === ',') at = skipPythonSpace(text, at + 1)
    if (!SEPARATED.test(text.slice(end, at)) || !NAME_START.test(text[at] ?? '')) return { ok: true, calls, end }
  }
}

const readList: Read = (text, open, words) => {
  const calls: ParsedCall[] = []
  let at = skipPythonSpace(text, open + 1)
  for (;;) {
    const call = readCall(text, at, words)
    if (!('kind' in call)) return { ok: false, ...call }
    calls.push(call)
    at = skipPythonSpace(text, call.text.end)
    if (text[at] === ',') at = skipPythonSpace(text, at + 1)
    else if (text[at] !== ']') return { ok: false, why: NOT_CLOSED, at, readTo: at, name: call.name }
    if (text[at] === ']') return { ok: true, calls, end: at + 1 }
  }
}

/** Returns the call at a position, or a fault if not even its end was found. */
function readCall(text: string, start: number, words: LiteralWords): ParsedCall | Broken {
  NAME.lastIndex = start
  const name = NAME.exec(text)?.[0]
  if (name === undefined) return { why: 'expected the name of a call', at: start, readTo: start }
  const nameText = { start, end: start + name.length }
  let at = skipPythonSpace(text, nameText.end)
  if (text[at] !== '(') return { why: 'expected "("', at, readTo: at, name }
  at = skipPythonSpace(text, at + 1)
  const named = new Map<string, NamedRange>()
  const members: string[] = []
  let fault: CallFault | undefined
  while (text[at] !== ')') {
    const argument = readArgument(text, at, named, words)
    if (argument.ok) {
      named.set(argument.range.name, argument.range)
      members.push(`${JSON.stringify(argument.range.name)}: ${argument.json}`)
      at = skipPythonSpace(text, argument.range.text.end)
    } else {
      fault ??= argument
      if (argument.kind === 'syntax') return { why: argument.why, at: argument.at, readTo: argument.at, name }
      const end = endOfExpression(text, at)
      if (end < 0) return { why: NOT_CLOSED, at: argument.at, readTo: text.length, name }
      at = end
    }
    if (text[at] === ',') at = skipPythonSpace(text, at + 1)
  }
  const range = { start, end: at + 1 }
  const place = { raw: text.slice(start, at + 1), text: range }
  if (fault) return { kind: 'malformed', name, why: fault.why, at: fault.at, ...place }
  const input = JSON.parse(`{${members.join(', ')}}`) as Record<string, unknown>
  return { kind: 'parsed', name, nameText, ignored: [], input, arguments: [...named.values()], ...place }
}

type Argument =
  | { readonly ok: true; readonly range: NamedRange; readonly json: string }
  | Extract<LiteralScan, { ok: false }>

const KEYWORD = /([\p{L}_][\p{L}\p{N}_]*)[ \t\n\r\f]*=(?!=)/uy

function readArgument(
  text: string,
  start: number,
  before: ReadonlyMap<string, NamedRange>,
  words: LiteralWords,
): Argument {
  const refused = (why: string, at: number): Argument => ({ ok: false, why, at, kind: 'value' })
  KEYWORD.lastIndex = start
  const keyword = KEYWORD.exec(text)
  if (!keyword) return refused('an argument has no name', start)
  const name = elementAt(keyword, 1)
  if (before.has(name)) return refused(describeRepeatedName(name), start)
  const valueStart = skipPythonSpace(text, KEYWORD.lastIndex)
  const value = scanLiteral(text, valueStart, words)
  if (!value.ok) return { ...value, why: `${JSON.stringify(name)}: ${value.why}` }
  const behind = skipPythonSpace(text, value.end)
  if (text[behind] !== ',' && text[behind] !== ')')
    return refused(`${JSON.stringify(name)} is not a literal: its expression continues`, behind)
  const key = { start, end: start + name.length }
  return { ok: true, range: { name, key, text: { start: valueStart, end: value.end } }, json: value.json }
}

const STOP = /"""|'''|["'()[\]{},]/g

/** Returns the comma or bracket that ends an expression, or -1. */
function endOfExpression(text: string, start: number): number {
  let depth = 0
  STOP.lastIndex = start
  for (let stop = STOP.exec(text); stop; stop = STOP.exec(text)) {
    const [found] = stop
    if (found.startsWith('"') || found.startsWith("'")) {
      const end = endOfString(text, STOP.lastIndex, found)
      if (end < 0) return -1
      STOP.lastIndex = end + found.length
    } else if ('([{'.includes(found)) depth++
    else if (depth === 0) return found === ',' || found === ')' ? stop.index : -1
    else if (found !== ',') depth--
  }
  return -1
}
