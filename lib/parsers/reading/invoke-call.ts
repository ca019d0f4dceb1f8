/**
 * Shared by minimax-m2, minimax-m3, muse, minicpm5 and kimi_k3: a tag with a name for a call, with a tag for each parameter in it. Values
 * are the content of these tags.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { createDelimiterFinders, earlierPosition, malformedCall, malformedEnd, readEachCall } from './calls.ts'
import { createFinder } from './finder.ts'
import { type ParameterGrammar, parameterReader } from './parameters.ts'
import { requireSections } from './sections.ts'
import { nameRange, type Tagged, taggedCall, typedBySchema, type ValueReader } from './tagged.ts'

/** The opening tag of a call with a name. */
export interface NamedOpening {
  /** Matches the tag after `open` of the delimiters, with the name as its group; sticky. */
  readonly name: RegExp
  readonly asWritten: string
  /** Returns the name without its escapes. */
  readonly unescape: (name: string) => string
}

/** An opening tag with the attribute `name`. */
export const NAMED: NamedOpening = { name: /\s+name="([^"]*)"\s*>/y, asWritten: 'name="…">', unescape: (name) => name }
const words = new Map<string, unknown>()

interface InvokeFormat {
  /** Omitted if calls need no section. */
  readonly section?: { readonly open: string; readonly close: string }
  readonly call: string
  readonly parameter: string
  readonly frame?: ParameterGrammar['frame']
  /** Omitted if the schema of the tool types values. */
  readonly valueReader?: (text: string, tools: readonly ToolSpec[]) => ValueReader
}

/** Creates the parser of a format. */
export function invokeParser({
  section,
  call,
  parameter,
  frame,
  valueReader = (text, tools) => typedBySchema(text, tools, words),
}: InvokeFormat): Pick<ToolParser, 'delimiters' | 'parse'> {
  const delimiters = { open: `<${call}`, close: `</${call}>`, ...(section && { section }) }
  const grammar: ParameterGrammar = {
    open: `<${parameter}`,
    attributes: /\s+name="\s*([^"\s](?:[^"]*[^"\s])?)\s*"\s*>/y,
    attributesAsWritten: 'name="…">',
    close: `</${parameter}>`,
    ...(frame && { frame }),
    callClose: delimiters.close,
  }
  return { delimiters, parse }

  function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
    const readValue = valueReader(text, tools)
    const readParameters = parameterReader(text, grammar)
    return invokesIn(text, shielded, { delimiters, opening: NAMED, mustClose: true }, (start, name, nameText) => ({
      tagged: readParameters(skipSpace(text, start, text.length), name, nameText),
      readValue,
    }))
  }
}

interface InvokeMarks {
  readonly delimiters: ToolParser['delimiters']
  readonly opening: NamedOpening
  /** Whether a section must close. */
  readonly mustClose: boolean
}

interface InvokeBody {
  readonly tagged: Tagged
  readonly readValue: ValueReader
}

/** Returns the calls whose opening tag contains their name. `read` reads the content after that tag. */
export function invokesIn(
  text: string,
  shielded: readonly TextRange[],
  { delimiters, opening, mustClose }: InvokeMarks,
  read: (start: number, name: string, nameText: TextRange) => InvokeBody,
): readonly ParsedCall[] {
  const { section } = delimiters
  const { nextOpen, nextClose } = createDelimiterFinders(text, delimiters)
  const nextSectionEnd = section ? createFinder(text, section.close) : () => -1
  // An unclosed call ends with its section too.
  const finders = { nextClose, nextOpen: (from: number) => earlierPosition(nextOpen(from), nextSectionEnd(from)) }
  const calls = readEachCall(shielded, { nextOpen, nextClose }, (open) => {
    const start = open + delimiters.open.length
    const fault = (why: string, at: number) =>
      malformedCall(text, open, { why, at }, delimiters, malformedEnd(text, at, finders))
    opening.name.lastIndex = start
    const written = opening.name.exec(text)?.[1]
    if (written === undefined) return fault(`${delimiters.open} is not followed by ${opening.asWritten}`, start)
    const bodyStart = opening.name.lastIndex
    const quoted = text.indexOf('"', start) + 1
    const name = opening.unescape(written.trim())
    if (name === '') return fault('the call has no name', quoted)
    const { tagged, readValue } = read(bodyStart, name, nameRange(text, quoted, quoted + written.length))
    return taggedCall(text, open, tagged, readValue, delimiters, finders)
  })
  return section ? requireSections(text, calls, shielded, { section, mustClose, mayLack: false }) : calls
}
