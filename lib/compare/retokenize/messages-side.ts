/**
 * The messages of a trajectory through a chat template, as a pipeline renders its conversation anew for every call. The
 * source map of the template tells which tokens are a reply: they are the responses, all else is prompt.
 */
import { readInput } from '#lib/lab/input.ts'
import { renderedConversation } from '#lib/lab/masks/conversation.ts'
import type { GivenSide, Making, ShownSide, SideTokenizer } from '../shown-side.ts'
import type { As } from '../side.ts'
import { chosenTemplate, refusedTemplate } from './chosen-template.ts'
import { encodingDoubts, messageDoubts } from './doubts.ts'
import { heldConversation, heldTexts } from './held-messages.ts'
import { madeFrame } from './made.ts'
import { recordedClock } from './recorded-clock.ts'
import { replySegments } from './reply-segments.ts'
import { withSpans, withTexts } from './spans.ts'

type MessagesAs = Extract<As, { kind: 'structured' | 'raw' }>

export function messagesSide(given: GivenSide, as: MessagesAs, side: SideTokenizer): Making<ShownSide> {
  const { trajectory } = given
  const { tokenizer } = side
  const chosen = chosenTemplate(given, as, side)
  if (!chosen.ok) return chosen
  const readable = withTexts(trajectory, tokenizer)
  const held = heldConversation(readable, as.kind)
  if (!held.ok) return held
  const { parts } = held.value
  const { template } = chosen.value
  const options = trajectory.model.template?.options ?? {}
  const read = readInput(heldTexts(held.value, trajectory))
  if (!read.ok) return refusedTemplate(read.error)
  const clock = recordedClock(trajectory)
  const rendered = renderedConversation({ ...read.value, clock: clock.read }, template, tokenizer)
  if (!rendered.ok) return refusedTemplate(rendered.error)
  const { encoding, endOfTurnId, rendering } = rendered.value
  const frame = madeFrame(readable, encoding.ids, {
    mode: as.kind,
    tokenizer,
    endOfTurnId,
    template: { text: template.text, options },
  })
  const { segments, doubts } = replySegments(parts, rendered.value)
  return {
    ok: true,
    value: {
      trajectory: withSpans(frame, segments, parts, tokenizer),
      doubts: [
        ...chosen.value.doubts,
        ...doubts,
        ...clock.doubts(),
        ...(as.kind === 'structured' && readable.model.parser === undefined ? [NO_PARSER] : []),
        ...messageDoubts(trajectory, parts),
        ...encodingDoubts({ trajectory, as, tokenizer, text: rendering.text, unsure: encoding.unsure }),
      ],
    },
  }
}

const NO_PARSER = 'No tool-call parser is recorded: calls stay in the text of the messages.'
