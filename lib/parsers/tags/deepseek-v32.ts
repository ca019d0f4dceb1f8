/**
 * DeepSeek V3.2 and V4, DSML: `<｜DSML｜invoke name="NAME">` with `<｜DSML｜parameter name="KEY"
 * string="true|false">VALUE</｜DSML｜parameter>` or one JSON object in it, `</｜DSML｜invoke>`; in a block. A value is an
 * unchanged text, or JSON. The versions differ in the name of the block.
 */

import { scanWhole, skipSpace } from '#lib/json/json-scan.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from '../parser.ts'
import {
  createDelimiterFinders,
  type DelimiterFinders,
  earlierPosition,
  malformedCall,
  malformedEnd,
  readEachCall,
} from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import { createJsonBodyReader, type JsonBodyReader } from '../reading/json-body.ts'
import { type ParameterGrammar, type ParameterReader, parameterReader } from '../reading/parameters.ts'
import { requireSections } from '../reading/sections.ts'
import { nameRange, taggedCall } from '../reading/tagged.ts'
import type { TypedValue } from '../reading/typed-value.ts'

const delimiters = { open: '<｜DSML｜invoke', close: '</｜DSML｜invoke>' } as const
const sectionOf = (block: string) => ({ open: `<｜DSML｜${block}>`, close: `</｜DSML｜${block}>` })
const V32 = sectionOf('function_calls')
const V4 = sectionOf('tool_calls')

/** Parser of DeepSeek V3.2. */
export const deepseekV32 = dsmlParser('deepseek_v32', 'deepseekv32', V32, V4)
/** Parser of DeepSeek V4. */
export const deepseekV4 = dsmlParser('deepseek_v4', 'deepseekv4', V4, V32)

type Section = ReturnType<typeof sectionOf>

function dsmlParser(name: string, sglangName: string, section: Section, other: Section): ToolParser {
  return {
    name,
    sglangNames: [sglangName],
    delimiters: { ...delimiters, section },
    parse(text, shielded) {
      // A call may have no block, but not the block of the other version.
      const mayLack = !text.includes(other.open)
      return requireSections(text, callsOf(text, shielded, section), shielded, { section, mustClose: true, mayLack })
    },
  }
}

function callsOf(text: string, shielded: readonly TextRange[], section: Section): readonly ParsedCall[] {
  const { nextOpen, nextClose } = createDelimiterFinders(text, delimiters)
  const nextSectionEnd = createFinder(text, section.close)
  const finders = { nextClose, nextOpen: (from: number) => earlierPosition(nextOpen(from), nextSectionEnd(from)) }
  const readers = {
    json: createJsonBodyReader(text, delimiters.close, finders, 'the call'),
    parameters: parameterReader(text, GRAMMAR),
  }
  return readEachCall(shielded, { nextOpen, nextClose }, (open) => readCall(text, open, readers, finders))
}

interface Readers {
  readonly json: JsonBodyReader
  readonly parameters: ParameterReader
}

const NAME = /\s+name="([^"]*)"\s*(\/?)>/y

function readCall(text: string, open: number, readers: Readers, finders: DelimiterFinders): ParsedCall {
  const start = open + delimiters.open.length
  const fault = (why: string, at: number, name?: string) =>
    malformedCall(text, open, { why, at, name }, delimiters, malformedEnd(text, at, finders))
  NAME.lastIndex = start
  const tag = NAME.exec(text)
  if (!tag) return fault(`${delimiters.open} is not followed by name="…">`, start)
  const bodyStart = NAME.lastIndex
  const quoted = text.indexOf('"', start) + 1
  const name = elementAt(tag, 1).trim()
  if (name === '') return fault('the call has no name', quoted)
  const nameText = nameRange(text, quoted, quoted + elementAt(tag, 1).length)
  if (tag[2] === '/')
    return {
      ...{ kind: 'parsed', name, nameText, ignored: [], input: {}, arguments: [] },
      raw: text.slice(start, bodyStart),
      text: { start: open, end: bodyStart },
    }
  const at = skipSpace(text, bodyStart, text.length)
  if (text[at] !== '{')
    return taggedCall(text, open, readers.parameters(at, name, nameText), readValue, delimiters, finders)
  const body = readers.json(at)
  if (!body.ok) return fault(body.why, body.at, name)
  return {
    ...{ kind: 'parsed', name, nameText, ignored: [] },
    input: JSON.parse(text.slice(body.start, body.close)) as Record<string, unknown>,
    arguments: body.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
    raw: text.slice(start, body.close),
    text: { start: open, end: body.close + delimiters.close.length },
  }

  function readValue({ key, text: range }: NamedRange): TypedValue {
    const written = text.slice(range.start, range.end)
    if (STRING_TRUE.test(text.slice(key.end, range.start))) return { ok: true, value: written }
    const scan = scanWhole(text, range.start, range.end)
    return scan.ok
      ? { ok: true, value: JSON.parse(written) }
      : { ok: false, why: `is neither a text nor JSON: ${scan.why}`, at: scan.at }
  }
}

const STRING_TRUE = /string="true"/
const GRAMMAR: ParameterGrammar = {
  open: '<｜DSML｜parameter',
  attributes: /\s+name="([^"]+)"\s+string="(?:true|false)"\s*>/y,
  attributesAsWritten: 'name="…" string="true|false">',
  close: '</｜DSML｜parameter>',
  callClose: delimiters.close,
}
