/** Splits a reply into parts, as an agent framework stores it: thinking, content and calls. */

import { textForParsers } from '#lib/parsers/parsed-text.ts'
import type { CallMarkup, TextRange } from '#lib/parsers/parser.ts'
import { markupIn } from '#lib/parsers/reading/rest.ts'
import { parserNamed } from '#lib/parsers/registry.ts'
import { thoughtIn } from '#lib/parsers/thinking.ts'
import { strip } from '#lib/templates/jinja/python/text/code-points.ts'
import type { ToolCall } from '#lib/trajectory/format/trajectory.ts'
import type { TextWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** The text of one reply, and the ranges of thinking and calls in it. */
export interface WrittenReply {
  readonly text: string
  /** Ranges of think blocks, including delimiters. */
  readonly thinks: readonly TextRange[]
  readonly calls: readonly ToolCall[]
  /** Markup around calls and around texts, which is removed together with the calls. */
  readonly markup: readonly CallMarkup[]
}

/** A reply with the places of its tokens. */
export interface DecodedReply extends WrittenReply, Pick<TextWithStarts, 'starts' | 'ends'> {}

/** Returns the text of a response with its ranges. The markup is empty if the trajectory's parser is unknown. */
export function writtenReply(segment: ResponseView, trajectory: TrajectoryView): DecodedReply {
  const parser = parserNamed(trajectory.model.parser ?? '')
  const { text, starts, ends } = textForParsers(segment, trajectory, parser ? [parser] : [])
  const thinks = segment.thinks.map(({ start, end }) => ({
    start: starts[start] ?? text.length,
    end: starts[end] ?? text.length,
  }))
  const markup = parser ? markupIn(text, segment.toolCalls, thinks, parser) : []
  return { text, starts, ...(ends && { ends }), thinks, calls: segment.toolCalls, markup }
}

/**
 * Returns the content and the reasoning of a reply; `reasoning` is undefined if it has no think block. The calls in `taken`
 * are removed from the content, other calls stay in it.
 */
export function replyTexts(
  { text, thinks, markup }: WrittenReply,
  taken: readonly ToolCall[],
): { readonly content: string; readonly reasoning: string | undefined } {
  // Markup around calls that stay in the text stays with them; markup around texts is not part of them.
  const isCut = taken.length > 0 || markup.every(({ kind }) => kind === 'between')
  const cuts = [...thinks, ...taken.map((call) => call.text), ...(isCut ? markup : [])].sort(
    (a, b) => a.start - b.start,
  )
  let rest = ''
  let at = 0
  for (const { start, end } of cuts) {
    rest += text.slice(at, Math.max(at, start))
    at = Math.max(at, end)
  }
  rest += text.slice(at)
  const reasoning = thinks.map(({ start, end }) => strip(thoughtIn(strip(text.slice(start, end))))).join('\n')
  return { content: strip(rest), reasoning: thinks.length > 0 ? reasoning : undefined }
}
