/**
 * Qwen's XML: `<tool_call><function=NAME><parameter=KEY>VALUE</parameter>…</function></tool_call>`, the format of
 * Qwen3-Coder and Qwen3.5. A line break after `<parameter=…>` and one before `</parameter>` belong to the tags. Models
 * forget `</parameter>`: the value then ends at the next `<parameter=` or at `</function>`, if it contains no other
 * tag.
 */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { argumentTypes } from '../reading/argument-types.ts'
import { createDelimiterFinders, endOfName, readEachCall } from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import {
  hasDelimiterInValue,
  missing,
  nameRange,
  type Tagged,
  taggedCall,
  typedBySchema,
  unclosedValueReason,
  type ValueReader,
} from '../reading/tagged.ts'
import { PYTHON_VALUES, typedLiteral } from '../reading/typed-value.ts'

const FUNCTION = '<function='
const FUNCTION_END = '</function>'
const PARAMETER = '<parameter='
const PARAMETER_END = '</parameter>'
const PARAMETER_OR_END = `${PARAMETER} or ${FUNCTION_END}`
const BRACKET = /[<>]/g
/** Matches a function that is in no call of another format. */
const BARE_FUNCTION = /(?<!<(?:seed:|zyphra_)?tool_call>\s*)<function=/g

/** Parser of Qwen3-Coder and Qwen3.5. */
export const qwenXml: ToolParser = {
  ...qwenXmlParser('qwen_xml', 'tool_call', (text, tools) => typedBySchema(text, tools, PYTHON_VALUES)),
  sglangNames: ['qwen3_coder', 'step3p5', 'nanbeige'],
}

/** Parser of MiMo V2, which writes no line breaks around values. */
export const mimo: ToolParser = {
  ...qwenXmlParser('mimo', 'tool_call', (text, tools) => typedBySchema(text, tools, PYTHON_VALUES), 'bare'),
  sglangNames: ['mimo'],
}

/** Parser of Seed-OSS, which writes the format of MiMo between its own tokens and every value in Python notation. */
export const seedOss = qwenXmlParser('seed_oss', 'seed:tool_call', literalBySchema, 'bare')

/** Parser of ZAYA1, which writes Qwen’s format between its own tags. */
export const zaya = qwenXmlParser('zaya', 'zyphra_tool_call', (text, tools) =>
  typedBySchema(text, tools, PYTHON_VALUES),
)

/** Parser of FrogBoss and FrogMini, which write only the function, without line breaks around values in Python notation. */
export const frogboss = qwenXmlParser('frogboss', undefined, literalBySchema, 'bare')

function literalBySchema(text: string, tools: readonly ToolSpec[]): ValueReader {
  return ({ text: range, name }, tool) => typedLiteral(text, range, argumentTypes(tools, tool, name), PYTHON_VALUES)
}

function qwenXmlParser(
  name: string,
  tag: string | undefined,
  valueReader: (text: string, tools: readonly ToolSpec[]) => ValueReader,
  values: 'on lines' | 'bare' = 'on lines',
): ToolParser {
  const delimiters =
    tag === undefined ? { open: FUNCTION, close: FUNCTION_END } : { open: `<${tag}>`, close: `</${tag}>` }
  return {
    name,
    delimiters,
    parse: (text, shielded, tools) =>
      parse(text, shielded, valueReader(text, tools), delimiters, values === 'on lines'),
  }
}

function parse(
  text: string,
  shielded: readonly TextRange[],
  readValue: ValueReader,
  delimiters: ToolParser['delimiters'],
  hasFrame: boolean,
): readonly ParsedCall[] {
  const isBare = delimiters.open === FUNCTION
  const { nextOpen, nextClose } = createDelimiterFinders(text, delimiters)
  const finders = { nextOpen: isBare ? createFinder(text, BARE_FUNCTION) : nextOpen, nextClose }
  const places = {
    ...{ nextParameter: createFinder(text, PARAMETER), nextParameterEnd: createFinder(text, PARAMETER_END) },
    close: delimiters.close,
    hasFrame,
  }
  return readEachCall(shielded, finders, (open) => {
    const start = isBare ? open : open + delimiters.open.length
    const tagged = readFunction(text, start, places, text.length)
    // If the call failed, a value that contains the end of the call may be unclosed.
    const shorter = hasDelimiterInValue(tagged, open, finders)
      ? readFunction(text, start, places, finders.nextClose(open))
      : tagged
    return taggedCall(text, open, shorter.ok ? shorter : tagged, readValue, delimiters, finders)
  })
}

