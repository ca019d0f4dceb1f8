/** Short titles of think blocks and tool calls, for the rows of the token view. */

import { countText } from '#components/token-view/numbers.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import { spansOf, type TokenSpan } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Returns the first think block or tool call that overlaps the tokens [start, end) of the segment; undefined if there is none. */
export function outermostSpan(segment: SegmentView, start: number, end: number): TokenSpan | undefined {
  for (const span of outerSpans(segment)) {
    if (span.span.start >= end) return undefined
    if (span.span.end > start) return span
  }
  return undefined
}

const known = new WeakMap<SegmentView, readonly TokenSpan[]>()

function outerSpans(segment: SegmentView): readonly TokenSpan[] {
  const found = known.get(segment)
  if (found) return found
  const spans = spansOf(segment).filter(({ kind }) => kind === 'think' || kind === 'tool-call')
  known.set(segment, spans)
  return spans
}

/** Returns the label at the right of a row: length of a think block, or id, tool and status of a call. '' for other spans. */
export function spanTitle(span: TokenSpan, segment: SegmentView): string {
  const count = `${countText(span.span.end - span.span.start)} tok`
  if (span.kind === 'think')
    return `think · ${count}${span.closed || segment.kind !== 'response' || !segment.finish ? '' : ' · not closed'}`
  if (span.kind !== 'tool-call') return ''
  const { call } = span
  const id = shortenText(visibleText(call.id), LONGEST_ID)
  if (call.kind === 'malformed') return `${id} · malformed ✗`
  const state = call.result ? ` ${call.result.status === 'success' ? '✓' : '✗'}` : ''
  return `${id} · ${shortenText(visibleText(call.name), LONGEST_NAME)}${state}`
}

/** Longest id in a title, in characters. Servers make ids of 29 characters, which would cover the tokens of the call. */
const LONGEST_ID = 12
/** Longest tool name in a title, which is one line above its row. MCP allows 128 characters; the list of tool calls shows the full name. */
const LONGEST_NAME = 28

const shortenText = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text
