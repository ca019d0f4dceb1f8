/**
 * DeepSeek V3.2 to V4.1, DSML: `<｜DSML｜invoke name="NAME">` with `<｜DSML｜parameter name="KEY"
 * string="true|false">VALUE</｜DSML｜parameter>` or one JSON object in it, `</｜DSML｜invoke>`; in a block. A value is an
 * unchanged text, or JSON. The versions differ in the name of the block, and V4.1 writes a space before all names.
 * GigaChat 3.5 has the tags of V4 with another token.
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

const V32 = tagsOf('｜DSML｜', 'function_calls')
const V4 = tagsOf('｜DSML｜', 'tool_calls')

/** Parser of DeepSeek V3.2. */
export const deepseekV32 = dsmlParser('deepseek_v32', 'deepseekv32', V32, [V4])
/** Parser of DeepSeek V4. */
export const deepseekV4 = dsmlParser('deepseek_v4', 'deepseekv4', V4, [V32])
/** Parser of DeepSeek V4.1. */
export const deepseekV41 = dsmlParser('deepseek_v41', 'deepseekv41', tagsOf('｜DSML｜ ', 'calls'))
/** Parser of GigaChat 3.5. */
export const gigachat35 = dsmlParser('gigachat35', 'gigachat35', {
  ...tagsOf('｜GCML｜', 'tool_calls'),
  around: ['<|message_sep|>', '</s>'],
})

interface DsmlTags extends Pick<ToolParser['delimiters'], 'open' | 'close' | 'around'> {
  readonly section: NonNullable<ToolParser['delimiters']['section']>
  readonly grammar: ParameterGrammar
}

/** Returns the tags whose names follow a mark. */
function tagsOf(mark: string, block: string): DsmlTags {
  const close = `</${mark}invoke>`
  return {
    ...{ open: `<${mark}invoke`, close },
    section: { open: `<${mark}${block}>`, close: `</${mark}${block}>` },
    grammar: {
      open: `<${mark}parameter`,
      attributes: /\s+name="([^"]+)"\s+string="(?:true|false)"\s*>/y,
      attributesAsWritten: 'name="…" string="true|false">',
      close: `</${mark}parameter>`,
      callClose: close,
    },
  }
}

/** Creates the parser of a version. `others` are versions with the same calls in other blocks. */
function dsmlParser(
  name: string,
  sglangName: string,
  { grammar, ...delimiters }: DsmlTags,
  others: readonly DsmlTags[] = [],
): ToolParser {
  const { section } = delimiters
  return {
    ...{ name, sglangNames: [sglangName], delimiters },
    parse(text, shielded) {
      // A call may have no block, but not the block of another version.
      const mayLack = !others.some((other) => text.includes(other.section.open))
      return requireSections(text, callsIn(text, shielded), shielded, { section, mustClose: true, mayLack })
    },
  }

  function callsIn(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
    const { nextOpen, nextClose } = createDelimiterFinders(text, delimiters)
    const nextSectionEnd = createFinder(text, section.close)
    const finders = { nextClose, nextOpen: (from: number) => earlierPosition(nextOpen(from), nextSectionEnd(from)) }
    const readers = {
      json: createJsonBodyReader(text, delimiters.close, finders, 'the call'),
      parameters: parameterReader(text, grammar),
    }
    return readEachCall(shielded, { nextOpen, nextClose }, (open) => readCall(text, open, readers, finders, delimiters))
  }
}

interface Readers {
  readonly json: JsonBodyReader
  readonly parameters: ParameterReader
}

const NAME = /\s+name="([^"]*)"\s*(\/?)>/y

function readCall(
  text: string,
  open: number,
  readers: Readers,
  finders: DelimiterFinders,
  delimiters: ToolParser['delimiters'],
): ParsedCall {
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
