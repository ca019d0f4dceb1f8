/**
 * Hermes: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, the format of Qwen2.5, Qwen3 and many others.
 * "parameters" is accepted too, as in SGLang, because the tool definitions in the prompt use that word. Intern-S1 and
 * InternLM write `<|action_start|><|plugin|>{…}<|action_end|>`. Grug writes `<|tool_call|>{…}<|tool_call_end|>`.
 */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { createDelimiterFinders, malformedCall, malformedEnd, readEachCall } from '../reading/calls.ts'
import { createJsonBodyReader } from '../reading/json-body.ts'
import { callNameIn, type MemberNames, namedCall } from '../reading/named-call.ts'

const SPELLING: MemberNames = { arguments: ['arguments', 'parameters'] }

/** Parser of Hermes. */
export const hermes = taggedObjects({
  name: 'hermes',
  sglangNames: ['hermes', 'qwen', 'qwen25', 'trinity'],
  delimiters: { open: '<tool_call>', close: '</tool_call>' },
})
/** Parser of Intern-S1 and InternLM. */
export const interns1 = taggedObjects({
  name: 'interns1',
  sglangNames: ['interns1'],
  delimiters: { open: '<|action_start|>', close: '<|action_end|>' },
  kind: '<|plugin|>',
})
/** Parser of Grug. */
export const grug = taggedObjects({
  name: 'grug',
  delimiters: { open: '<|tool_call|>', close: '<|tool_call_end|>' },
})

interface TaggedObjects extends Pick<ToolParser, 'name' | 'sglangNames' | 'delimiters'> {
  /** Token after the opening one. */
  readonly kind?: string
  /** Omitted: those of Hermes. */
  readonly members?: MemberNames
}

/** Creates the parser of a format whose calls are one JSON object each, between tags. */
export function taggedObjects({
  kind = '',
  members: spelling = SPELLING,
  delimiters,
  ...names
}: TaggedObjects): ToolParser {
  return { ...names, delimiters, parse }

  function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
    const finders = createDelimiterFinders(text, delimiters)
    const read = createJsonBodyReader(text, delimiters.close, finders, 'the call')
    return readEachCall(shielded, finders, (open) => {
      const opened = open + delimiters.open.length
      const kindAt = kind === '' ? opened : skipSpace(text, opened, text.length)
      if (!text.startsWith(kind, kindAt)) {
        const why = describeUnexpected(text, kindAt, text.length, kind)
        return malformedCall(text, open, { why, at: kindAt }, delimiters, malformedEnd(text, kindAt, finders))
      }
      const start = kindAt + kind.length
      const body = read(start)
      if (!body.ok) {
        const end = malformedEnd(text, body.at, finders)
        return malformedCall(text, open, { ...body, name: callNameIn(text, start, end.body) }, delimiters, end)
      }
      const { close, members } = body
      const called = namedCall(text, open, members, spelling)
      if (!called.ok) return malformedCall(text, open, called, delimiters, { body: close, isClosed: true })
      return {
        kind: 'parsed',
        name: called.name,
        nameText: called.nameText,
        ignored: called.ignored,
        input: called.input,
        arguments: called.arguments,
        raw: text.slice(opened, close),
        text: { start: open, end: close + delimiters.close.length },
      }
    })
  }
}
