/**
 * What deepseek_v3 and deepseek_v31 share: `<｜tool▁call▁begin｜>…<｜tool▁sep｜>…<｜tool▁call▁end｜>`, any number of them in a
 * section. The template of DeepSeek V3 does not close the section of a single call, so no section has to be closed.
 */
import { callsIn, earlier, type Fault, malformedCall, malformedEnd, marksIn } from './calls.ts'
import { finder } from './finder.ts'
import { jsonBodyReader } from './json-body.ts'
import type { ParsedCall, TextRange, ToolParser } from './parser.ts'
import { inSections } from './sections.ts'

const section = { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' } as const
const delimiters = { open: '<｜tool▁call▁begin｜>', close: '<｜tool▁call▁end｜>', section } as const
export const SEPARATOR = '<｜tool▁sep｜>'

/** What stands before the arguments. */
export type Head =
  | { readonly ok: true; readonly name: string; readonly nameText: TextRange; readonly argumentsAt: number }
  | ({ readonly ok: false } & Fault)

interface Format {
  readonly name: string
  readonly readHead: (text: string, start: number) => Head
  /** What stands between the JSON and the end of the call. */
  readonly fence: string
}

export function deepseekParser({ name, readHead, fence }: Format): ToolParser {
  return { name, delimiters, parse }

  function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
    const { nextOpen, nextClose } = marksIn(text, delimiters)
    const nextSectionEnd = finder(text, section.close)
    // A call that is not closed ends with its section too.
    const marks = { nextClose, nextOpen: (from: number) => earlier(nextOpen(from), nextSectionEnd(from)) }
    const read = jsonBodyReader(text, fence + delimiters.close, marks, 'what follows the name')
    const calls = callsIn(shielded, { nextOpen, nextClose }, (open): ParsedCall => {
      const start = open + delimiters.open.length
      const fault = (found: Fault) => malformedCall(text, open, found, delimiters, malformedEnd(text, found.at, marks))
      const head = readHead(text, start)
      if (!head.ok) return fault(head)
      const body = read(head.argumentsAt)
      if (!body.ok) return fault({ why: body.why, at: body.at, name: head.name })
      if (fence !== '' && text[body.close - 1] !== '\n')
        return fault({ why: `no line break stands before ${fence}`, at: body.close, name: head.name })
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
    })
    return inSections(text, calls, shielded, { section, mustClose: false, mayLack: false })
  }
}
