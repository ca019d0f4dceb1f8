/** DeepSeek V3.1: `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` in a section. */
import { endOfName } from './calls.ts'
import { deepseekParser, type Head, SEPARATOR } from './deepseek-call.ts'
import { skipSpace, whatStands } from './json-scan.ts'
import type { ToolParser } from './parser.ts'

const NAME_END = /[<\s]/g

export const deepseekV31: ToolParser = deepseekParser({ name: 'deepseek_v31', readHead, fence: '' })

function readHead(text: string, start: number): Head {
  const nameStart = skipSpace(text, start, text.length)
  const nameEnd = endOfName(text, nameStart, NAME_END)
  const name = text.slice(nameStart, nameEnd)
  if (name === '') return { ok: false, why: 'the call has no name', at: nameStart }
  const at = skipSpace(text, nameEnd, text.length)
  if (!text.startsWith(SEPARATOR, at)) return { ok: false, why: whatStands(text, at, text.length, SEPARATOR), at, name }
  return { ok: true, name, nameText: { start: nameStart, end: nameEnd }, argumentsAt: at + SEPARATOR.length }
}
