/**
 * Gives a trajectory of a file that has only texts its tokens: the messages are rendered with the chat template of a tokenizer, as
 * apply_chat_template does. No model read or sampled these ids, which `encodedAgain` records.
 */

import type { JsonObject } from '#lib/json/json-object.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import { orTemplateFailure, readInput } from '#lib/templates/document/input.ts'
import { contextMessage, foreignReplyJson } from '#lib/templates/document/trajectory-input.ts'
import { conversationTokens } from '#lib/templates/loss-mask/conversation.ts'
import { generationMask } from '#lib/templates/loss-mask/generation.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Message, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { BuildResult } from '../compare/shown-side.ts'
import { encodingCaveats, messageCaveats } from './caveats.ts'
import { refusedTemplate } from './chosen-template.ts'
import { recordedClock } from './recorded-clock.ts'
import { type ConversationPart, recordedTexts } from './recorded-messages.ts'
import { replySegments } from './reply-segments.ts'

/** What turns messages into ids. */
export interface MessageEncoder {
  readonly tokenizer: Tokenizer
  /** Returns the chat template for conversations with or without tools, or undefined if there is none. Throws TemplateError. */
  readonly template: (hasTools: boolean) => CompiledTemplate | undefined
  /** Returns the parser of the tool calls that a template writes; its text is empty if there is no template. */
  readonly parserOf: (template: string) => ToolParser
}

/**
 * Returns the trajectory with the ids, texts, loss mask and spans of its messages, or the reason why the template refuses them. Ids
 * that an earlier encoding gave are replaced.
 */
export function encodeMessages(trajectory: Trajectory, encoder: MessageEncoder): BuildResult<Trajectory> {
  const compiled = orTemplateFailure(() => encoder.template(trajectory.model.tools.length > 0))
  if (!compiled.ok) return refusedTemplate(compiled.error)
  const base = withoutEncoding(trajectory)
  const replies = base.segments.filter(isReply)
  const encoded = compiled.value
    ? renderedSegments(base, compiled.value, encoder.tokenizer)
    : encodeEachMessage(base, encoder.tokenizer)
  if (!encoded.ok) return encoded
  const { segments, endOfTurnId, mask, caveats } = encoded.value
  let reply = 0
  const bare: Trajectory = {
    ...base,
    ...promptProblems(base),
    // What the file says about a reply, such as its usage, stays with it.
    segments: segments.map((segment) =>
      segment.kind === 'prompt' ? segment : { ...elementAt(replies, reply++), ...segment },
    ),
    provenance: encodedProvenance(base, {
      tokenizer: encoder.tokenizer.name,
      template: compiled.value !== undefined,
      mask,
      ...(caveats.length > 0 && { caveats }),
    }),
  }
  const parser = encoder.parserOf(compiled.value?.text ?? '')
  const complete = withTokenizer(bare, { tokenizer: encoder.tokenizer, endOfTurnId, parser })
  return {
    ok: true,
    value: {
      ...complete,
      model: {
        ...complete.model,
        ...(compiled.value && { template: { text: compiled.value.text, options: optionsOf(trajectory) } }),
      },
    },
  }
}

/** A response of which the file gives the message. */
type Reply = ResponseSegment & { readonly message: JsonObject }
const isReply = (segment: Segment): segment is Reply => segment.kind === 'response' && segment.message !== undefined

const optionsOf = ({ model }: Trajectory): JsonObject => model.template?.options ?? {}

/** Removes the tokens that an earlier encoding gave, and what was derived from them. */
function withoutEncoding(trajectory: Trajectory): Trajectory {
  const { notes: _, ...record } = trajectory
  const { tokenizer: __, parser: ___, ...model } = record.model
  return {
    ...record,
    model,
    vocab: {},
    segments: record.segments.flatMap((segment): Segment[] => {
      if (segment.kind === 'prompt')
        return segment.messages.length > 0
          ? [{ kind: 'prompt', ids: [], messages: segment.messages, ...problemsOf(segment) }]
          : []
      const { mask: ____, ...rest } = segment
      return isReply(segment) ? [{ ...rest, ids: [], thinks: [], toolCalls: [] }] : []
    }),
  }
}

const problemsOf = ({ problems }: Segment): Pick<Segment, 'problems'> => (problems ? { problems } : {})

/** Moves the problems of prompts to the trajectory, because the prompts of a render begin and end elsewhere. */
function promptProblems({ problems = [], segments }: Trajectory): Pick<Trajectory, 'problems'> {
  const all = [
    ...problems,
    ...segments.flatMap((segment) => (segment.kind === 'prompt' ? (segment.problems ?? []) : [])),
  ]
  return all.length > 0 ? { problems: all } : {}
}

interface EncodedSegments {
  /** One response for each reply of the file, in order. */
  readonly segments: readonly Segment[]
  readonly endOfTurnId: number | undefined
  /** How the loss mask was made, in words. */
  readonly mask: string
  readonly caveats: readonly string[]
}

