/**
 * Qwen's XML: `<tool_call><function=NAME><parameter=KEY>VALUE</parameter>…</function></tool_call>`, as Qwen3-Coder and
 * Qwen3.5 write it. A line break behind `<parameter=…>` and one before `</parameter>` belong to the tags.
 */
import type { ToolSpec } from '#lib/core/trajectory.ts'
import { callsIn, endOfName, marksIn } from './calls.ts'
import { finder } from './finder.ts'
import { skipSpace, whatStands } from './json-scan.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from './parser.ts'
import { missing, nameRange, notClosed, type Tagged, taggedCall, typedBySchema } from './tagged.ts'

const delimiters = { open: '<tool_call>', close: '</tool_call>' } as const
const FUNCTION = '<function='
const FUNCTION_END = '</function>'
const PARAMETER = '<parameter='
const PARAMETER_END = '</parameter>'
const PARAMETER_OR_END = `${PARAMETER} or ${FUNCTION_END}`
const BRACKET = /[<>]/g

/** The chat template writes such values with Jinja's `string` filter, and that is Python. */
const words = new Map<string, unknown>([
  ['True', true],
  ['False', false],
  ['None', null],
])

export const qwenXml: ToolParser = { name: 'qwen_xml', delimiters, parse }

function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
  const marks = marksIn(text, delimiters)
  const readValue = typedBySchema(text, tools, words)
  const nextParameter = finder(text, PARAMETER)
  const nextParameterEnd = finder(text, PARAMETER_END)
  return callsIn(shielded, marks, (open) => {
    const tagged = readFunction(text, open + delimiters.open.length, nextParameter, nextParameterEnd)
    return taggedCall(text, open, tagged, readValue, delimiters, marks)
  })
}

function readFunction(
  text: string,
  start: number,
  nextParameter: (from: number) => number,
  nextParameterEnd: (from: number) => number,
): Tagged {
  const values: NamedRange[] = []
  const tag = nameInTag(text, skipSpace(text, start, text.length), FUNCTION, FUNCTION)
  if (!tag.ok) return { ok: false, why: tag.why, at: tag.at, values }
  const { name, nameText } = tag
  if (/\s/.test(name)) return { ok: false, why: 'the name of the call holds white space', at: start, values }
  let position = skipSpace(text, tag.end, text.length)
  while (!text.startsWith(FUNCTION_END, position)) {
    const parameter = nameInTag(text, position, PARAMETER, PARAMETER_OR_END)
    if (!parameter.ok) return { ok: false, why: parameter.why, at: parameter.at, name, values }
    const end = nextParameterEnd(parameter.end)
    const another = nextParameter(parameter.end)
    if (end < 0 || (another >= 0 && another < end))
      return { ok: false, why: notClosed(parameter.name), at: parameter.end, name, values }
    values.push({ name: parameter.name, key: parameter.nameText, text: withoutFrame(text, parameter.end, end) })
    position = skipSpace(text, end + PARAMETER_END.length, text.length)
  }
  const close = skipSpace(text, position + FUNCTION_END.length, text.length)
  if (text.startsWith(delimiters.close, close)) return { ok: true, name, nameText, values, close }
  return missing(text, close, delimiters.close, name, values)
}

type Tag =
  | { readonly ok: true; readonly name: string; readonly nameText: TextRange; readonly end: number }
  | { readonly ok: false; readonly why: string; readonly at: number }

/** The name in a tag such as `<function=NAME>`, which should stand at `at`. */
function nameInTag(text: string, at: number, tag: string, expected: string): Tag {
  if (!text.startsWith(tag, at)) return { ok: false, why: whatStands(text, at, text.length, expected), at }
  const end = endOfName(text, at + tag.length, BRACKET)
  const name = text.slice(at + tag.length, end).trim()
  if (text[end] !== '>' || /[\r\n]/.test(name)) return { ok: false, why: `${tag} is not closed by ">"`, at: end }
  return name === ''
    ? { ok: false, why: `${tag} is not followed by a name`, at: end }
    : { ok: true, name, nameText: nameRange(text, at + tag.length, end), end: end + 1 }
}

function withoutFrame(text: string, start: number, end: number): TextRange {
  const first = start < end && text[start] === '\n' ? start + 1 : start
  return { start: first, end: first < end && text[end - 1] === '\n' ? end - 1 : end }
}
