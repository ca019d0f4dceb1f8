import type { ParsedCall, TextRange, ToolParser } from './parser.ts'
import { within } from './within.ts'

/** The text without its calls, and without the tags around runs of them. Think blocks stay as they are. */
export function textWithoutCalls(
  text: string,
  calls: readonly ParsedCall[],
  shielded: readonly TextRange[],
  delimiters: ToolParser['delimiters'],
): string {
  const tags = sectionTags(text, calls, shielded, delimiters)
  const cuts = [...calls.map((call) => call.text), ...tags].sort((a, b) => a.start - b.start)
  let from = 0
  let rest = ''
  for (const { start, end } of cuts) {
    rest += text.slice(from, start)
    from = end
  }
  return rest + text.slice(from)
}

/** A tag around a run of calls. */
export interface SectionTag extends TextRange {
  readonly kind: 'open' | 'close'
}

/** Those that stand in no call and no think block, in order. */
export function sectionTags(
  text: string,
  calls: readonly ParsedCall[],
  shielded: readonly TextRange[],
  { section }: ToolParser['delimiters'],
): readonly SectionTag[] {
  if (!section) return []
  const isInCall = within(calls.map((call) => call.text))
  const isShielded = within(shielded)
  return (['open', 'close'] as const)
    .flatMap((kind) =>
      Array.from(
        text.matchAll(literal(section[kind])),
        ({ 0: tag, index }): SectionTag => ({ kind, start: index, end: index + tag.length }),
      ),
    )
    .sort((a, b) => a.start - b.start)
    .filter(({ start }) => !isInCall(start) && !isShielded(start))
}

const literal = (tag: string): RegExp => new RegExp(tag.replaceAll('|', '\\|'), 'g')
