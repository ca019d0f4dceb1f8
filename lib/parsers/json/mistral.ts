/**
 * Mistral: `[TOOL_CALLS] [{"name": …, "arguments": {…}, "id": …}, …]`; newer models write `[TOOL_CALLS]NAME[ARGS]{…}`
 * for each call, some with `[CALL_ID]ID` before the arguments. `[ARGS]` may be missing before an object, because vLLM reads that too. Ids
 * have nine letters or digits, because the templates refuse others.
 */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { CallMarkup, ParsedCall, PlacedCall, TextRange, ToolParser } from '../parser.ts'
import { earlierPosition, endOfName } from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import { type CompleteObject, createObjectReader } from '../reading/json-body.ts'
import { brokenList, jsonListReader } from '../reading/lists.ts'
import { jsonAt } from '../reading/named-call.ts'
import { brokenCall, objectCall } from '../reading/object-call.ts'
import { type CallRun, markupOfRuns, readCallRuns } from '../reading/runs.ts'

const delimiters = { open: '[TOOL_CALLS]', close: '' } as const
const ARGUMENTS = '[ARGS]'
const CALL_ID = '[CALL_ID]'
const SPELLING = { arguments: ['arguments', 'parameters'], id: 'id' } as const
const ID = /^[a-zA-Z0-9]{9}$/
/** Ends a turn, and so a malformed call. */
const TURN_END = '</s>'

/** Parser of Mistral. */
export const mistral: ToolParser = { name: 'mistral', sglangNames: ['mistral'], delimiters, parse, markup }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const nextOpen = createFinder(text, delimiters.open)
  const nextTurnEnd = createFinder(text, TURN_END)
  const nextBound = (from: number) => earlierPosition(nextOpen(from), nextTurnEnd(from))
  const readList = jsonListReader(text, nextBound, calledIn)
  const readArguments = createObjectReader(text, nextBound, `what follows ${ARGUMENTS}`)
  return readCallRuns(shielded, nextOpen, (open) => {
    const start = skipSpace(text, open + delimiters.open.length, text.length)
    const isList = text[start] === '[' && !text.startsWith(delimiters.open, start)
    if (!isList) return readCompact(open, start)
    const list = readList(start)
    if (list.ok) return list
    const bound = nextBound(list.at)
    return brokenList(text, open, list, bound < 0 ? text.length : bound)
  })

  function readCompact(open: number, start: number): CallRun {
    const nameEnd = endOfName(text, start, NAME_END)
    const name = text.slice(start, nameEnd)
    const fault = (why: string, at: number): CallRun => {
      const bound = nextBound(at)
      const end = bound < 0 ? text.length : bound
      const called = name === '' ? undefined : name
      return { calls: [brokenCall(text, { start: open, end }, { why, at, name: called })], end }
    }
    if (name === '') return fault('neither a list of calls nor a name follows', start)
    let at = skipSpace(text, nameEnd, text.length)
    let id: string | undefined
    if (text.startsWith(CALL_ID, at)) {
      const idEnd = endOfName(text, at + CALL_ID.length, NAME_END)
      id = text.slice(at + CALL_ID.length, idEnd)
      at = skipSpace(text, idEnd, text.length)
    }
    const hasMark = text.startsWith(ARGUMENTS, at)
    if (!hasMark && text[at] !== '{') return fault(describeUnexpected(text, at, text.length, ARGUMENTS), at)
    const bodyStart = hasMark ? skipSpace(text, at + ARGUMENTS.length, text.length) : at
    const scan = readArguments(bodyStart, () => true)
    if (!scan.ok) return fault(scan.why, scan.at)
    const call: ParsedCall = {
      kind: 'parsed',
      name,
      nameText: { start, end: nameEnd },
      ignored: [],
      input: JSON.parse(text.slice(bodyStart, scan.end)) as Record<string, unknown>,
      arguments: scan.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
      raw: text.slice(open + delimiters.open.length, scan.end),
      text: { start: open, end: scan.end },
      ...(id !== undefined && ID.test(id) && { writtenId: id }),
    }
    return { calls: [call], end: scan.end }
  }
}

const NAME_END = /[[{<\s]/g

function calledIn(text: string, start: number, object: CompleteObject): ParsedCall {
  const { call, id } = objectCall(text, start, object, SPELLING)
  if (call.kind === 'malformed' || !id) return call
  const written = jsonAt(text, id)
  return typeof written === 'string' && ID.test(written)
    ? { ...call, writtenId: written }
    : { ...call, ignored: [...call.ignored, { start: id.key.start, end: id.value.end }] }
}

function markup(text: string, calls: readonly PlacedCall[], shielded: readonly TextRange[]): readonly CallMarkup[] {
  const opens = Array.from(text.matchAll(/\[TOOL_CALLS\][ \t\n\r]*\[[ \t\n\r]*/g), ({ 0: tag, index }) => ({
    start: index,
    end: index + tag.length,
  }))
  const between = /[ \t\n\r]*,[ \t\n\r]*/y
  return markupOfRuns(calls, shielded, text, { opens, between, close: /[ \t\n\r]*\]/y, mayBeEmpty: true })
}
