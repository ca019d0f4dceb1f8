/** Think blocks and tool calls as rows tell them. */

import { visibleText } from '#components/ui/visible-text.ts'
import { spansOf, type TokenSpan } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** The first think block or tool call that lies, even in part, between two tokens of the segment. */
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

export function spanTitle(span: TokenSpan, segment: SegmentView): string {
  const count = `${(span.span.end - span.span.start).toLocaleString('en')} tok`
  if (span.kind === 'think')
    return `think · ${count}${span.closed || segment.kind !== 'response' || !segment.finish ? '' : ' · not closed'}`
  if (span.kind !== 'tool-call') return ''
  const { call } = span
  const id = shortened(visibleText(call.id), LONGEST_ID)
  if (call.kind === 'malformed') return `${id} · malformed ✗`
  const state = call.result ? ` ${call.result.status === 'success' ? '✓' : '✗'}` : ''
  return `${id} · ${shortened(visibleText(call.name), LONGEST_NAME)}${state}`
}

/** Ids of servers are 29 characters, and would lie over the call’s own tokens. */
const LONGEST_ID = 12
/** A title stands in one line over its row; names of MCP tools are up to 128 characters. The calls of the run have them whole. */
const LONGEST_NAME = 28

const shortened = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text
