/** The messages of a trajectory as a flat list for scrolling, without parsing them. */

import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { SegmentView, TrajectoryView } from '../tokens/trajectory-view.ts'
import { type SegmentMessage, segmentMessages } from './message-parts.ts'

/** A message of the list. */
export interface ConversationRow {
  readonly segmentIndex: number
  /** Index in `segmentMessages` of the segment. */
  readonly messageIndex: number
}

/** Returns the messages of all segments in order. */
export function conversationRows({ segments, live }: TrajectoryView): readonly ConversationRow[] {
  const { rows } = rowsOfClosed(segments)
  return live?.open ? [...rows, ...rowsOf(live.open, segments.length)] : rows
}

/** Returns the message that contains a token, or undefined if that is unknown. */
export function messageAt(
  trajectory: TrajectoryView,
  segmentIndex: number,
  indexInSegment: number,
): MessagePlace | undefined {
  const messages = segmentMessages(trajectory, segmentIndex)
  const messageIndex = messages.findIndex(({ tokens }) => tokens && holds(tokens, indexInSegment))
  const message = messages[messageIndex]
  if (!message) return undefined
  const { rows, firsts } = rowsOfClosed(trajectory.segments)
  const partIndex = message.parts.findIndex(({ tokens }) => tokens && holds(tokens, indexInSegment))
  return {
    row: (firsts[segmentIndex] ?? rows.length) + messageIndex,
    message,
    partIndex: partIndex < 0 ? undefined : partIndex,
  }
}

interface MessagePlace {
  /** Index in `conversationRows`. */
  readonly row: number
  readonly message: SegmentMessage
  /** Undefined for text that the template writes around the parts. */
  readonly partIndex: number | undefined
}

const holds = ({ start, end }: { readonly start: number; readonly end: number }, index: number): boolean =>
  start <= index && index < end

const rowsOfClosed = memoizeByIdentity((segments: readonly SegmentView[]) => {
  const rows: ConversationRow[] = []
  const firsts = segments.map((segment, index) => {
    const first = rows.length
    rows.push(...rowsOf(segment, index))
    return first
  })
  return { rows, firsts }
})

function rowsOf(segment: SegmentView, segmentIndex: number): readonly ConversationRow[] {
  const count = segment.kind === 'prompt' ? Math.max(1, segment.messages.length) : 1
  return Array.from({ length: count }, (_, messageIndex) => ({ segmentIndex, messageIndex }))
}
