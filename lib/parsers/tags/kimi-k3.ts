/**
 * Kimi K3, XTML: `<|open|>call tool="NAME" index="1"<|sep|>` with `<|open|>argument key="KEY"
 * type="TYPE"<|sep|>VALUE<|close|>argument<|sep|>` in it, `<|close|>call<|sep|>`; any number of calls in a section. The
 * type of a value is written: a text is unchanged, anything else is JSON of that type. The index counts the calls of a
 * reply. It is not an id: the template counts them again.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { type JsonType, jsonTypes } from '../reading/argument-types.ts'
import { callsIn, earlier, malformedCall, malformedEnd, marksIn } from '../reading/calls.ts'
import { finder } from '../reading/finder.ts'
import { type ParameterGrammar, parameterReader } from '../reading/parameters.ts'
import { inSections } from '../reading/sections.ts'
import { nameRange, taggedCall } from '../reading/tagged.ts'
import { typedValue } from '../reading/typed-value.ts'

const section = { open: '<|open|>tools<|sep|>', close: '<|close|>tools<|sep|>' } as const
const delimiters = {
  ...{ open: '<|open|>call', close: '<|close|>call<|sep|>', section },
  around: ['<|open|>response<|sep|>', '<|close|>response<|sep|>', '<|close|>message<|sep|>'],
} as const
const unescaped = (attribute: string): string => attribute.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
const GRAMMAR: ParameterGrammar = {
  open: '<|open|>argument',
  attributes: new RegExp(`\\s+key="([^"]+)"\\s+type="(?:${jsonTypes.join('|')})"\\s*<\\|sep\\|>`, 'y'),
  attributesAsWritten: 'key="…" type="…"<|sep|>',
  unescape: unescaped,
  close: '<|close|>argument<|sep|>',
  callClose: delimiters.close,
}
const NAME = /\s+tool="([^"]*)"(?:\s+index="\d+")?\s*<\|sep\|>/y
const TYPE = /type="(\w+)"/
const words = new Map<string, unknown>()

/** Parser of Kimi K3. */
export const kimiK3: ToolParser = { name: 'kimi_k3', sglangNames: ['kimi_k3'], delimiters, parse }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const { nextOpen, nextClose } = marksIn(text, delimiters)
  const nextSectionEnd = finder(text, section.close)
  // An unclosed call ends with its section too.
  const marks = { nextClose, nextOpen: (from: number) => earlier(nextOpen(from), nextSectionEnd(from)) }
  const readParameters = parameterReader(text, GRAMMAR)
  const readValue = ({ key, text: range }: NamedRange) => {
    const type = TYPE.exec(text.slice(key.end, range.start))?.[1] as JsonType
    return typedValue(text, range, new Set([type]), words)
  }
  const calls = callsIn(shielded, { nextOpen, nextClose }, (open) => {
    const start = open + delimiters.open.length
    const fault = (why: string, at: number) =>
      malformedCall(text, open, { why, at }, delimiters, malformedEnd(text, at, marks))
    NAME.lastIndex = start
    const written = NAME.exec(text)?.[1]
    if (written === undefined) return fault(`${delimiters.open} is not followed by tool="…" index="…"<|sep|>`, start)
    const quoted = text.indexOf('"', start) + 1
    const name = unescaped(written.trim())
    if (name === '') return fault('the call has no name', quoted)
    const nameText = nameRange(text, quoted, quoted + written.length)
    const tagged = readParameters(skipSpace(text, NAME.lastIndex, text.length), name, nameText)
    return taggedCall(text, open, tagged, readValue, delimiters, marks)
  })
  return inSections(text, calls, shielded, { section, mustClose: false, mayLack: false })
}
