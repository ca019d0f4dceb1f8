/** Functionary 3.1, and Llama 3.1 where its prompt asks for it: `<function=NAME>{…}</function>`. */
import { endOfName } from './calls.ts'
import { type Head, headedParser } from './headed-call.ts'
import { skipSpace, whatStands } from './json-scan.ts'
import type { ToolParser } from './parser.ts'

const delimiters = { open: '<function=', close: '</function>' } as const
const NAME_END = /[<>\s]/g

export const functionaryV31: ToolParser = headedParser({ name: 'functionary_v31', delimiters, readHead })

function readHead(text: string, start: number): Head {
  const nameStart = skipSpace(text, start, text.length)
  const nameEnd = endOfName(text, nameStart, NAME_END)
  const name = text.slice(nameStart, nameEnd)
  if (name === '') return { ok: false, why: 'the call has no name', at: nameStart }
  const at = skipSpace(text, nameEnd, text.length)
  if (text[at] !== '>') return { ok: false, why: whatStands(text, at, text.length, '">"'), at, name }
  return { ok: true, name, nameText: { start: nameStart, end: nameEnd }, argumentsAt: at + 1 }
}
