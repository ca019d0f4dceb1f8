/** Finds tokens by what they belong to: segments, spans, calls, versions and problems. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { callsById } from '#lib/trajectory/messages/tool-calls.ts'
import { segmentStarts, segmentsOf, spansOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { versionSpans } from '#lib/trajectory/tokens/weight-versions.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import { tokensUnknown, tokensWithin } from './number-facts.ts'
import { type NamedFact, NUMBER_FACTS, type NumberFact, type NumberName } from './query.ts'

/** Returns one byte for each token, 1 if the fact is true for it. */
export function tokensNamed(trajectory: TrajectoryView, name: NamedFact, value: string): Uint8Array {
  if (name === 'unknown') return tokensUnknown(trajectory, numberNamed(value))
  if (name === 'span' && value === 'special') return specialTokens(trajectory)
  const tokens = new Uint8Array(tokenCount(trajectory))
  const starts = segmentStarts(trajectory)
  const callId = name === 'call' ? callNamed(trajectory, value) : undefined
  for (const [index, segment] of segmentsOf(trajectory).entries())
    for (const { start, end } of spansNamed(trajectory, segment, name, value, callId))
      tokens.fill(1, elementAt(starts, index) + start, elementAt(starts, index) + end)
  if (name !== 'span' || value !== 'text') return tokens
  const special = specialTokens(trajectory)
  for (let token = 0; token < tokens.length; token++) if (special[token] === 1) tokens[token] = 0
  return tokens
}

const numberNamed = (name: string): NumberName =>
  (NUMBER_FACTS as readonly string[]).includes(name)
    ? { kind: 'fact', name: name as NumberFact }
    : { kind: 'column', name }

/** Returns the id of a call that is given by its id, or by its number from 1, as the token card shows it. */
function callNamed({ segments }: TrajectoryView, value: string): string | undefined {
  const calls = callsById(segments)
  return calls.has(value) ? value : [...calls].find(([, { number }]) => String(number) === value)?.[0]
}

function spansNamed(
  trajectory: TrajectoryView,
  segment: SegmentView,
  name: Exclude<NamedFact, 'unknown'>,
  value: string,
  callId: string | undefined,
): readonly Span[] {
  const whole = { start: 0, end: segment.ids.length }
  const spans = () => spansOf(segment)
  switch (name) {
    case 'kind':
      return (value === 'tool' ? isToolResult(segment) : segment.kind === value) ? [whole] : []
    case 'span':
      if (value === 'text') return segment.kind === 'response' ? textSpans(segment) : []
      return spans().flatMap(({ kind, span }) => (kind === (value === 'call' ? 'tool-call' : value) ? [span] : []))
    case 'tool':
      return spans().flatMap((found) => (found.kind === 'tool-call' && found.call.name === value ? [found.span] : []))
    case 'call':
      return spans().flatMap((found) => (found.kind === 'tool-call' && found.call.id === callId ? [found.span] : []))
    case 'arg':
      return spans().flatMap((found) => (found.kind === 'argument' && found.name === value ? [found.span] : []))
    case 'version':
      return versionSpans(segment, trajectory).filter(({ version }) => version === value)
    case 'finish':
      return segment.kind === 'response' && segment.finish?.kind === value ? [whole] : []
    case 'problem':
      return (segment.problems ?? []).flatMap(({ kind, index }) => {
        if (kind !== value) return []
        return [index === undefined ? whole : { start: index, end: index + 1 }]
      })
    default:
      return unreachable(name)
  }
}

const isToolResult = (segment: SegmentView): boolean =>
  segment.kind === 'prompt' && segment.messages.length > 0 && segment.messages.every(({ role }) => role === 'tool')

/** Returns the spans of a response that are neither thinking nor a call. */
function textSpans(segment: SegmentView): readonly Span[] {
  const spans: Span[] = []
  let start = 0
  for (const { kind, span } of spansOf(segment)) {
    if (kind === 'argument') continue
    if (span.start > start) spans.push({ start, end: span.start })
    start = Math.max(start, span.end)
  }
  return [...spans, { start, end: segment.ids.length }]
}

const specialTokens = (trajectory: TrajectoryView): Uint8Array =>
  tokensWithin(trajectory, { kind: 'fact', name: 'special' }, [{ low: 1, high: 1, without: undefined }])
