/**
 * The text of a response that parsers read: it includes a stop token that closes a call, a section or a think block.
 */
import { lengthToParse, responseTextOf } from '#lib/trajectory/messages/conversation.ts'
import type { TextWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import { isSpecial } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { spellingsOf, type ToolParser } from './parser.ts'
import { THINK_ENDS } from './thinking-forms.ts'

type Delimited = Pick<ToolParser, 'delimiters'>

/** Returns the text for these parsers, and the offset at which each of its tokens starts. */
export const textForParsers = (
  segment: ResponseView,
  trajectory: TrajectoryView,
  parsers: readonly Delimited[],
): TextWithStarts => textReader(segment, trajectory)(parsers)

/** Returns a function that returns the text for some parsers. It decodes each text once: most parsers read the same. */
export function textReader(
  segment: ResponseView,
  trajectory: TrajectoryView,
): (parsers: readonly Delimited[]) => TextWithStarts {
  const texts = new Map<number, TextWithStarts>()
  return (parsers) => {
    const length = lengthToParse(segment, trajectory, isDelimiterOf(parsers, trajectory))
    const text = texts.get(length) ?? responseTextOf(length, segment, trajectory)
    texts.set(length, text)
    return text
  }
}

const isDelimiterOf =
  (parsers: readonly Delimited[], trajectory: TrajectoryView) =>
  (id: number): boolean => {
    // A stop token that is not an added token is text, such as the last bracket of a call.
    if (!isSpecial(trajectory, id)) return true
    const text = trajectory.vocab[id]
    return parsers
      .flatMap(({ delimiters }) => spellingsOf(delimiters))
      .some(({ close, end, section }) =>
        [close, end, section?.close, ...THINK_ENDS].some((delimiter) => delimiter === text),
      )
  }
