/** DeepSeek V3.1: `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` in a section. */
import { endOfName } from './calls.ts'
import { type Head, headedParser } from './headed-call.ts'
import { skipSpace, whatStands } from './json-scan.ts'
import type { ToolParser } from './parser.ts'

const section = { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' } as const
/** Of V3 too. */
export const DELIMITERS = { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>', section } as const
export const SEPARATOR = '<｜tool▁sep｜>'
const NAME_END = /[<\s]/g

export const deepseekV31: ToolParser = headedParser({ name: 'deepseek_v31', delimiters: DELIMITERS, readHead })

function readHead(text: string, start: number): Head {
  const nameStart = skipSpace(text, start, text.length)
  const nameEnd = endOfName(text, nameStart, NAME_END)
  const name = text.slice(nameStart, nameEnd)
  if (name === '') return { ok: false, why: 'the call has no name', at: nameStart }
  const at = skipSpace(text, nameEnd, text.length)
  if (!text.startsWith(SEPARATOR, at)) return { ok: false, why: whatStands(text, at, text.length, SEPARATOR), at, name }
  return { ok: true, name, nameText: { start: nameStart, end: nameEnd }, argumentsAt: at + SEPARATOR.length }
}
