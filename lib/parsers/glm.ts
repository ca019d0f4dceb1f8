/**
 * GLM: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>…</tool_call>`. GLM-4.5 writes a line break after
 * the name, the keys and the values, GLM-4.7 and GLM-5 write none. Values have no frame: they are what stands in the tags.
 */
import type { ToolSpec } from '#lib/core/trajectory.ts'
import { callsIn, endOfName, marksIn } from './calls.ts'
import { finder } from './finder.ts'
import { skipSpace } from './json-scan.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from './parser.ts'
import { missing, nameRange, notClosed, type Tagged, taggedCall, typedBySchema } from './tagged.ts'

const delimiters = { open: '<tool_call>', close: '</tool_call>' } as const
const KEY = '<arg_key>'
const KEY_END = '</arg_key>'
const VALUE = '<arg_value>'
const VALUE_END = '</arg_value>'
const KEY_OR_CLOSE = `${KEY} or ${delimiters.close}`
const TAG = /</g
const SPACE = /\s/

const words = new Map<string, unknown>()

export const glm: ToolParser = { name: 'glm', delimiters, parse }

function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
  const marks = marksIn(text, delimiters)
  const readValue = typedBySchema(text, tools, words)
  const nextValue = finder(text, VALUE)
  const nextValueEnd = finder(text, VALUE_END)
  return callsIn(shielded, marks, (open) => {
    const tagged = readCall(text, open + delimiters.open.length, nextValue, nextValueEnd)
    return taggedCall(text, open, tagged, readValue, delimiters, marks)
  })
}

function readCall(
  text: string,
  start: number,
  nextValue: (from: number) => number,
  nextValueEnd: (from: number) => number,
): Tagged {
  const values: NamedRange[] = []
  let position = endOfName(text, start, TAG)
  const name = text.slice(start, position).trim()
  const nameText = nameRange(text, start, position)
  if (name === '') return { ok: false, why: 'the call has no name', at: position, values }
  const space = name.search(SPACE)
  if (space >= 0)
    return { ok: false, why: 'the name of the call holds white space', at: nameText.start + space, values }
  while (!text.startsWith(delimiters.close, position)) {
    if (!text.startsWith(KEY, position)) return missing(text, position, KEY_OR_CLOSE, name, values)
    const keyEnd = endOfName(text, position + KEY.length, TAG)
    const key = text.slice(position + KEY.length, keyEnd).trim()
    if (!text.startsWith(KEY_END, keyEnd)) return missing(text, keyEnd, KEY_END, name, values)
    if (key === '') return { ok: false, why: `${KEY} is not followed by a name`, at: keyEnd, name, values }
    const valueAt = skipSpace(text, keyEnd + KEY_END.length, text.length)
    if (!text.startsWith(VALUE, valueAt)) return missing(text, valueAt, VALUE, name, values)
    const valueStart = valueAt + VALUE.length
    const valueEnd = nextValueEnd(valueStart)
    const another = nextValue(valueStart)
    if (valueEnd < 0 || (another >= 0 && another < valueEnd))
      return { ok: false, why: notClosed(key), at: valueStart, name, values }
    const keyText = nameRange(text, position + KEY.length, keyEnd)
    values.push({ name: key, key: keyText, text: { start: valueStart, end: valueEnd } })
    position = skipSpace(text, valueEnd + VALUE_END.length, text.length)
  }
  return { ok: true, name, nameText, values, close: position }
}
