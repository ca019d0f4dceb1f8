/**
 * GLM: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…</tool_call>`. GLM-4.5 writes a line break after
 * the name, the keys and the values, GLM-4.7 and GLM-5 write none. Values have no frame: they are what stands in the tags.
 */
import type { ToolSpec } from '#lib/core/trajectory.ts'
import { callsIn, endOfName, marksIn } from './calls.ts'
import { finder } from './finder.ts'
import { skipSpace, whatStands } from './json-scan.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from './parser.ts'
import { notClosed, type Tagged, taggedCall } from './tagged.ts'

const delimiters = { open: '<tool_call>', close: '</tool_call>' } as const
const KEY = '<arg_key>'
const KEY_END = '</arg_key>'
const VALUE = '<arg_value>'
const VALUE_END = '</arg_value>'

const words = new Map<string, unknown>()

export const glm: ToolParser = { name: 'glm', delimiters, parse }

function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
  const marks = marksIn(text, delimiters)
  const nextValue = finder(text, VALUE)
  const nextValueEnd = finder(text, VALUE_END)
  return callsIn(shielded, marks, (open) => {
    const tagged = readCall(text, open + delimiters.open.length, nextValue, nextValueEnd)
    return taggedCall(text, open, tagged, tools, { delimiters, words }, marks)
  })
}

function readCall(
  text: string,
  start: number,
  nextValue: (from: number) => number,
  nextValueEnd: (from: number) => number,
): Tagged {
  const values: NamedRange[] = []
  const { name, end: nameEnd } = untilTag(text, start)
  let position = nameEnd
  const fault = (why: string, at: number): Tagged => ({ ok: false, why, at, values, ...(isName(name) && { name }) })
  const missing = (expected: string, at: number): Tagged => fault(whatStands(text, at, text.length, expected), at)
  if (name === '') return fault('the call has no name', position)
  if (!isName(name)) return fault('the name of the call holds white space', position)
  while (!text.startsWith(delimiters.close, position)) {
    if (!text.startsWith(KEY, position)) return missing(`${KEY} or ${delimiters.close}`, position)
    const { name: key, end: keyEnd } = untilTag(text, position + KEY.length)
    if (!text.startsWith(KEY_END, keyEnd)) return missing(KEY_END, keyEnd)
    if (key === '') return fault(`${KEY} is not followed by a name`, keyEnd)
    const valueAt = skipSpace(text, keyEnd + KEY_END.length, text.length)
    if (!text.startsWith(VALUE, valueAt)) return missing(VALUE, valueAt)
    const valueStart = valueAt + VALUE.length
    const valueEnd = nextValueEnd(valueStart)
    const another = nextValue(valueStart)
    if (valueEnd < 0 || (another >= 0 && another < valueEnd)) return fault(notClosed(key), valueStart)
    values.push({ name: key, text: { start: valueStart, end: valueEnd } })
    position = skipSpace(text, valueEnd + VALUE_END.length, text.length)
  }
  return { ok: true, name, values, close: position }
}

/** A name, up to the next tag. */
function untilTag(text: string, start: number): { readonly name: string; readonly end: number } {
  const end = endOfName(text, start, /</g)
  return { name: text.slice(start, end).trim(), end }
}

const isName = (name: string): boolean => /^\S+$/.test(name)
