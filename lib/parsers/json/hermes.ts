/**
 * Hermes: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, the format of Qwen2.5, Qwen3 and many others.
 * "parameters" is accepted too, as in SGLang, because the tool definitions in the prompt use that word.
 */

import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { createDelimiterFinders, malformedCall, malformedEnd, readEachCall } from '../reading/calls.ts'
import { createJsonBodyReader } from '../reading/json-body.ts'
import { callNameIn, namedCall } from '../reading/named-call.ts'

const delimiters = { open: '<tool_call>', close: '</tool_call>' } as const
const SPELLING = { arguments: ['arguments', 'parameters'] } as const

/** Parser of Hermes. */
export const hermes: ToolParser = { name: 'hermes', sglangNames: ['hermes', 'qwen', 'qwen25'], delimiters, parse }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const finders = createDelimiterFinders(text, delimiters)
  const read = createJsonBodyReader(text, delimiters.close, finders, 'the call')
  return readEachCall(shielded, finders, (open) => {
    const start = open + delimiters.open.length
    const body = read(start)
    if (!body.ok) {
      const end = malformedEnd(text, body.at, finders)
      return malformedCall(text, open, { ...body, name: callNameIn(text, start, end.body) }, delimiters, end)
    }
    const { close, members } = body
    const called = namedCall(text, open, members, SPELLING)
    if (!called.ok) return malformedCall(text, open, called, delimiters, { body: close, isClosed: true })
    return {
      kind: 'parsed',
      name: called.name,
      nameText: called.nameText,
      ignored: called.ignored,
      input: called.input,
      arguments: called.arguments,
      raw: text.slice(start, close),
      text: { start: open, end: close + delimiters.close.length },
    }
  })
}
