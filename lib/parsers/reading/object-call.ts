/** Calls that are a JSON object each, without delimiters of their own: one after the other, or in a list. */

import type { Member } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange } from '../parser.ts'
import { type Fault, malformed } from './calls.ts'
import type { WholeObject } from './json-body.ts'
import { jsonAt, namedCall, nameIn, type Spelling } from './named-call.ts'

/** What a whole object at `start` says; `id`: its member that holds one. */
export function objectCall(
  text: string,
  start: number,
  { members, end }: WholeObject,
  spelling: Spelling,
): { readonly call: ParsedCall; readonly id?: Member | undefined } {
  const raw = text.slice(start, end)
  const range = { start, end }
  const called = namedCall(text, start, members, spelling)
  if (!called.ok) return { call: malformed(called, raw, range) }
  const { name, nameText, ignored, input, arguments: named, id } = called
  return { call: { kind: 'parsed', name, nameText, ignored, input, arguments: named, raw, text: range }, id }
}

/** Reads whole objects that hold an id of their own, which is kept where it is a text. */
export const callWithId =
  (spelling: Spelling) =>
  (text: string, start: number, object: WholeObject): ParsedCall => {
    const { call, id } = objectCall(text, start, object, spelling)
    const written = id && jsonAt(text, id)
    return typeof written === 'string' && written !== '' ? { ...call, writtenId: written } : call
  }

/** What could not be read, all of it. */
export function brokenCall(text: string, range: TextRange, fault: Fault): ParsedCall {
  const { why, at, name = nameIn(text, range.start, range.end) } = fault
  return malformed({ why, at, name }, text.slice(range.start, range.end), range)
}
