/** Test output of parser results. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { ParsedCall, TextRange, ToolParser } from './parser.ts'
import { thinkBlocks, thinkDelimitersIn } from './thinking.ts'

/** Returns a line for each call: `name(arguments)`, or `✗ why @position` for a malformed one. */
export const describeCalls = (calls: readonly ParsedCall[]): string[] =>
  calls.map((call) =>
    call.kind === 'parsed' ? `${call.name}(${JSON.stringify(call.input)})` : `✗ ${call.why} @${call.at}`,
  )

/** Returns the text of a range. */
export const textInRange = (text: string, { start, end }: TextRange): string => text.slice(start, end)

/** Parses a text without ids: think blocks are found by their text. */
export function parseText(parser: ToolParser, text: string, tools: readonly ToolSpec[] = []): readonly ParsedCall[] {
  return parser.parse(text, thinkBlocks(text, thinkDelimitersIn(text), false, parser.delimiters), tools)
}
