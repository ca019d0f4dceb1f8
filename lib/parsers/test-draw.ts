/** Test drawing of what a parser found. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { ParsedCall, TextRange, ToolParser } from './parser.ts'
import { thinkBlocks, thinkDelimitersIn } from './thinking.ts'

/** A line for each call: `name(arguments)`, or `✗ why @place` for a malformed one. */
export const draw = (calls: readonly ParsedCall[]): string[] =>
  calls.map((call) =>
    call.kind === 'parsed' ? `${call.name}(${JSON.stringify(call.input)})` : `✗ ${call.why} @${call.at}`,
  )

export const taken = (text: string, { start, end }: TextRange): string => text.slice(start, end)

/** As a text without ids is parsed: think blocks found by their text. */
export function parseText(parser: ToolParser, text: string, tools: readonly ToolSpec[] = []): readonly ParsedCall[] {
  return parser.parse(text, thinkBlocks(text, thinkDelimitersIn(text), false, parser.delimiters), tools)
}