interface Places {
  readonly nextParameter: (from: number) => number
  readonly nextParameterEnd: (from: number) => number
  /** The tag that closes a call. */
  readonly close: string
  /** Whether line breaks next to the tags of a value belong to them. */
  readonly hasFrame: boolean
}

/** Reads the function of a call. `limit` is the position from which on no closing tag of a value is read. */
function readFunction(text: string, start: number, places: Places, limit: number): Tagged {
  const { nextParameter, nextParameterEnd } = places
  const isBare = places.close === FUNCTION_END
  const values: NamedRange[] = []
  const tag = nameInTag(text, skipSpace(text, start, text.length), FUNCTION, FUNCTION)
  if (!tag.ok) return { ok: false, why: tag.why, at: tag.at, values }
  const { name, nameText } = tag
  if (/\s/.test(name)) return { ok: false, why: 'the name of the call contains white space', at: start, values }
  let position = skipSpace(text, tag.end, text.length)
  while (!text.startsWith(FUNCTION_END, position)) {
    const parameter = nameInTag(text, position, PARAMETER, PARAMETER_OR_END)
    if (!parameter.ok) return { ok: false, why: parameter.why, at: parameter.at, name, values }
    const close = nextParameterEnd(parameter.end)
    const another = nextParameter(parameter.end)
    const isClosed = close >= 0 && close < limit && (another < 0 || close < another)
    const end = isClosed ? close : impliedEnd(text, parameter.end)
    if (end === undefined)
      return { ok: false, why: unclosedValueReason(parameter.name), at: parameter.end, name, values }
    const value = { start: parameter.end, end }
    values.push({
      name: parameter.name,
      key: parameter.nameText,
      text: places.hasFrame ? withoutFrame(text, value) : value,
    })
    position = skipSpace(text, isClosed ? end + PARAMETER_END.length : end, text.length)
  }
  const close = isBare ? position : skipSpace(text, position + FUNCTION_END.length, text.length)
  if (text.startsWith(places.close, close)) return { ok: true, name, nameText, values, close }
  return missing(text, close, places.close, name, values)
}

const TAG = /<\/?(?:(?:seed:|zyphra_)?tool_call>|function[=>]|parameter[=>])/g

/** Returns the end of a value without closing tag, or undefined if a tag follows that does not end one. */
function impliedEnd(text: string, start: number): number | undefined {
  TAG.lastIndex = start
  const tag = TAG.exec(text)
  return tag?.[0] === PARAMETER || tag?.[0] === FUNCTION_END ? tag.index : undefined
}

type Tag =
  | { readonly ok: true; readonly name: string; readonly nameText: TextRange; readonly end: number }
  | { readonly ok: false; readonly why: string; readonly at: number }

/** Returns the name in a tag such as `<function=NAME>`, which is expected at `at`. */
function nameInTag(text: string, at: number, tag: string, expected: string): Tag {
  if (!text.startsWith(tag, at)) return { ok: false, why: describeUnexpected(text, at, text.length, expected), at }
  const end = endOfName(text, at + tag.length, BRACKET)
  const name = text.slice(at + tag.length, end).trim()
  if (text[end] !== '>' || /[\r\n]/.test(name)) return { ok: false, why: `${tag} is not closed by ">"`, at: end }
  return name === ''
    ? { ok: false, why: `${tag} is not followed by a name`, at: end }
    : { ok: true, name, nameText: nameRange(text, at + tag.length, end), end: end + 1 }
}

function withoutFrame(text: string, { start, end }: TextRange): TextRange {
  const first = start < end && text[start] === '\n' ? start + 1 : start
  return { start: first, end: first < end && text[end - 1] === '\n' ? end - 1 : end }
}
