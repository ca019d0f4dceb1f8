/**
 * Shared by deepseek_v3, deepseek_v31, kimi_k2, solar_open and functionary_v31: a head with the name between
 * delimiters, followed by the arguments as JSON.
 */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import {
  type CallFault,
  createDelimiterFinders,
  earlierPosition,
  endOfName,
  malformedCall,
  malformedEnd,
  readEachCall,
} from './calls.ts'
import { createFinder } from './finder.ts'
import { createJsonBodyReader } from './json-body.ts'
import { requireSections } from './sections.ts'

/** The part before the arguments. */
export type Head = { readonly writtenId?: string } & (
  | { readonly ok: true; readonly name: string; readonly nameText: TextRange; readonly argumentsAt: number }
  | ({ readonly ok: false } & CallFault)
)

interface HeadedFormat extends Pick<ToolParser, 'name' | 'sglangNames'> {
  /**
   * A section may stay unclosed: the template of DeepSeek V3 does not close that of a single call, and a reply may stop
   * before its end.
   */
  readonly delimiters: ToolParser['delimiters']
  /** True if calls may have no section in a text that opens none. */
  readonly sectionMayLack?: boolean
  readonly readHead: (text: string, start: number) => Head
  /** Text on its own line between the JSON and the end of the call. */
  readonly fence?: string
  /** The end of the head, in errors. */
  readonly headEnd?: string
}

/** Creates the parser of a format. */
export function headedParser(format: HeadedFormat): ToolParser {
  const { delimiters, sectionMayLack = false, readHead, fence = '', headEnd = 'name', ...names } = format
  const { section } = delimiters
  return { ...names, delimiters, parse }

  function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
    const { nextOpen, nextClose } = createDelimiterFinders(text, delimiters)
    const nextSectionEnd = section ? createFinder(text, section.close) : () => -1
    // An unclosed call ends with its section too.
    const finders = { nextClose, nextOpen: (from: number) => earlierPosition(nextOpen(from), nextSectionEnd(from)) }
    const read = createJsonBodyReader(text, fence + delimiters.close, finders, `what follows the ${headEnd}`)
    const calls = readEachCall(shielded, { nextOpen, nextClose }, (open) => {
      const start = open + delimiters.open.length
      const head = readHead(text, start)
      const call = readCall(start, head)
      return head.writtenId === undefined ? call : { ...call, writtenId: head.writtenId }
    })
    return section
      ? requireSections(text, calls, shielded, { section, mustClose: false, mayLack: sectionMayLack })
      : calls

    function readCall(start: number, head: Head): ParsedCall {
      const open = start - delimiters.open.length
      const fault = (found: CallFault) =>
        malformedCall(text, open, found, delimiters, malformedEnd(text, found.at, finders))
      if (!head.ok) return fault(head)
      const body = read(head.argumentsAt)
      if (!body.ok) return fault({ why: body.why, at: body.at, name: head.name })
      if (fence !== '' && text[body.close - 1] !== '\n')
        return fault({ why: `there is no line break before ${fence}`, at: body.close, name: head.name })
      const close = body.close + fence.length
      return {
        kind: 'parsed',
        name: head.name,
        nameText: head.nameText,
        ignored: [],
        input: JSON.parse(text.slice(body.start, body.close)) as Record<string, unknown>,
        arguments: body.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
        raw: text.slice(start, close),
        text: { start: open, end: close + delimiters.close.length },
      }
    }
  }
}

/**
 * Creates a reader of a head with a name and a separator. `nameEnd` matches characters that no name has, with the flag
 * g; `expected` is the separator, in errors.
 */
export const nameBefore =
  (separator: string, nameEnd: RegExp, expected = separator): HeadedFormat['readHead'] =>
  (text, from) => {
    const start = skipSpace(text, from, text.length)
    const end = endOfName(text, start, nameEnd)
    const name = text.slice(start, end)
    if (name === '') return { ok: false, why: 'the call has no name', at: start }
    const at = skipSpace(text, end, text.length)
    if (!text.startsWith(separator, at))
      return { ok: false, why: describeUnexpected(text, at, text.length, expected), at, name }
    return { ok: true, name, nameText: { start, end }, argumentsAt: at + separator.length }
  }
