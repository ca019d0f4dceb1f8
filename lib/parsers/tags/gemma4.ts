/**
 * Gemma 4: `<|tool_call>call:NAME{key:<|"|>text<|"|>,n:1}<tool_call|>`, any number in a row. The arguments are not
 * JSON: a text is between its own tokens, without escapes.
 */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { createDelimiterFinders, endOfName, malformedCall, malformedEnd, readEachCall } from '../reading/calls.ts'
import { createBodyReader } from '../reading/json-body.ts'
import { nameRange } from '../reading/tagged.ts'
import { gemmaReader } from './gemma-value.ts'

const delimiters = { open: '<|tool_call>', close: '<tool_call|>' } as const
const CALL = 'call:'
const ARGUMENTS = 'the arguments'
const NAME_END = /[{<]/g

/** Parser of Gemma 4. */
export const gemma4: ToolParser = { name: 'gemma4', sglangNames: ['gemma4'], delimiters, parse }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const finders = createDelimiterFinders(text, delimiters)
  const read = createBodyReader(text, delimiters.close, finders, gemmaReader(text, ARGUMENTS), ARGUMENTS)
  return readEachCall(shielded, finders, (open): ParsedCall => {
    const fault = (why: string, at: number, name?: string) =>
      malformedCall(text, open, { why, at, name }, delimiters, malformedEnd(text, at, finders))
    const start = skipSpace(text, open + delimiters.open.length, text.length)
    if (!text.startsWith(CALL, start)) return fault(describeUnexpected(text, start, text.length, CALL), start)
    const nameEnd = endOfName(text, start + CALL.length, NAME_END)
    const nameText = nameRange(text, start + CALL.length, nameEnd)
    const name = text.slice(start + CALL.length, nameEnd).trim()
    if (name === '') return fault('the call has no name', nameEnd)
    if (/\s/.test(name)) return fault('the name of the call contains white space', nameText.start)
    const body = read(nameEnd)
    if (!body.ok) return fault(body.why, body.at, name)
    return {
      kind: 'parsed',
      name,
      nameText,
      ignored: [],
      input: JSON.parse(body.json) as Record<string, unknown>,
      arguments: body.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
      raw: text.slice(open + delimiters.open.length, body.close),
      text: { start: open, end: body.close + delimiters.close.length },
    }
  })
}
