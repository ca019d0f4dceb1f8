/**
 * DeepSeek V3 and R1: `<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME`, the arguments as a fenced block of JSON on the
 * following lines, `<｜tool▁call▁end｜>`. Calls are in a section, which the template opens only for the first call of a
 * conversation. V3.1 writes `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` in a section.
 */

import { describeUnexpected } from '#lib/json/json-scan.ts'
import type { ToolParser } from '../parser.ts'
import { endOfName } from '../reading/calls.ts'
import { type Head, headedParser, nameBefore } from '../reading/headed-call.ts'

const section = { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' } as const
const delimiters = { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>', section } as const
/** Follows the kind or the name. */
const SEPARATOR = '<｜tool▁sep｜>'
const TYPE_END = /</g
const NAME_END = /[<\s]/g
const FENCE = '```'
const FENCE_OPEN = `\n${FENCE}json\n`

/** Parser of DeepSeek V3 and R1. */
export const deepseekV3: ToolParser = headedParser({
  name: 'deepseek_v3',
  sglangNames: ['deepseekv3'],
  delimiters,
  sectionMayLack: true,
  readHead,
  fence: FENCE,
})

/** Parser of DeepSeek V3.1. */
export const deepseekV31: ToolParser = headedParser({
  name: 'deepseek_v31',
  sglangNames: ['deepseekv31'],
  delimiters,
  readHead: nameBefore(SEPARATOR, NAME_END),
})

function readHead(text: string, start: number): Head {
  const separatorAt = endOfName(text, start, TYPE_END)
  if (!text.startsWith(SEPARATOR, separatorAt))
    return { ok: false, why: describeUnexpected(text, separatorAt, text.length, SEPARATOR), at: separatorAt }
  const nameStart = separatorAt + SEPARATOR.length
  const nameEnd = endOfName(text, nameStart, NAME_END)
  const name = text.slice(nameStart, nameEnd)
  if (name === '') return { ok: false, why: 'the call has no name', at: nameStart }
  if (!text.startsWith(FENCE_OPEN, nameEnd))
    return { ok: false, why: `the name is not followed by a line ${FENCE}json`, at: nameEnd, name }
  return { ok: true, name, nameText: { start: nameStart, end: nameEnd }, argumentsAt: nameEnd + FENCE_OPEN.length }
}
