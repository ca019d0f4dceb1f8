import type { ParsedCall, TextRange, ToolParser } from './parser.ts'
import { within } from './within.ts'

/** The text without its calls, and without the tags around runs of them. Think blocks stay as they are. */
export function textWithoutCalls(
  text: string,
  calls: readonly ParsedCall[],
  shielded: readonly TextRange[],
  { section }: ToolParser['delimiters'],
): string {
  const isInCall = within(calls.map((call) => call.text))
  const isShielded = within(shielded)
  const tags = (section ? [section.open, section.close] : [])
    .flatMap((tag) =>
      Array.from(text.matchAll(literal(tag)), ({ index }) => ({ start: index, end: index + tag.length })),
    )
    .sort((a, b) => a.start - b.start)
    .filter(({ start }) => !isInCall(start) && !isShielded(start))
  const cuts = [...calls.map((call) => call.text), ...tags].sort((a, b) => a.start - b.start)
  let from = 0
  let rest = ''
  for (const { start, end } of cuts) {
    rest += text.slice(from, start)
    from = end
  }
  return rest + text.slice(from)
}

const literal = (tag: string): RegExp => new RegExp(tag.replaceAll('|', '\\|'), 'g')
