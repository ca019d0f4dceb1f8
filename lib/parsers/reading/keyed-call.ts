/**
 * Shared by glm, hunyuan, k2_horizon, longcat and solar_open2: a call is a name and pairs of a key and a value, each between tags.
 * Values are the unquoted content of the tags.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { type ArgumentTypes, argumentTypes, jsonTypes } from './argument-types.ts'
import { createDelimiterFinders, earlierPosition, endOfName, readEachCall } from './calls.ts'
import { createFinder } from './finder.ts'
import { requireSections } from './sections.ts'
import {
  missing,
  nameRange,
  type Tagged,
  taggedCall,
  typedBySchema,
  unclosedValueReason,
  type ValueReader,
} from './tagged.ts'
import { typedValue } from './typed-value.ts'

type TagPair = readonly [open: string, close: string]

/** The tags of a format. */
export interface KeyedTags {
  readonly call: TagPair
  /** The closing tag is empty in a format whose keys end where the tag of the value opens. */
  readonly key: TagPair
  readonly value: TagPair
}

/** Returns the tags of a format that names them as GLM does, with a prefix and a suffix of all names, or another name of the call. */
export function keyedTags({ prefix = '', suffix = '', tag = 'tool_call' } = {}): KeyedTags {
  const pair = (name: string): TagPair => [`<${prefix}${name}${suffix}>`, `</${prefix}${name}${suffix}>`]
  return { call: pair(tag), key: pair('arg_key'), value: pair('arg_value') }
}

interface KeyedFormat {
  readonly tags: KeyedTags
  /** Optional separator after the name. */
  readonly separator?: string
  readonly section?: { readonly open: string; readonly close: string }
  /** True if calls need no section in a text that has none. */
  readonly mayLackSection?: boolean
  /** Tags of the type that a value may have before it. */
  readonly type?: TagPair
}

const TAG = /</g
const SPACE = /\s/
const words = new Map<string, unknown>()

/** Creates the parser of a format. */
export function keyedParser({
  tags,
  separator,
  section,
  mayLackSection: mayLack = false,
  type,
}: KeyedFormat): Pick<ToolParser, 'delimiters' | 'parse'> {
  const [keyOpen, keyClose] = tags.key
  const [valueOpen, valueClose] = tags.value
  const delimiters = { open: tags.call[0], close: tags.call[1], ...(section && { section }) }
  const keyOrClose = `${keyOpen} or ${delimiters.close}`
  return { delimiters, parse }

  function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
    const { nextOpen, nextClose } = createDelimiterFinders(text, delimiters)
    const nextSectionEnd = section ? createFinder(text, section.close) : () => -1
    // An unclosed call ends with its section too.
    const finders = { nextClose, nextOpen: (from: number) => earlierPosition(nextOpen(from), nextSectionEnd(from)) }
    const readValue = type === undefined ? typedBySchema(text, tools, words) : typedByTag(text, tools, type[0])
    const places = { nextValue: createFinder(text, valueOpen), nextValueEnd: createFinder(text, valueClose) }
    const calls = readEachCall(shielded, { nextOpen, nextClose }, (open) =>
      taggedCall(text, open, readCall(text, open + delimiters.open.length, places), readValue, delimiters, finders),
    )
    return section ? requireSections(text, calls, shielded, { section, mustClose: false, mayLack }) : calls
  }

  function readCall(text: string, start: number, { nextValue, nextValueEnd }: Places): Tagged {
    const values: NamedRange[] = []
    let position = endOfName(text, start, TAG)
    const name = text.slice(start, position).trim()
    const nameText = nameRange(text, start, position)
    if (name === '') return { ok: false, why: 'the call has no name', at: position, values }
    const space = name.search(SPACE)
    if (space >= 0)
      return { ok: false, why: 'the name of the call contains white space', at: nameText.start + space, values }
    if (separator !== undefined && text.startsWith(separator, position))
      position = skipSpace(text, position + separator.length, text.length)
    while (!text.startsWith(delimiters.close, position)) {
      if (!text.startsWith(keyOpen, position)) return missing(text, position, keyOrClose, name, values)
      const keyEnd = endOfName(text, position + keyOpen.length, TAG)
      const key = text.slice(position + keyOpen.length, keyEnd).trim()
      if (!text.startsWith(keyClose, keyEnd)) return missing(text, keyEnd, keyClose, name, values)
      if (key === '') return { ok: false, why: `${keyOpen} is not followed by a name`, at: keyEnd, name, values }
      let valueAt = skipSpace(text, keyEnd + keyClose.length, text.length)
      if (type !== undefined && text.startsWith(type[0], valueAt)) {
        const typeEnd = endOfName(text, valueAt + type[0].length, TAG)
        if (!text.startsWith(type[1], typeEnd)) return missing(text, typeEnd, type[1], name, values)
        valueAt = skipSpace(text, typeEnd + type[1].length, text.length)
      }
      if (!text.startsWith(valueOpen, valueAt)) return missing(text, valueAt, valueOpen, name, values)
      const valueStart = valueAt + valueOpen.length
      const valueEnd = nextValueEnd(valueStart)
      const another = nextValue(valueStart)
      if (valueEnd < 0 || (another >= 0 && another < valueEnd))
        return { ok: false, why: unclosedValueReason(key), at: valueStart, name, values }
      const keyText = nameRange(text, position + keyOpen.length, keyEnd)
      values.push({ name: key, key: keyText, text: { start: valueStart, end: valueEnd } })
      position = skipSpace(text, valueEnd + valueClose.length, text.length)
    }
    return { ok: true, name, nameText, values, close: position }
  }
}

/** Types values by the schema of the tool, or where it does not restrict a value, by the type that the call writes. */
const typedByTag =
  (text: string, tools: readonly ToolSpec[], open: string): ValueReader =>
  (argument, tool) => {
    const types = argumentTypes(tools, tool, argument.name)
    const written = text.slice(argument.key.end, argument.text.start).split(open)[1]
    return typedValue(text, argument.text, types ?? writtenTypes(written), words)
  }

/** A value of any type is a text. */
function writtenTypes(written: string | undefined): ArgumentTypes {
  const name = /^\s*(\w+)/.exec(written ?? '')?.[1]
  const type = jsonTypes.find((known) => known === (name === 'any' ? 'string' : name))
  return type && new Set([type])
}

interface Places {
  readonly nextValue: (from: number) => number
  readonly nextValueEnd: (from: number) => number
}
