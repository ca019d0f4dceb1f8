/** Shared by formats whose calls are a name and argument values, each between tags and as bare text. */

import { describeRepeatedName, describeUnexpected } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { argumentTypes } from './argument-types.ts'
import { type DelimiterFinders, malformedCall, malformedEnd } from './calls.ts'
import { type TypedValue, typedValue } from './typed-value.ts'

/** The tags of a call: the ranges of the values and what is wrong, before the values are typed. */
export type Tagged =
  | {
      readonly ok: true
      readonly name: string
      readonly nameText: TextRange
      readonly values: readonly NamedRange[]
      /** Offset of the closing delimiter. */
      readonly close: number
    }
  | {
      readonly ok: false
      readonly why: string
      readonly at: number
      readonly name?: string
      /** Values before the fault. */
      readonly values: readonly NamedRange[]
    }

/** Types a value of a call. */
export type ValueReader = (argument: NamedRange, tool: string) => TypedValue

/** Types values by the schema of the tool; `words` are literals besides JSON's. */
export const typedBySchema =
  (text: string, tools: readonly ToolSpec[], words: ReadonlyMap<string, unknown>): ValueReader =>
  (argument, tool) =>
    typedValue(text, argument.text, argumentTypes(tools, tool, argument.name), words)

/** Returns the call of its tags. */
export function taggedCall(
  text: string,
  open: number,
  tagged: Tagged,
  readValue: ValueReader,
  delimiters: ToolParser['delimiters'],
  finders: DelimiterFinders,
): ParsedCall {
  if (!tagged.ok) {
    const { name } = tagged
    const value = crossing(open, tagged, finders)
    const fault = value ? { why: unclosedValueReason(value.name), at: value.text.start, name } : tagged
    return malformedCall(text, open, fault, delimiters, malformedEnd(text, fault.at, finders))
  }
  const { name, nameText, values, close } = tagged
  const fault = (why: string, at: number) =>
    malformedCall(text, open, { why, at, name }, delimiters, { body: close, isClosed: true })
  const input = new Map<string, unknown>()
  for (const value of values) {
    if (input.has(value.name)) return fault(describeRepeatedName(value.name), value.key.start)
    const typed = readValue(value, name)
    if (!typed.ok) return fault(`${JSON.stringify(value.name)} ${typed.why}`, typed.at)
    input.set(value.name, typed.value)
  }
  return {
    kind: 'parsed',
    name,
    nameText,
    ignored: [],
    input: Object.fromEntries(input),
    arguments: values,
    raw: text.slice(open + delimiters.open.length, close),
    text: { start: open, end: close + delimiters.close.length },
  }
}

/** Returns the range of a name between optional white space; `end` is after it. */
export function nameRange(text: string, start: number, end: number): TextRange {
  const written = text.slice(start, end)
  return { start: end - written.trimStart().length, end: start + written.trimEnd().length }
}

/** Returns the fault of a missing tag. */
export const missing = (
  text: string,
  at: number,
  expected: string,
  name: string,
  values: readonly NamedRange[],
): Tagged => ({ ok: false, why: describeUnexpected(text, at, text.length, expected), at, name, values })

/** Returns why the value of an argument is not closed. */
export const unclosedValueReason = (argument: string): string =>
  `the value of ${JSON.stringify(argument)} is not closed`

/**
 * Returns the first value that contains the closing delimiter of the call. A value may contain it as text; but if the call failed after
 * such a value, the value was unclosed and the delimiter was the call's own.
 */
function crossing(open: number, { values }: Tagged, { nextClose }: DelimiterFinders): NamedRange | undefined {
  const close = nextClose(open)
  return close < 0 ? undefined : values.find(({ text }) => close < text.end)
}

/** Returns whether the call failed and one of its values contains the closing delimiter. */
export const hasDelimiterInValue = (tagged: Tagged, open: number, finders: DelimiterFinders): boolean =>
  !tagged.ok && crossing(open, tagged, finders) !== undefined
