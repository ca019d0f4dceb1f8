/** The outline as a list of rows: segments, each followed by its parts. */

import { visibleText } from '#components/ui/visible-text.ts'
import type { Span, ToolCall } from '#lib/trajectory/format/trajectory.ts'
import { type MessagePart, segmentMessages } from '#lib/trajectory/messages/message-parts.ts'
import { callsById } from '#lib/trajectory/messages/tool-calls.ts'
import { cachedTokensOf } from '#lib/trajectory/tokens/statistics.ts'
import { segmentStarts, segmentsOf, shiftedSpan } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countText, durationText } from '../numbers.ts'
import { segmentTitle } from '../segment-title.ts'

/** A row of the outline. */
export type OutlineRow =
  | {
      readonly kind: 'segment'
      readonly key: string
      readonly segment: SegmentView
      readonly segmentIndex: number
      /** Tokens of the row as indices in the trajectory, half-open; the same for parts. */
      readonly tokens: Span
      /** `undefined` means that the segment has no parts. */
      readonly isExpanded: boolean | undefined
    }
  | {
      readonly kind: 'part'
      readonly key: string
      readonly segmentIndex: number
      readonly tokens: Span
      readonly label: string
      readonly tone: PartTone
    }

type PartTone = 'think' | 'call' | 'malformed' | 'text'

/** Returns the rows of the outline. `collapsed` contains the indices of segments whose parts are hidden. */
export function outlineRows(trajectory: TrajectoryView, collapsed: ReadonlySet<number>): readonly OutlineRow[] {
  const starts = segmentStarts(trajectory)
  const rows: OutlineRow[] = []
  for (const [segmentIndex, segment] of segmentsOf(trajectory).entries()) {
    const start = elementAt(starts, segmentIndex)
    const entries = entriesOf(segment, segmentIndex, trajectory)
    const isExpanded = !collapsed.has(segmentIndex)
    rows.push({
      kind: 'segment',
      key: String(segmentIndex),
      segment,
      segmentIndex,
      tokens: { start, end: start + segment.ids.length },
      isExpanded: entries.length > 0 ? isExpanded : undefined,
    })
    if (!isExpanded) continue
    for (const [index, { span, label, tone }] of entries.entries())
      rows.push({
        kind: 'part',
        key: `${segmentIndex}.${index}`,
        segmentIndex,
        tokens: shiftedSpan(span, start),
        label,
        tone,
      })
  }
  return rows
}

/** Returns the index of the innermost row that contains a token; −1 if there is none. */
export function outlineRowOfToken(rows: readonly OutlineRow[], token: number): number {
  const begun = countWhile(rows.length, (index) => elementAt(rows, index).tokens.start <= token)
  for (let index = begun - 1; index >= 0; index--) {
    const { kind, tokens } = elementAt(rows, index)
    if (token < tokens.end) return index
    if (kind === 'segment') break
  }
  return -1
}

interface Entry {
  readonly span: Span
  readonly label: string
  readonly tone: PartTone
}

/** Returns the parts of a response, or the messages of a prompt if it has several: the label of the segment names a single one. */
function entriesOf(segment: SegmentView, segmentIndex: number, trajectory: TrajectoryView): readonly Entry[] {
  if (segment.kind === 'prompt' && segment.messages.length < 2) return []
  const messages = segmentMessages(trajectory, segmentIndex)
  if (segment.kind === 'response') return messages.flatMap(({ parts }) => parts.flatMap(partEntry))
  return messages.flatMap(({ role, message, tokens }): readonly Entry[] => {
    if (!tokens) return []
    const call = message?.role === 'tool' ? callsById(trajectory.segments).get(message.callId ?? '')?.call : undefined
    return [{ span: tokens, label: call ? `result ${callName(call)}${resultSign(call)}` : role, tone: 'text' }]
  })
}

function partEntry(part: MessagePart): readonly Entry[] {
  if (part.kind === 'call') {
    const { call } = part
    const tone = call.kind === 'parsed' ? 'call' : 'malformed'
    return [{ span: part.tokens ?? call.span, label: `${callName(call)}${resultSign(call)}`, tone }]
  }
  if (!part.tokens) return []
  if (part.kind === 'given-call') return [{ span: part.tokens, label: visibleText(part.name), tone: 'call' }]
  const label = part.kind === 'thinking' ? 'think' : 'text'
  return [{ span: part.tokens, label, tone: label }]
}

const callName = (call: ToolCall): string =>
  visibleText(call.kind === 'parsed' ? call.name : `${call.name ?? 'call'}, malformed`)

const resultSign = ({ kind, result }: ToolCall): string =>
  kind === 'malformed' ? ' ✗' : result ? (result.status === 'success' ? ' ✓' : ' ✗') : ''

/** Returns the label of a segment, such as `3 response` or `4 tool result calculator`. */
export function segmentLabel(segment: SegmentView, segmentIndex: number, { segments }: TrajectoryView): string {
  const title = `${segmentIndex} ${segmentTitle(segment)}`
  const [message, ...others] = segment.kind === 'prompt' ? segment.messages : []
  if (message?.role !== 'tool' || others.length > 0) return title
  const call = callsById(segments).get(message.callId ?? '')?.call
  return call ? `${title} ${callName(call)}${resultSign(call)}` : title
}

/** A short fact below a segment. */
export interface SegmentFact {
  readonly text: string
  /** Whether the fact is shown as a warning. */
  readonly isWarning: boolean
}

/** Returns the facts of a segment: finish reason, duration, cached tokens and problems. */
export function segmentFacts(segment: SegmentView): readonly SegmentFact[] {
  const count = segment.problems?.length ?? 0
  const problems = count > 0 ? [{ text: `${count} ${count > 1 ? 'problems' : 'problem'}`, isWarning: true }] : []
  if (segment.kind === 'prompt') return problems
  const { finish, timing } = segment
  const cached = cachedTokensOf(segment) ?? 0
  return [
    ...(finish ? [{ text: finish.kind, isWarning: finish.kind !== 'stop' }] : []),
    ...(timing ? [{ text: durationText(timing.elapsedMs), isWarning: false }] : []),
    ...(cached > 0 ? [{ text: `${countText(cached)} cached`, isWarning: false }] : []),
    ...problems,
  ]
}
