/** The conversation as messages, derived from the segments: a trajectory holds no second copy of it. */

import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { Message, Vocab } from '../format/trajectory.ts'
import { type TextWithStarts, textWithStarts } from '../tokens/pieces.ts'
import { toolCallsOf } from '../tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '../tokens/trajectory-view.ts'

/** All messages in order; a response becomes an assistant message with its text as it was written, markup included. */
export function conversation(trajectory: TrajectoryView): Message[] {
  return trajectory.segments.flatMap((segment): Message[] =>
    segment.kind === 'prompt'
      ? segment.messages.map((message) => withResultText(message, trajectory))
      : [{ role: 'assistant', content: responseText(segment, trajectory) }],
  )
}

/** What a response says: its pieces joined, less the stop token, unless a call or a think block ends with it. */
export function responseText(segment: ResponseView, trajectory: TrajectoryView): string {
  const { vocab } = trajectory
  const length = recordedLength(segment, trajectory)
  const kept = textsBy(vocab).get(segment.ids)
  if (kept?.length === length) return kept.text
  return textOfFirst(length, segment, trajectory).text
}

/**
 * Texts of responses by the ids they are of: a run asks for those of its whole history at every turn. A vocabulary may grow, so
 * only texts are kept of which no token was unknown.
 */
const textsBy = memoizeByIdentity(
  (_: Vocab) => new WeakMap<object, { readonly length: number; readonly text: string }>(),
)

/** The same, with the offset at which each of its tokens starts (one entry more than tokens). */
export const responseTextWithStarts = (segment: ResponseView, trajectory: TrajectoryView): TextWithStarts =>
  textOfFirst(recordedLength(segment, trajectory), segment, trajectory)

/** The text that a parser reads, before any call is recorded; `isDelimiter` says whether its format ends something with a token. */
export function textToParse(
  segment: ResponseView,
  trajectory: TrajectoryView,
  isDelimiter: (stopTokenId: number) => boolean,
): TextWithStarts {
  const { ids } = segment
  const isOutside = endsWithStopToken(segment, trajectory) && !isDelimiter(elementAt(ids, ids.length - 1))
  return textOfFirst(isOutside ? ids.length - 1 : ids.length, segment, trajectory)
}

function textOfFirst(length: number, { ids }: ResponseView, { vocab }: TrajectoryView): TextWithStarts {
  const found = textWithStarts(first(ids, length), vocab)
  if (found.isKnown) textsBy(vocab).set(ids, { length, text: found.text })
  return found
}

/** Number of tokens of the text: a parser that read the stop token as a delimiter has recorded a span that holds it. */
function recordedLength(segment: ResponseView, trajectory: TrajectoryView): number {
  const { length } = segment.ids
  if (!endsWithStopToken(segment, trajectory)) return length
  const isDelimiter =
    segment.toolCalls.some(({ span }) => span.end === length) || segment.thinks.some(({ end }) => end === length)
  return isDelimiter ? length : length - 1
}

/** The stop token is the last id, when the server says that it stopped there or when it is the template's own. */
function endsWithStopToken({ ids, finish }: ResponseView, { model }: TrajectoryView): boolean {
  const last = ids[ids.length - 1]
  return (
    last !== undefined &&
    (last === model.tokenizer?.endOfTurnId || (finish?.kind === 'stop' && last === finish.matched))
  )
}

const first = (ids: ArrayLike<number>, length: number): ArrayLike<number> =>
  length === ids.length ? ids : Array.prototype.slice.call(ids, 0, length)

/** A tool message whose text lives on the call gets it from there. */
export function withResultText(message: Message, trajectory: TrajectoryView): Message {
  if (message.role !== 'tool' || message.content !== undefined) return message
  const call = toolCallsOf(trajectory).find(({ id }) => id === message.callId)
  return { ...message, content: call?.result?.text ?? '' }
}

const LONGEST_QUESTION = 60

/** The beginning of the first question, where it is a text: what a trajectory without a title is called. */
export function firstQuestion({ segments }: Pick<TrajectoryView, 'segments'>): string | undefined {
  const content = segments
    .flatMap((segment) => (segment.kind === 'prompt' ? segment.messages : []))
    .find(({ role }) => role === 'user')?.content
  if (typeof content !== 'string') return undefined
  return content.length > LONGEST_QUESTION ? `${content.slice(0, LONGEST_QUESTION)} …` : content
}
