/** The conversation as messages, derived from the segments: a trajectory holds no second copy of it. */
import { textOf, textWithStarts } from './pieces.ts'
import { toolCallsOf } from './tokens.ts'
import type { Message } from './trajectory.ts'
import type { ResponseView, TrajectoryView } from './trajectory-view.ts'

/** All messages in order; a response becomes an assistant message with its text as it was written, markup included. */
export function conversation(trajectory: TrajectoryView): Message[] {
  return trajectory.segments.flatMap((segment): Message[] =>
    segment.kind === 'prompt'
      ? segment.messages.map((message) => withResultText(message, trajectory))
      : [{ role: 'assistant', content: responseText(segment, trajectory) }],
  )
}

/** What parsers read: the pieces of a response joined, less the trailing stop token. */
export function responseText(segment: ResponseView, trajectory: TrajectoryView): string {
  return textOf(withoutStopToken(segment, trajectory), trajectory.vocab)
}

/** The same, with the offset at which each of its tokens starts (one entry more than tokens). */
export function responseTextWithStarts(
  segment: ResponseView,
  trajectory: TrajectoryView,
): { readonly text: string; readonly starts: readonly number[] } {
  return textWithStarts(withoutStopToken(segment, trajectory), trajectory.vocab)
}

/** The stop token is the last id, when the server says that it stopped there or when it is the template's own. */
function withoutStopToken({ ids, finish }: ResponseView, { model }: TrajectoryView): ArrayLike<number> {
  const last = ids[ids.length - 1]
  const isStop =
    last !== undefined &&
    (last === model.tokenizer?.endOfTurnId || (finish?.kind === 'stop' && last === finish.matched))
  return isStop ? Array.prototype.slice.call(ids, 0, -1) : ids
}

/** A tool message whose text lives on the call gets it from there. */
export function withResultText(message: Message, trajectory: TrajectoryView): Message {
  if (message.role !== 'tool' || message.content !== undefined) return message
  const call = toolCallsOf(trajectory).find(({ id }) => id === message.callId)
  return { ...message, content: call?.result?.text ?? '' }
}
