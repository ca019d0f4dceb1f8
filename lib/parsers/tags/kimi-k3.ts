/**
 * Kimi K3, XTML: `<|open|>call tool="NAME" index="1"<|sep|>` with `<|open|>argument key="KEY"
 * type="TYPE"<|sep|>VALUE<|close|>argument<|sep|>` in it, `<|close|>call<|sep|>`; any number of calls in a section. The
 * type of a value is written: a text is unchanged, anything else is JSON of that type. The index counts the calls of a
 * reply. It is not an id: the template counts them again.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { type JsonType, jsonTypes } from '../reading/argument-types.ts'
import { invokesIn, type NamedOpening } from '../reading/invoke-call.ts'
import { type ParameterGrammar, parameterReader } from '../reading/parameters.ts'
import { typedValue } from '../reading/typed-value.ts'

const section = { open: '<|open|>tools<|sep|>', close: '<|close|>tools<|sep|>' } as const
const delimiters = {
  ...{ open: '<|open|>call', close: '<|close|>call<|sep|>', section },
  around: ['<|open|>response<|sep|>', '<|close|>response<|sep|>', '<|close|>message<|sep|>'],
} as const
const unescapeAttribute = (attribute: string): string => attribute.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
const GRAMMAR: ParameterGrammar = {
  open: '<|open|>argument',
  attributes: new RegExp(`\\s+key="([^"]+)"\\s+type="(?:${jsonTypes.join('|')})"\\s*<\\|sep\\|>`, 'y'),
  attributesAsWritten: 'key="…" type="…"<|sep|>',
  unescape: unescapeAttribute,
  close: '<|close|>argument<|sep|>',
  callClose: delimiters.close,
}
const OPENING: NamedOpening = {
  name: /\s+tool="([^"]*)"(?:\s+index="\d+")?\s*<\|sep\|>/y,
  asWritten: 'tool="…" index="…"<|sep|>',
  unescape: unescapeAttribute,
}
const TYPE = /type="(\w+)"/
const words = new Map<string, unknown>()

/** Parser of Kimi K3. */
export const kimiK3: ToolParser = { name: 'kimi_k3', sglangNames: ['kimi_k3'], delimiters, parse }

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const readParameters = parameterReader(text, GRAMMAR)
  const readValue = ({ key, text: range }: NamedRange) => {
    const type = TYPE.exec(text.slice(key.end, range.start))?.[1] as JsonType
    return typedValue(text, range, new Set([type]), words)
  }
  return invokesIn(text, shielded, { delimiters, opening: OPENING, mustClose: false }, (start, name, nameText) => ({
    tagged: readParameters(skipSpace(text, start, text.length), name, nameText),
    readValue,
  }))
}
