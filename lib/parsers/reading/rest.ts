import type { Markup, PlacedCall, TextRange, ToolParser } from '../parser.ts'
import { anyOf } from './tags.ts'
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
  const { section, around = [] } = format.delimiters
  const kinds = new Map<string, Markup['kind']>(around.map((tag) => [tag, 'between']))
  if (section) kinds.set(section.open, 'open').set(section.close, 'close')
  if (kinds.size === 0) return []
  const isInCall = within(calls.map((call) => call.text))
  const isShielded = within(shielded)
  return Array.from(
    text.matchAll(anyOf([...kinds.keys()])),
    ({ 0: tag, index }): Markup => ({ kind: kinds.get(tag) as Markup['kind'], start: index, end: index + tag.length }),
  ).filter(({ start }) => !isInCall(start) && !isShielded(start))
}

/** The frames of messages that are no calls, where a pattern finds them; one that ends with a tag of the section opens or closes it. */
export function markupOf(
  text: string,
  frame: RegExp,
  calls: readonly PlacedCall[],
  shielded: readonly TextRange[],
  section?: ToolParser['delimiters']['section'],
): readonly Markup[] {
  const isInCall = within(calls.map((call) => call.text))
  const isShielded = within(shielded)
  const starts = [...calls.map((call) => call.text), ...shielded].map(({ start }) => start).sort((a, b) => a - b)
  let next = 0
  return Array.from(text.matchAll(frame), ({ 0: tag, index }): Markup => {
    while ((starts[next] ?? Infinity) < index) next++
    // A header may open what is shielded behind it.
    const end = Math.min(index + tag.length, starts[next] ?? Infinity)
    const isSection = (mark: string | undefined) => mark !== undefined && text.slice(index, end).endsWith(mark)
    const kind = isSection(section?.open) ? 'open' : isSection(section?.close) ? 'close' : 'between'
    return { kind, start: index, end }
  }).filter(({ start, end }) => end > start && !isInCall(start) && !isShielded(start))
}
