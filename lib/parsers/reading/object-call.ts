/** Calls that are one JSON object each, without their own delimiters: consecutive or in a list. */

import { type Member, scanObject } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange } from '../parser.ts'
import { type CallFault, callOfFault } from './calls.ts'
import type { CompleteObject } from './json-body.ts'
import { callNameIn, jsonAt, type MemberNames, memberNamed, namedCall } from './named-call.ts'

/** Returns the call of a whole object at `start`; `id` is the member with its id. */
export function objectCall(
  text: string,
  start: number,
  { members, end }: CompleteObject,
  spelling: MemberNames,
): { readonly call: ParsedCall; readonly id?: Member | undefined } {
  const raw = text.slice(start, end)
  const range = { start, end }
  const called = namedCall(text, start, members, spelling)
  if (!called.ok) return { call: callOfFault(called, raw, range) }
  const { name, nameText, ignored, input, arguments: named, id } = called
  return { call: { kind: 'parsed', name, nameText, ignored, input, arguments: named, raw, text: range }, id }
}

/** Reads whole objects that contain an id, which is kept if it is a text. */
export const callWithId =
  (spelling: MemberNames) =>
  (text: string, start: number, object: CompleteObject): ParsedCall => {
    const { call, id } = objectCall(text, start, object, spelling)
    return withId(text, call, id)
  }

/** Reads objects that are a call, or an entry of a message: its member "function" is the call. */
export function callInEntry(spelling: MemberNames): ReturnType<typeof callWithId> {
  const called = callWithId(spelling)
  return (text, start, object) => {
    const inner = memberNamed(object.members, 'function')?.value
    const scan = inner && text[inner.start] === '{' ? scanObject(text, inner.start, inner.end) : undefined
    if (!inner || !scan?.ok) return called(text, start, object)
    const { call } = objectCall(text, inner.start, scan, spelling)
    const place = { raw: text.slice(start, object.end), text: { start, end: object.end } }
    const entry = withId(text, { ...call, ...place }, memberNamed(object.members, 'id'))
    if (entry.kind === 'malformed') return entry
    const others = object.members.filter(({ name }) => !['id', 'type', 'function'].includes(name))
    const ignored = others.map(({ key, value }) => ({ start: key.start, end: value.end }))
    return { ...entry, ignored: [...entry.ignored, ...ignored] }
  }
}

/** Returns the call with the id that the model wrote, if it is a text. */
function withId(text: string, call: ParsedCall, id: Member | undefined): ParsedCall {
  const written = id && jsonAt(text, id)
  return typeof written === 'string' && written !== '' ? { ...call, writtenId: written } : call
}

/** Returns a malformed call for the whole range. */
export function brokenCall(text: string, range: TextRange, fault: CallFault): ParsedCall {
  const { why, at, name = callNameIn(text, range.start, range.end) } = fault
  return callOfFault({ why, at, name }, text.slice(range.start, range.end), range)
}
