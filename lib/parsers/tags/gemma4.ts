/**
 * Gemma 4: `<|tool_call>call:NAME{key:<|"|>text<|"|>,n:1}<tool_call|>`, any number in a row. The arguments are not
 * JSON: a text is between its own tokens, without escapes. FunctionGemma has other tokens:
 * `<start_function_call>call:NAME{key:<escape>text<escape>}<end_function_call>`.
 */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { argumentTypes } from '../reading/argument-types.ts'
import { createDelimiterFinders, endOfName, malformedCall, malformedEnd, readEachCall } from '../reading/calls.ts'
import { createBodyReader } from '../reading/json-body.ts'
import { nameRange } from '../reading/tagged.ts'
import { PYTHON_VALUES, typedLiteral } from '../reading/typed-value.ts'
import { FUNCTION_GEMMA_QUOTE, GEMMA_QUOTE, gemmaReader } from './gemma-value.ts'

const CALL = 'call:'
const ARGUMENTS = 'the arguments'
const NAME_END = /[{<]/g

/** Parser of Gemma 4. */
export const gemma4: ToolParser = {
  name: 'gemma4',
  sglangNames: ['gemma4'],
  ...callsBetween({ open: '<|tool_call>', close: '<tool_call|>' }, GEMMA_QUOTE),
}

const functionCalls = callsBetween(
  { open: '<start_function_call>', close: '<end_function_call>' },
  FUNCTION_GEMMA_QUOTE,
)

/** Parser of FunctionGemma. vLLM's template writes every value as a text, so a text is decoded where the schema allows none. */
export const functionGemma: ToolParser = {
  name: 'functiongemma',
  ...functionCalls,
  parse: (text, shielded, tools) =>
    functionCalls.parse(text, shielded, tools).map((call) => {
      if (call.kind === 'malformed') return call
      const decoded = call.arguments.flatMap(({ name, text: range }): [string, unknown][] => {
        const types = argumentTypes(tools, call.name, name)
        if (typeof call.input[name] !== 'string' || !types || types.has('string')) return []
        const typed = typedLiteral(text, range, types, PYTHON_VALUES)
        return typed.ok ? [[name, typed.value]] : []
      })
      return { ...call, input: { ...call.input, ...Object.fromEntries(decoded) } }
    }),
}

function callsBetween(delimiters: ToolParser['delimiters'], quote: string): Pick<ToolParser, 'delimiters' | 'parse'> {
  return { delimiters, parse: (text, shielded) => callsIn(text, shielded, delimiters, quote) }
}

function callsIn(
  text: string,
  shielded: readonly TextRange[],
  delimiters: ToolParser['delimiters'],
  quote: string,
): readonly ParsedCall[] {
  const finders = createDelimiterFinders(text, delimiters)
  const read = createBodyReader(text, delimiters.close, finders, gemmaReader(text, ARGUMENTS, quote), ARGUMENTS)
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