/** Renders and encodes the whole conversation. */
function renderedSegments(
  base: Trajectory,
  template: CompiledTemplate,
  tokenizer: Tokenizer,
): BuildResult<EncodedSegments> {
  const parts = partsOf(base)
  const isPrompt = parts.at(-1)?.kind !== 'reply'
  const read = readInput(recordedTexts({ parts, isPrompt }, base))
  if (!read.ok) return refusedTemplate(read.error)
  const clock = recordedClock(base)
  const rendered = conversationTokens({ ...read.value, clock: clock.read }, template, tokenizer)
  if (!rendered.ok) return refusedTemplate(rendered.error)
  const { encoding, rendering, endOfTurnId } = rendered.value
  const { segments, caveats } = replySegments(parts, rendered.value)
  const { hasTag, trained } = generationMask(rendered.value)
  const masked = hasTag ? withMask(segments, base, BLOCKS_TRAINED, trained) : withMask(segments, base, REPLIES_TRAINED)
  return {
    ok: true,
    value: {
      ...masked,
      endOfTurnId,
      caveats: [
        ...caveats,
        ...clock.caveats(),
        ...messageCaveats(base, parts),
        ...encodingCaveats({
          trajectory: base,
          as: { kind: 'structured' },
          tokenizer,
          text: rendering.text,
          unsure: encoding.unsure,
        }),
      ],
    },
  }
}

/** Returns the conversation as the file gives it. */
const partsOf = ({ segments }: Trajectory): readonly ConversationPart[] =>
  segments.flatMap((segment): ConversationPart[] => {
    if (segment.kind === 'prompt') {
      const { messages } = segment
      return [{ kind: 'context', messages, json: messages.map((message) => contextMessage(message, [])) }]
    }
    return isReply(segment)
      ? [{ kind: 'reply', json: foreignReplyJson(segment.message), text: '', ids: [], forced: [], calls: [] }]
      : []
  })

const REPLIES_TRAINED = 'every token of a reply and the token that ends its turn, as the chat template writes them'
const BLOCKS_TRAINED = 'the {% generation %} blocks of the chat template'
const ALONE_TRAINED = 'every token of a reply; without a chat template there is none that ends its turn'
const WITHOUT_WEIGHT = 'no reply to which the file gives the weight 0'

/**
 * Sets the loss mask where it is not constant. `trained` is that of all tokens by the generation blocks of the template, which are its
 * author's own mask; omitted: all tokens of replies. `words` describes it.
 */
function withMask(
  segments: readonly Segment[],
  base: Trajectory,
  words: string,
  trained?: readonly boolean[],
): Pick<EncodedSegments, 'segments' | 'mask'> {
  const replies = base.segments.filter(isReply)
  let at = 0
  let reply = 0
  const masked = segments.map((segment): Segment => {
    const isResponse = segment.kind === 'response'
    const isTrained = !isResponse || elementAt(replies, reply++).message.weight !== 0
    const mask = segment.ids.map((_, index): 0 | 1 => {
      const own = trained ? trained[at + index] === true : isResponse
      return own && isTrained ? 1 : 0
    })
    at += segment.ids.length
    return mask.every((bit) => bit === Number(isResponse)) ? segment : { ...segment, mask }
  })
  const hasWeights = replies.some(({ message }) => message.weight === 0)
  return {
    segments: masked,
    mask: [words, ...(hasWeights ? [WITHOUT_WEIGHT] : [])].join('; '),
  }
}

/** Encodes the text of each message by itself. */
function encodeEachMessage(base: Trajectory, tokenizer: Tokenizer): BuildResult<EncodedSegments> {
  const { segments } = base
  const messages = segments.map((segment): readonly Message[] =>
    segment.kind === 'prompt' ? segment.messages : segment.message ? [assistantMessage(segment.message)] : [],
  )
  const hasMore = messages
    .flat()
    .some((message) => message.role === 'assistant' && (message.reasoning ?? message.toolCalls) !== undefined)
  const encoded = segments.map((segment, index) => ({
    ...segment,
    ids: elementAt(messages, index).flatMap((message) => tokenizer.encode(contentText(message))),
  }))
  return {
    ok: true,
    value: {
      ...withMask(encoded, base, ALONE_TRAINED),
      endOfTurnId: undefined,
      caveats: [
        'The tokenizer has no chat template: the text of each message is encoded alone, without the tokens between messages.',
        ...(hasMore
          ? ['Reasoning and calls have no tokens, because only a chat template says how they are written.']
          : []),
      ],
    },
  }
}

const contentText = ({ content = '' }: Message): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')

type Import = Extract<Trajectory['provenance'], { kind: 'import' }>
type EncodedAgain = NonNullable<Import['encodedAgain']>

/** Returns the provenance without the missing contents that the encoding supplies. The tokenizer then supplies the texts. */
function encodedProvenance({ provenance }: Trajectory, encodedAgain: EncodedAgain): Trajectory['provenance'] {
  if (provenance.kind !== 'import') return provenance
  const { missing } = provenance
  return {
    ...provenance,
    ...(missing && { missing: missing.filter((content) => !SUPPLIED.has(content)) }),
    encodedAgain,
  }
}

const SUPPLIED: ReadonlySet<string> = new Set(['ids', 'mask'])
