import type { CallMarkup, PlacedCall, TextRange, ToolParser } from '../parser.ts'
import { anyOf } from './tags.ts'
import { createRangeCheck } from './within.ts'

type Format = Pick<ToolParser, 'delimiters' | 'markup'>

/** Returns the text without its calls and the markup around them. Think blocks are kept. */
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

/** Returns the markup of the format outside of calls and think blocks, in order. */
export function markupIn(
  text: string,
  calls: readonly PlacedCall[],
  shielded: readonly TextRange[],
  format: Format,
): readonly CallMarkup[] {
  if (format.markup) return format.markup(text, calls, shielded)
  const { section, around = [] } = format.delimiters
  const kinds = new Map<string, CallMarkup['kind']>(around.map((tag) => [tag, 'between']))
  if (section) kinds.set(section.open, 'open').set(section.close, 'close')
  if (kinds.size === 0) return []
  const isInCall = createRangeCheck(calls.map((call) => call.text))
  const isShielded = createRangeCheck(shielded)
  return Array.from(
    text.matchAll(anyOf([...kinds.keys()])),
    ({ 0: tag, index }): CallMarkup => ({
      kind: kinds.get(tag) as CallMarkup['kind'],
      start: index,
      end: index + tag.length,
    }),
  ).filter(({ start }) => !isInCall(start) && !isShielded(start))
}

/**
 * Returns the message frames outside of calls that a pattern finds; one that ends with a section tag opens or closes
 * it.
 */
export function markupOf(
  text: string,
  frame: RegExp,
  calls: readonly PlacedCall[],
  shielded: readonly TextRange[],
  section?: ToolParser['delimiters']['section'],
): readonly CallMarkup[] {
  const isInCall = createRangeCheck(calls.map((call) => call.text))
  const isShielded = createRangeCheck(shielded)
  const starts = [...calls.map((call) => call.text), ...shielded].map(({ start }) => start).sort((a, b) => a - b)
  let next = 0
  return Array.from(text.matchAll(frame), ({ 0: tag, index }): CallMarkup => {
    while ((starts[next] ?? Infinity) < index) next++
    // A header may open the shielded range after it.
    const end = Math.min(index + tag.length, starts[next] ?? Infinity)
    const isSection = (mark: string | undefined) => mark !== undefined && text.slice(index, end).endsWith(mark)
    const kind = isSection(section?.open) ? 'open' : isSection(section?.close) ? 'close' : 'between'
    return { kind, start: index, end }
  }).filter(({ start, end }) => end > start && !isInCall(start) && !isShielded(start))
}
