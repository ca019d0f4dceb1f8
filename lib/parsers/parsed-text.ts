/** Which text of a response parsers read: a stop token belongs to it where it closes a call, a section or a think block. */
import { textToParse } from '#lib/trajectory/messages/conversation.ts'
import type { TextWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import { isSpecial } from '#lib/trajectory/tokens/tokens.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { spellingsOf, type ToolParser } from './parser.ts'
import { THINK_ENDS } from './thinking-forms.ts'

/** The text that is given to these parsers, and the offset at which each of its tokens starts. */
export const parsedText = (
  segment: ResponseView,
  trajectory: TrajectoryView,
  parsers: readonly Pick<ToolParser, 'delimiters'>[],
): TextWithStarts =>
  textToParse(segment, trajectory, (id) => {
    // A stop token that is no added token is a piece of text, such as the last bracket of a call.
    if (!isSpecial(trajectory, id)) return true
    const text = trajectory.vocab[id]
    return parsers
      .flatMap(({ delimiters }) => spellingsOf(delimiters))
      .some(({ close, end, section }) =>
        [close, end, section?.close, ...THINK_ENDS].some((delimiter) => delimiter === text),
      )
  })
