/** Hermes: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, as Qwen2.5, Qwen3 and many others write it. */
import { callsIn, malformedCall, malformedEnd, marksIn } from './calls.ts'
import { jsonBodyReader } from './json-body.ts'
import { type Member, scanObject } from './json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from './parser.ts'

const delimiters = { open: '<tool_call>', close: '</tool_call>' } as const

export const hermes: ToolParser = { name: 'hermes', delimiters, parse }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const marks = marksIn(text, delimiters)
  const read = jsonBodyReader(text, delimiters.close, marks, 'the call')
  return callsIn(shielded, marks, (open) => {
    const start = open + delimiters.open.length
    const body = read(start)
    if (body.ok) return calledIn(text, open, body.members, body.close)
    const end = malformedEnd(text, body.at, marks)
    return malformedCall(text, open, { ...body, name: nameIn(text, start, end.body) }, delimiters, end)
  })
}

/** What the members of a whole object say. */
function calledIn(text: string, open: number, members: readonly Member[], close: number): ParsedCall {
  const end = { body: close, isClosed: true }
  const malformed = (why: string, at: number, name?: string) =>
    malformedCall(text, open, { why, at, name }, delimiters, end)
  const nameMember = lastNamed(members, 'name')
  if (!nameMember) return malformed('the call has no "name"', open)
  const name = jsonAt(text, nameMember)
  if (typeof name !== 'string' || name.trim() === '') return malformed('"name" is not a text', nameMember.value.start)
  const place = {
    raw: text.slice(open + delimiters.open.length, close),
    text: { start: open, end: close + delimiters.close.length },
  }
  const argumentsMember = lastNamed(members, 'arguments')
  const called = {
    kind: 'parsed' as const,
    name,
    nameText: nameMember.value,
    ignored: members
      .filter((member) => member !== nameMember && member !== argumentsMember)
      .map(({ key, value }) => ({ start: key.start, end: value.end })),
    ...place,
  }
  if (!argumentsMember) return { ...called, input: {}, arguments: [] }
  const { start, end: valueEnd } = argumentsMember.value
  const inner = text[start] === '{' ? scanObject(text, start, valueEnd) : undefined
  if (!inner?.ok) return malformed('"arguments" is not a JSON object', start, name)
  return {
    ...called,
    input: jsonAt(text, argumentsMember) as Record<string, unknown>,
    arguments: inner.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
  }
}

const NAME = /"name"\s*:\s*"((?:[^"\\]|\\.){1,200})"/y

/** The name of a call that could not be read whole, for the error that the model gets. Looks at its first lines only. */
function nameIn(text: string, start: number, end: number): string | undefined {
  const at = text.slice(start, Math.min(end, start + 400)).indexOf('"name"')
  if (at < 0) return undefined
  NAME.lastIndex = start + at
  const match = NAME.exec(text)
  return match && NAME.lastIndex <= end ? match[1] : undefined
}

/** Of members with the same name the last one counts, as in JSON.parse and in Python. */
const lastNamed = (members: readonly Member[], name: string): Member | undefined =>
  members.findLast((member) => member.name === name)

const jsonAt = (text: string, { value }: Member): unknown => JSON.parse(text.slice(value.start, value.end))
