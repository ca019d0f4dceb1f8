/** The place of a token in the messages of the conversation, in words. */
import { messageAt } from '#lib/trajectory/messages/conversation-rows.ts'
import type { MessagePart, SegmentMessage } from '#lib/trajectory/messages/message-parts.ts'
import { callsById } from '#lib/trajectory/messages/tool-calls.ts'
import type { Token } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { indexText } from '../numbers.ts'

/** Place of a token in the conversation. */
export interface MessagePlaceText {
  /** Such as `7 · tool read_file · token 20 (0–811)`; messages are counted from 1. */
  readonly text: string
  /** Explanation of a place without message text; undefined if none is needed. */
  readonly title: string | undefined
}

/** Returns the message and the part of it that contain a token. */
export function messagePlace(trajectory: TrajectoryView, { segmentIndex, indexInSegment }: Token): MessagePlaceText {
  const place = messageAt(trajectory, segmentIndex, indexInSegment)
  if (!place) return { text: 'unknown', title: 'This part of the segment matches no message text.' }
  const { message, row, partIndex } = place
  const name = `${row + 1} · ${roleName(message, trajectory)}`
  const { tokens } = (partIndex === undefined ? undefined : message.parts[partIndex]) ?? {}
  if (!tokens) return { text: `${name} · template`, title: 'Text that the template adds around the message.' }
  const part = partNameOf(elementAt(message.parts, partIndex as number))
  const position = `token ${indexText(indexInSegment - tokens.start, tokens.end - tokens.start)}`
  return { text: [name, ...(part ? [part] : []), position].join(' · '), title: undefined }
}

/** Returns the role of a message; for a tool result, with the name of the tool: `tool read_file`. */
export function roleName({ role, message }: SegmentMessage, { segments }: TrajectoryView): string {
  if (message?.role !== 'tool') return role
  const name = callsById(segments).get(message.callId ?? '')?.call.name
  return name === undefined ? role : `${role} ${name}`
}

function partNameOf({ kind }: MessagePart): string | undefined {
  return kind === 'text' || kind === 'other' ? undefined : kind === 'given-call' ? 'call' : kind
}
