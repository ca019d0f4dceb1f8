/**
 * Builds the messages side: the messages of a trajectory are rendered with a chat template, as a pipeline does for every call. The
 * source map of the template shows which tokens belong to a reply. These are the responses, and all other tokens are prompt.
 */

import type { RenderInput } from '#lib/templates/chat-template.ts'
import { readInput } from '#lib/templates/document/input.ts'
import { conversationTokens } from '#lib/templates/loss-mask/conversation.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { BuildResult, LoadedSide, ShownSide, SideTokenizer } from '../compare/shown-side.ts'
import type { Reconstruction } from '../compare/side.ts'
import { encodingCaveats, messageCaveats } from './caveats.ts'
import { refusedTemplate, type SideTemplate, sideTemplate } from './chosen-template.ts'
import { type Clock, recordedClock } from './recorded-clock.ts'
import { type ConversationPart, recordedConversation, recordedTexts } from './recorded-messages.ts'
import { createReconstruction } from './remade.ts'
import { replySegments } from './reply-segments.ts'
import { asFinished, withSpans } from './spans.ts'

/** A side that is rendered from messages. */
export type MessageReconstruction = Extract<Reconstruction, { kind: 'structured' | 'raw' }>

/** Returns the rendered and encoded conversation as a trajectory, or the reason why the template or the messages do not allow it. */
export function messagesSide(
  loaded: LoadedSide,
  as: MessageReconstruction,
  side: SideTokenizer,
): BuildResult<ShownSide> {
  const { trajectory } = loaded
  const { tokenizer } = side
  const found = recordedMessages(loaded, as, side)
  if (!found.ok) return found
  const { readable, parts, chosen, input, clock } = found.value
  const rendered = conversationTokens(input, chosen.template, tokenizer)
  if (!rendered.ok) return refusedTemplate(rendered.error)
  const { encoding, endOfTurnId, rendering } = rendered.value
  const options = trajectory.model.template?.options ?? {}
  const frame = createReconstruction(readable, encoding.ids, {
    mode: as.kind,
    tokenizer,
    endOfTurnId,
    template: { text: chosen.template.text, options },
  })
  const { segments, caveats } = replySegments(parts, rendered.value)
  return {
    ok: true,
    value: {
      trajectory: withSpans(frame, segments, parts, tokenizer),
      caveats: [
        ...chosen.caveats,
        ...caveats,
        ...clock.caveats(),
        ...(as.kind === 'structured' && readable.model.parser === undefined ? [NO_PARSER] : []),
        ...messageCaveats(trajectory, parts),
        ...encodingCaveats({ trajectory, as, tokenizer, text: rendering.text, unsure: encoding.unsure }),
      ],
    },
  }
}

interface HeldMessages {
  /** The trajectory with the texts of all its ids and the calls of an open response. */
  readonly readable: TrajectoryView
  readonly parts: readonly ConversationPart[]
  readonly chosen: SideTemplate
  /** All messages, tools and options. Its clock returns the time at which the trajectory was created. */
  readonly input: RenderInput
  readonly clock: Clock
}

/** Returns the input of the chat template and the template itself. */
export function recordedMessages(
  loaded: LoadedSide,
  as: MessageReconstruction,
  side: SideTokenizer,
): BuildResult<HeldMessages> {
  const { trajectory } = loaded
  const chosen = sideTemplate(loaded, as, side)
  if (!chosen.ok) return chosen
  const readable = asFinished(trajectory, side.tokenizer)
  const conversation = recordedConversation(readable, as.kind)
  if (!conversation.ok) return conversation
  const read = readInput(recordedTexts(conversation.value, trajectory))
  if (!read.ok) return refusedTemplate(read.error)
  const clock = recordedClock(trajectory)
  return {
    ok: true,
    value: {
      readable,
      parts: conversation.value.parts,
      chosen: chosen.value,
      input: { ...read.value, clock: clock.read },
      clock,
    },
  }
}

const NO_PARSER = 'No tool-call parser is recorded: calls remain in the text of the messages.'
