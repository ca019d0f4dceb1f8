/** A call as one JSON object: its name and its arguments are members. */

import { type Member, scanObject } from '#lib/json/json-scan.ts'
import type { ParsedCall } from '../parser.ts'
import type { CallFault } from './calls.ts'

/** The call of a JSON object. */
export type NamedCall =
  | ({ readonly ok: true; readonly id?: Member } & Pick<
      Extract<ParsedCall, { kind: 'parsed' }>,
      'name' | 'nameText' | 'ignored' | 'input' | 'arguments'
    >)
  | ({ readonly ok: false } & CallFault)

/** The member names of a call. */
export interface MemberNames {
  /** Names of the arguments. A call has them under one of these names; the others must be empty. */
  readonly arguments: readonly string[]
  /** Name of the member with the tool name, if it is not "name". */
  readonly name?: string
  /** Name of the member with the id, in formats where the model writes one. */
  readonly id?: string
}

/** Returns the call of a whole object; `start` is where the call begins. */
export function namedCall(text: string, start: number, members: readonly Member[], spelling: MemberNames): NamedCall {
  const { name: nameKey = 'name' } = spelling
  const nameMember = memberNamed(members, nameKey)
  if (!nameMember) return { ok: false, why: `the call has no "${nameKey}"`, at: start }
  const name = jsonAt(text, nameMember)
  if (typeof name !== 'string' || name.trim() === '')
    return { ok: false, why: `"${nameKey}" is not a text`, at: nameMember.value.start }
  const argumentMembers = spelling.arguments.flatMap((key) => memberNamed(members, key) ?? [])
  const [first, second] = argumentMembers.filter(({ value }) => !/^\{\s*\}$/.test(text.slice(value.start, value.end)))
  if (first && second)
    return { ok: false, why: `both "${first.name}" and "${second.name}" are given`, at: second.key.start, name }
  const argumentsMember = first ?? argumentMembers[0]
  const id = spelling.id === undefined ? undefined : memberNamed(members, spelling.id)
  const called = {
    ok: true as const,
    name,
    nameText: nameMember.value,
    ...(id && { id }),
    ignored: members
      .filter((member) => member !== nameMember && member !== argumentsMember && member !== id)
      .map(({ key, value }) => ({ start: key.start, end: value.end })),
  }
  if (!argumentsMember) return { ...called, input: {}, arguments: [] }
  const { start: valueStart, end } = argumentsMember.value
  const inner = text[valueStart] === '{' ? scanObject(text, valueStart, end) : undefined
  if (!inner?.ok)
    return { ok: false, why: `${JSON.stringify(argumentsMember.name)} is not a JSON object`, at: valueStart, name }
  return {
    ...called,
    input: jsonAt(text, argumentsMember) as Record<string, unknown>,
    arguments: inner.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
  }
}

const NAME = /"(?:tool_)?name"\s*:\s*"((?:[^"\\]|\\.){1,200})"/y

/** Returns the name of a malformed call, for the error message to the model. Searches only its first lines. */
export function callNameIn(text: string, start: number, end: number): string | undefined {
  const at = text.slice(start, Math.min(end, start + 400)).search(/"(?:tool_)?name"/)
  if (at < 0) return undefined
  NAME.lastIndex = start + at
  const match = NAME.exec(text)
  return match && NAME.lastIndex <= end ? match[1] : undefined
}

/** Returns the member with a name. */
export const memberNamed = (members: readonly Member[], name: string): Member | undefined =>
  members.find((member) => member.name === name)

/** Returns the parsed value of a member. */
export const jsonAt = (text: string, { value }: Member): unknown => JSON.parse(text.slice(value.start, value.end))
