/**
 * Shared by deepseek_v32, deepseek_v4, kimi_k3 and the formats with invoke tags: parameters whose names are attributes
 * of their tags.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { NamedRange, TextRange } from '../parser.ts'
import { createFinder } from './finder.ts'
import { missing, type Tagged, unclosedValueReason } from './tagged.ts'
import { escaped } from './tags.ts'

/** The notation of parameters. */
export interface ParameterGrammar {
  /** Opening text of a parameter, before its attributes. */
  readonly open: string
  /** The attributes and the end of the tag; sticky. Its first group is the name. */
  readonly attributes: RegExp
  /** Decodes the name of an attribute. Omitted: attributes have no escapes. */
  readonly unescape?: (attribute: string) => string
  /** The attributes, in errors. */
  readonly attributesAsWritten: string
  readonly close: string
  /** Delimiters that allow a value to contain the closing tag. */
  readonly frame?: { readonly open: string; readonly close: string }
  readonly callClose: string
}

/** Reads the parameters from a position up to the end of their call. */
export type ParameterReader = (start: number, name: string, nameText: TextRange) => Tagged

/** Creates a reader of parameters. */
export function parameterReader(text: string, grammar: ParameterGrammar): ParameterReader {
  // Code in a value may contain the beginning of a tag.
  const nextOpen = createFinder(text, new RegExp(`${escaped(grammar.open)}\\s+\\w+="`, 'g'))
  const nextClose = createFinder(text, grammar.close)
  const { frame } = grammar
  const nextFrameEnd = createFinder(text, frame?.close ?? grammar.close)
  return (start, name, nameText) => {
    const values: NamedRange[] = []
    let position = start
    while (!text.startsWith(grammar.callClose, position)) {
      if (!text.startsWith(grammar.open, position))
        return missing(text, position, `${grammar.open} or ${grammar.callClose}`, name, values)
      const tagAt = position + grammar.open.length
      grammar.attributes.lastIndex = tagAt
      const written = grammar.attributes.exec(text)?.[1]
      if (written === undefined) {
        const why = `${grammar.open} is not followed by ${grammar.attributesAsWritten}`
        return { ok: false, why, at: tagAt, name, values }
      }
      const argument = grammar.unescape?.(written) ?? written
      const tagEnd = grammar.attributes.lastIndex
      const isFramed = frame !== undefined && text.startsWith(frame.open, tagEnd)
      const valueStart = isFramed ? tagEnd + frame.open.length : tagEnd
      const valueEnd = isFramed ? nextFrameEnd(valueStart) : nextClose(valueStart)
      const end = isFramed && valueEnd >= 0 ? valueEnd + frame.close.length : valueEnd
      const another = nextOpen(valueStart)
      const isOpen = isFramed ? !text.startsWith(grammar.close, end) : another >= 0 && another < end
      if (valueEnd < 0 || isOpen) return { ok: false, why: unclosedValueReason(argument), at: valueStart, name, values }
      const keyStart = text.indexOf(written, text.indexOf('"', tagAt))
      const key = { start: keyStart, end: keyStart + written.length }
      values.push({ name: argument, key, text: { start: valueStart, end: valueEnd } })
      position = skipSpace(text, end + grammar.close.length, text.length)
    }
    return { ok: true, name, nameText, values, close: position }
  }
}
