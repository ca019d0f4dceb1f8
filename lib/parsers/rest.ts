import type { Markup, PlacedCall, TextRange, ToolParser } from './parser.ts'
import { within } from './within.ts'

type Format = Pick<ToolParser, 'delimiters' | 'markup'>

/** The text without its calls, and without what the format writes around them. Think blocks stay as they are. */
export function textWithoutCalls(
  text: string,
  calls: readonly PlacedCall[],
  shielded: readonly TextRange[],
  format: Format,
): string {
  const cuts = [...calls.map((call) => call.text), ...markupIn(text, calls, shielded, format)]
  let from = 0
  let rest = ''
  for (const { start, end } of cuts.sort((a, b) => a.start - b.start)) {
    rest += text.slice(from, start)
    from = end
  }
  return rest + text.slice(from)
}

/** What of the format stands in no call and no think block, in order. */
export function markupIn(
  text: string,
  calls: readonly PlacedCall[],
  shielded: readonly TextRange[],
  format: Format,
): readonly Markup[] {
  if (format.markup) return format.markup(text, calls, shielded)
  const { section } = format.delimiters
  if (!section) return []
  const isInCall = within(calls.map((call) => call.text))
  const isShielded = within(shielded)
  return (['open', 'close'] as const)
    .flatMap((kind) =>
      Array.from(
        text.matchAll(literal(section[kind])),
        ({ 0: tag, index }): Markup => ({ kind, start: index, end: index + tag.length }),
      ),
    )
    .sort((a, b) => a.start - b.start)
    .filter(({ start }) => !isInCall(start) && !isShielded(start))
}

const literal = (tag: string): RegExp => new RegExp(tag.replaceAll('|', '\\|'), 'g')
