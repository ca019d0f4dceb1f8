/** The conversation as messages, derived from the segments; a trajectory stores no second copy. */

import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { Message, Vocab } from '../format/trajectory.ts'
import { type TextWithStarts, textWithStarts } from '../tokens/pieces.ts'
import type { ResponseView, TrajectoryView } from '../tokens/trajectory-view.ts'
import { type AssistantMessage, assistantMessage } from './foreign-message.ts'
import { callsById } from './tool-calls.ts'

/**
 * Returns all messages in order. A response becomes an assistant message with its text as sampled, including markup, or the
 * given message if no parser here has read it.
 */
export function conversation(trajectory: TrajectoryView): Message[] {
  return trajectory.segments.flatMap((segment): Message[] =>
    segment.kind === 'prompt'
      ? segment.messages.map((message) => withResultText(message, trajectory))
      : [
          messageOfResponse(segment, trajectory) ?? {
            role: 'assistant',
            content: responseText(segment, trajectory),
          },
        ],
  )
}

/**
 * Returns the message that the server or the file gave for a response that no parser here has read; undefined if one has, or there is
 * no message. The texts of the tokens alone do not separate thinking and calls from the content.
 */
export const messageOfResponse = (
  segment: ResponseView,
  trajectory: Pick<TrajectoryView, 'model'>,
): AssistantMessage | undefined =>
  segment.message && !isParsed(segment, trajectory) ? assistantMessage(segment.message) : undefined

/** Returns whether a parser here has read the response. A chat template may leave out a reply, which then has no tokens to read. */
const isParsed = ({ ids }: ResponseView, { model }: Pick<TrajectoryView, 'model'>): boolean =>
  ids.length > 0 && (model.tokenizer ?? model.parser) !== undefined

/** Returns the number of calls that only the message of a response has; undefined if its calls are unknown. */
export function messageCallCount(segment: ResponseView, trajectory: Pick<TrajectoryView, 'model'>): number | undefined {
  if (segment.toolCalls.length > 0 || isParsed(segment, trajectory)) return 0
  return segment.message && (assistantMessage(segment.message).toolCalls?.length ?? 0)
}

/**
 * Returns the text of a response: its pieces joined, without the stop token, unless a call or a think block ends with
 * it.
 */
export function responseText(segment: ResponseView, trajectory: TrajectoryView): string {
  const { vocab } = trajectory
  const length = recordedLength(segment, trajectory)
  const cachedText = textsBy(vocab).get(segment.ids)
  if (cachedText?.length === length) return cachedText.text
  return responseTextOf(length, segment, trajectory).text
}

/**
 * Caches the texts of responses by their ids, because a run needs those of its whole history in every turn. A
 * vocabulary may grow, so only complete texts are cached.
 */
const textsBy = memoizeByIdentity(
  (_: Vocab) => new WeakMap<object, { readonly length: number; readonly text: string }>(),
)

/** Also returns the offset at which each token starts (one entry more than tokens). */
export const responseTextWithStarts = (segment: ResponseView, trajectory: TrajectoryView): TextWithStarts =>
  responseTextOf(recordedLength(segment, trajectory), segment, trajectory)

/**
 * Returns how many tokens of a response are text for a parser, before any call is recorded; `isDelimiter` says whether its format ends a
 * part with a token.
 */
export function lengthToParse(
  segment: ResponseView,
  trajectory: TrajectoryView,
  isDelimiter: (stopTokenId: number) => boolean,
): number {
  const { ids } = segment
  const isOutside = endsWithStopToken(segment, trajectory) && !isDelimiter(elementAt(ids, ids.length - 1))
  return isOutside ? ids.length - 1 : ids.length
}

/** Returns the text of the first tokens of a response, and the offset at which each starts. */
export function responseTextOf(length: number, { ids }: ResponseView, { vocab }: TrajectoryView): TextWithStarts {
  const found = textWithStarts(first(ids, length), vocab)
  if (found.isKnown) textsBy(vocab).set(ids, { length, text: found.text })
  return found
}

/** Number of tokens of the text: a parser that read the stop token as a delimiter recorded a span with it. */
function recordedLength(segment: ResponseView, trajectory: TrajectoryView): number {
  const { length } = segment.ids
  if (!endsWithStopToken(segment, trajectory)) return length
  const isDelimiter =
    segment.toolCalls.some(({ span }) => span.end === length) || segment.thinks.some(({ end }) => end === length)
  return isDelimiter ? length : length - 1
}

/** The stop token is the last id if the server reports that it stopped there or if it is the template's own. */
function endsWithStopToken({ ids, finish }: ResponseView, { model }: TrajectoryView): boolean {
  const last = ids[ids.length - 1]
  return (
    last !== undefined &&
    (last === model.tokenizer?.endOfTurnId || (finish?.kind === 'stop' && last === finish.matched))
  )
}

const first = (ids: ArrayLike<number>, length: number): ArrayLike<number> =>
  length === ids.length ? ids : Array.prototype.slice.call(ids, 0, length)

/** Adds the text of a tool result that is stored with the call to its tool message. */
export function withResultText(message: Message, trajectory: TrajectoryView): Message {
  if (message.role !== 'tool' || message.content !== undefined) return message
  const known = callsById(trajectory.segments).get(message.callId ?? '')
  return { ...message, content: known?.call.result?.text ?? '' }
}

/** Returns the text of a message: its content, or the texts of its parts together. */
export const messageText = ({ content = '' }: Pick<Message, 'content'>): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
