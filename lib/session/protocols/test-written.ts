/** Replies of every format as the record has them, for tests. */
import fc from 'fast-check'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { markupIn } from '#lib/parsers/reading/rest.ts'
import { CALLS, TWO_CALLS } from '#lib/parsers/test-calls.ts'
import { thinkBlocks, thinkDelimitersIn } from '#lib/parsers/thinking.ts'
import type { WrittenReply } from '#lib/rollout/prompt/written-reply.ts'
import type { ToolCall } from '#lib/trajectory/format/trajectory.ts'

/** Returns a text as the record has it: its think blocks, calls and markup. */
export function toWrittenReply(parser: ToolParser, text: string, opened = false): WrittenReply {
  const thinks = thinkBlocks(text, thinkDelimitersIn(text), opened, parser.delimiters)
  const calls = parser.parse(text, thinks, []).map((call, index): ToolCall => {
    const place = { id: `call_${index}`, raw: call.raw, span: { start: 0, end: 0 }, text: call.text }
    return call.kind === 'parsed'
      ? { ...place, kind: 'parsed', name: call.name, input: call.input, arguments: [] }
      : { ...place, kind: 'malformed', why: call.why, at: call.at }
  })
  return { text, thinks, calls, markup: markupIn(text, calls, thinks, parser) }
}

/** Returns replies in the format of a parser: thinking, texts, whole and broken calls, alone and in a section. */
export function repliesOf({ name }: ToolParser): fc.Arbitrary<string> {
  const call = CALLS[name] as (json: string) => string
  const [open, whole, between, broken, close] = TWO_CALLS[name] as readonly [string, string, string, string, string]
  const part = fc.constantFrom(
    ...['<think>', '</think>', 'hm ', '\n', ' ', 'text', '日本', '🎈', '{', '[', '<', '"a"', '>>>', 'Action:'],
    ...['[f(', '<|', '</', 'all\n'],
    ...[
      call('1'),
      call('"x"'),
      open + whole + between + broken + close,
      open + whole + close,
      open,
      whole,
      broken,
      close,
    ],
  )
  return fc.array(part, { maxLength: 10 }).map((parts) => parts.join(''))
}
