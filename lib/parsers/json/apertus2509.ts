/** Apertus: `<|tools_prefix|>[{"NAME": {…}}, …]<|tools_suffix|>`, an object for each call with one member. */

import { scanObject } from '#lib/json/json-scan.ts'
import type { ParsedCall } from '../parser.ts'
import { callOfFault } from '../reading/calls.ts'
import type { CompleteObject } from '../reading/json-body.ts'
import { jsonListReader, listParser } from '../reading/lists.ts'
import { jsonAt } from '../reading/named-call.ts'

/** Parser of Apertus. */
export const apertus2509 = listParser({
  name: 'apertus2509',
  sglangNames: ['apertus2509'],
  open: '<|tools_prefix|>',
  close: '<|tools_suffix|>',
  reader: (text, nextBound) => jsonListReader(text, nextBound, calledIn),
})

function calledIn(text: string, start: number, { members, end }: CompleteObject): ParsedCall {
  const place = { raw: text.slice(start, end), text: { start, end } }
  const [member, other] = members
  if (!member || other) {
    const why = 'a call is an object with one member: its name, with the arguments'
    return callOfFault({ why, at: other?.key.start ?? start }, place.raw, place.text)
  }
  const { name, key, value } = member
  if (name.trim() === '') return callOfFault({ why: 'the call has no name', at: key.start }, place.raw, place.text)
  const inner = text[value.start] === '{' ? scanObject(text, value.start, value.end) : undefined
  if (!inner?.ok)
    return callOfFault(
      { why: 'what follows the name is not a JSON object', at: value.start, name },
      place.raw,
      place.text,
    )
  return {
    ...{ kind: 'parsed', name, nameText: key, ignored: [], ...place },
    input: jsonAt(text, member) as Record<string, unknown>,
    arguments: inner.members.map((argument) => ({ name: argument.name, key: argument.key, text: argument.value })),
  }
}
