/** The conversation as messages, derived from the segments: a trajectory holds no second copy of it. */
import { textOf, textWithStarts } from './pieces.ts'
import { toolCallsOf } from './tokens.ts'
import type { Message, ResponseSegment, Trajectory } from './trajectory.ts'

/** All messages in order; a response becomes an assistant message with its text as it was written, markup included. */
export function conversation(trajectory: Trajectory): Message[] {
  return trajectory.segments.flatMap((segment): Message[] =>
    segment.kind === 'prompt'
      ? segment.messages.map((message) => withResultText(message, trajectory))
      : [{ role: 'assistant', content: responseText(segment, trajectory) }],
  )
}

/** What parsers read: the pieces of a response joined, less the trailing stop token. */
export function responseText(segment: ResponseSegment, trajectory: Trajectory): string {
  return textOf(withoutStopToken(segment, trajectory), trajectory.vocab)
}

/** The same, with the offset at which each of its tokens starts (one entry more than tokens). */
export function responseTextWithStarts(
  segment: ResponseSegment,
  trajectory: Trajectory,
): { readonly text: string; readonly starts: readonly number[] } {
  return textWithStarts(withoutStopToken(segment, trajectory), trajectory.vocab)
}

/** The stop token is the last id, when the server says that it stopped there or when it is the template's own. */
function withoutStopToken({ ids, finish }: ResponseSegment, { model }: Trajectory): readonly number[] {
  const last = ids.at(-1)
  const isStop =
    last !== undefined &&
    (last === model.tokenizer?.endOfTurnId || (finish?.kind === 'stop' && last === finish.matched))
  return isStop ? ids.slice(0, -1) : ids
}

/** A tool message whose text lives on the call gets it from there. */
export function withResultText(message: Message, trajectory: Trajectory): Message {
  if (message.role !== 'tool' || message.content !== undefined) return message
  const call = toolCallsOf(trajectory).find(({ id }) => id === message.callId)
  return { ...message, content: call?.result?.text ?? '' }
}
