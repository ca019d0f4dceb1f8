/**
 * Kimi K2: `<|tool_call_begin|>functions.NAME:INDEX<|tool_call_argument_begin|>{…}<|tool_call_end|>`, any number of them in
 * a section. The id is the model's own: its template prints it above the result of the call.
 */
import { callsIn, endOfName, type Marks, malformedCall, malformedEnd, marksIn } from './calls.ts'
import { finder } from './finder.ts'
import { type JsonBodyReader, jsonBodyReader } from './json-body.ts'
import { skipSpace, whatStands } from './json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from './parser.ts'
import { within } from './within.ts'

const ARGUMENTS = '<|tool_call_argument_begin|>'
const section = { open: '<|tool_calls_section_begin|>', close: '<|tool_calls_section_end|>' } as const
const delimiters = { open: '<|tool_call_begin|>', close: '<|tool_call_end|>', section } as const

export const kimiK2: ToolParser = { name: 'kimi_k2', delimiters, parse }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const { nextOpen, nextClose } = marksIn(text, delimiters)
  const nextSectionEnd = finder(text, section.close)
  // A call that is not closed ends with its section too.
  const marks = { nextClose, nextOpen: (from: number) => earlier(nextOpen(from), nextSectionEnd(from)) }
  const read = jsonBodyReader(text, delimiters.close, marks, 'what follows the id')
  const calls = callsIn(shielded, { nextOpen, nextClose }, (open) => readCall(text, open, read, marks))
  return inSections(text, calls, shielded)
}

const ID_END = /[<\s]/g
const PREFIX = 'functions.'
const INDEX = /:\d+$/

function readCall(text: string, open: number, read: JsonBodyReader, marks: Marks): ParsedCall {
  const idStart = skipSpace(text, open + delimiters.open.length, text.length)
  const id = text.slice(idStart, endOfName(text, idStart, ID_END))
  const name = nameIn(id)
  const nameStart = idStart + (id.startsWith(PREFIX) ? PREFIX.length : 0)
  const writtenId = id !== '' && { writtenId: id }
  const fault = (why: string, at: number): ParsedCall => ({
    ...malformedCall(text, open, { why, at, ...(name !== '' && { name }) }, delimiters, malformedEnd(text, at, marks)),
    ...writtenId,
  })
  if (id === '') return fault('the call has no id', idStart)
  if (name === '') return fault(`the id ${JSON.stringify(id)} names no tool`, idStart)
  const argumentsAt = skipSpace(text, idStart + id.length, text.length)
  if (!text.startsWith(ARGUMENTS, argumentsAt))
    return fault(whatStands(text, argumentsAt, text.length, ARGUMENTS), argumentsAt)
  const body = read(argumentsAt + ARGUMENTS.length)
  if (!body.ok) return fault(body.why, body.at)
  return {
    kind: 'parsed',
    name,
    nameText: { start: nameStart, end: nameStart + name.length },
    ignored: [],
    input: JSON.parse(text.slice(body.start, body.close)) as Record<string, unknown>,
    arguments: body.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
    raw: text.slice(open + delimiters.open.length, body.close),
    text: { start: open, end: body.close + delimiters.close.length },
    ...writtenId,
  }
}

/** Without the prefix and the number that ids have. */
const nameIn = (id: string): string => (id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id).replace(INDEX, '')

const SECTION = /<\|tool_calls_section_(begin|end)\|>/g

/** Calls that stand in no section, or in one that is not closed, are malformed. */
function inSections(text: string, calls: readonly ParsedCall[], shielded: readonly TextRange[]): readonly ParsedCall[] {
  const isInCall = within(calls.map((call) => call.text))
  const isShielded = within(shielded)
  const tags = Array.from(text.matchAll(SECTION), ({ index, 1: kind }) => ({ index, kind })).filter(
    ({ index }) => !isInCall(index) && !isShielded(index),
  )
  const settled: ParsedCall[] = []
  /** Number of the first call of the section that is open. */
  let firstCall: number | undefined
  const leaveOpen = () => {
    for (let index = firstCall ?? settled.length; index < settled.length; index++)
      settled[index] = refused(settled[index] as ParsedCall, `the section is not closed: no ${section.close} follows`)
  }
  let next = 0
  const readTags = (until: number) => {
    for (let tag = tags[next]; tag && tag.index < until; tag = tags[++next]) {
      if (tag.kind === 'begin') leaveOpen()
      firstCall = tag.kind === 'begin' ? settled.length : undefined
    }
  }
  for (const call of calls) {
    readTags(call.text.start)
    settled.push(
      firstCall === undefined ? refused(call, `the call stands in no section: ${section.open} is missing`) : call,
    )
  }
  readTags(text.length)
  leaveOpen()
  return settled
}

function refused(call: ParsedCall, why: string): ParsedCall {
  if (call.kind === 'malformed') return call
  const { name, raw, text, writtenId } = call
  return { kind: 'malformed', name, raw, text, ...(writtenId !== undefined && { writtenId }), why, at: text.start }
}

const earlier = (a: number, b: number): number => (a < 0 ? b : b < 0 ? a : Math.min(a, b))
