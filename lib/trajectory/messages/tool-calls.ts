/** The tool calls of a trajectory by their ids, numbered from 1 through the whole trajectory. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { ToolCall } from '../format/trajectory.ts'
import type { ResponseView, SegmentView } from '../tokens/trajectory-view.ts'
import { assistantMessage } from './foreign-message.ts'

interface NumberedCall {
  readonly call: ToolCall
  /** The number of the call, from 1. */
  readonly number: number
}

/** Returns the tool calls by id. */
export const callsById = memoizeByIdentity((segments: readonly SegmentView[]): ReadonlyMap<string, NumberedCall> => {
  const calls = segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))
  return new Map(calls.map((call, index) => [call.id, { call, number: index + 1 }]))
})

/** Returns the calls of a response: those that a parser found, or those of the message in its file. */
const callsIn = ({ toolCalls, message }: ResponseView): readonly object[] =>
  toolCalls.length > 0 || !message ? toolCalls : (assistantMessage(message).toolCalls ?? [])

/**
 * Returns whether every call without a recorded result has one among the messages. Files of messages have the text of a result, and do not
 * say whether its call succeeded.
 */
export const haveResultMessages = memoizeByIdentity((segments: readonly SegmentView[]): boolean => {
  const calls = segments.flatMap((segment) => (segment.kind === 'response' ? callsIn(segment) : []))
  const messages = segments.flatMap((segment) => (segment.kind === 'prompt' ? segment.messages : []))
  return messages.filter((message) => message.role === 'tool' && message.content !== undefined).length >= calls.length
})
