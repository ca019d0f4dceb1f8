/** Segments of sessions that agents store, whose messages may have counts and finish reasons beside them. */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ResponseSegment, Segment } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { conversationSegments } from './text-trajectory.ts'

/** A message in the notation of chat completions or of Anthropic. */
export interface SessionMessage {
  readonly message: JsonObject
  /** The place of its record in the file. */
  readonly path: string
  /** What the file says about a message of the model. Omitted: nothing. */
  readonly about?: Pick<ResponseSegment, 'finish' | 'usage'>
}

/** Returns the segments of a conversation: each message of the model is a response. */
export function sessionSegments(messages: readonly SessionMessage[]): readonly Segment[] {
  const segments = conversationSegments(
    messages.map(({ message }) => message),
    (index) => elementAt(messages, index).path,
  )
  const replies = messages.values().filter(({ message }) => message.role === 'assistant')
  return segments.map((segment) =>
    segment.kind === 'response' ? { ...segment, ...replies.next().value?.about } : segment,
  )
}
