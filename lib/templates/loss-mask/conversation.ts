/** Renders the whole conversation in tokens, and finds what each of them is. */

import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { type Encoding, encodeWithOffsets } from '#lib/rollout/record/offsets.ts'
import type { CompiledTemplate, RenderInput } from '#lib/templates/chat-template.ts'
import { CONTINUED_AND_MASKED } from '#lib/templates/continue-final-message.ts'
import { PyDict } from '#lib/templates/jinja/python/values.ts'
import type { RenderedPiece, Rendering } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { orTemplateFailure, type ReadInput } from '../document/input.ts'
import { type MaskedPart, replyParts } from './masked-tokens.ts'

/** The rendered conversation from which every way to a mask starts. */
export interface ConversationTokens {
  readonly input: RenderInput
  readonly roles: readonly string[]
  readonly template: CompiledTemplate
  readonly tokenizer: Tokenizer
  /** The token that ends a turn; undefined if the template ends turns with none. */
  readonly endOfTurnId: number | undefined
  readonly rendering: Rendering
  readonly encoding: Encoding
  /** The part of each token; `messages` and `lines` have one entry for each token too. */
  readonly parts: readonly MaskedPart[]
  readonly messages: readonly (number | undefined)[]
  readonly lines: readonly number[]
}

/** Renders the conversation. Returns an error if the template raises one, or if the last message is left open. */
export function conversationTokens(
  input: RenderInput,
  template: CompiledTemplate,
  tokenizer: Tokenizer,
): ReadInput<ConversationTokens> {
  if (input.continueFinalMessage) return CONTINUED
  return orTemplateFailure(() => {
    const rendering = template.trace(input)
    const encoding = encodeWithOffsets(tokenizer, rendering.text)
    const roles = input.messages.map(roleOf)
    const pieces = piecesOfTokens(withoutQuotes(rendering.pieces, roles), encoding)
    const facts = {
      input,
      roles,
      template,
      tokenizer,
      endOfTurnId: endOfTurnId({ tokenizer, template }, input.options),
      rendering,
      encoding,
      messages: pieces.map(({ message }) => message),
      lines: pieces.map(({ line }) => line),
    }
    return { ...facts, parts: partsOf(facts, pieces) }
  })
}

/** The error for an open last message: it is a prompt, and not a sample to train on. */
const CONTINUED: ReadInput<never> = {
  ok: false,
  error: { where: 'options', className: 'ValueError', message: CONTINUED_AND_MASKED },
}

function roleOf(message: RenderInput['messages'][number]): string {
  const role = message instanceof PyDict ? message.get('role') : message.role
  return typeof role === 'string' ? role : ''
}

/**
 * Assigns what a later message quotes of a reply to the later message. gpt-oss repeats the name of a called function in the header of its
 * result, and the model does not write it there.
 */
function withoutQuotes(pieces: readonly RenderedPiece[], roles: readonly string[]): readonly RenderedPiece[] {
  let latest = -1
  return pieces.map((piece) => {
    const { message = -1 } = piece
    if (message < latest && roles[message] === 'assistant') return { ...piece, message: latest }
    latest = Math.max(latest, message)
    return piece
  })
}

/** Returns the piece in which each token begins. */
function piecesOfTokens(pieces: readonly RenderedPiece[], { ids, starts }: Encoding): readonly RenderedPiece[] {
  let at = 0
  return ids.map((_, index) => {
    while (at + 1 < pieces.length && elementAt(pieces, at).end <= elementAt(starts, index)) at++
    return elementAt(pieces, at)
  })
}

/** Returns the part of each token. Text that a template writes without a trace to a message (gathered over a loop) is unknown. */
function partsOf(
  conversation: Omit<ConversationTokens, 'parts'>,
  pieces: readonly RenderedPiece[],
): readonly MaskedPart[] {
  const { roles, encoding, rendering, tokenizer } = conversation
  const isTraced = rendering.pieces.some(({ message }) => message !== undefined)
  const parts = pieces.map(({ message, source }): MaskedPart => {
    if (message === undefined) return isTraced && source === 'template' ? 'context' : 'unknown'
    return roles[message] === 'tool' ? 'tool' : roles[message] === 'assistant' ? 'reply' : 'context'
  })
  const opening = generationPrompt(conversation)
  /** Marks the tokens that open a turn, from a character on; returns the index of the token after them. */
  const openFrom = (offset: number, end: number): number => {
    const limit = offset + commonText(opening, rendering.text.slice(offset))
    let index = encoding.starts.findIndex((start) => start >= offset)
    for (; index < end && elementAt(encoding.ends, index) <= limit; index++) parts[index] = 'header'
    return index
  }
  const offsets = new Map(rendering.pieces.toReversed().map(({ message, start }) => [message, start]))
  for (const [message, range] of messageRanges(conversation.messages)) {
    if (roles[message] !== 'assistant') continue
    const start = openFrom(offsets.get(message) as number, range.end)
    const reply = replyParts(
      encoding.ids.slice(start, range.end),
      (id) => tokenizer.bytes(id),
      conversation.endOfTurnId,
    )
    for (const [index, part] of reply.entries()) if (parts[start + index] === 'reply') parts[start + index] = part
  }
  if (conversation.input.addGenerationPrompt && opening !== '' && rendering.text.endsWith(opening))
    openFrom(rendering.text.length - opening.length, encoding.ids.length)
  return parts
}

/** Returns the range from the first to the last token of each message; the ranges of two messages may overlap. */
export function messageRanges(
  messages: readonly (number | undefined)[],
): ReadonlyMap<number, { readonly start: number; readonly end: number }> {
  const ranges = new Map<number, { start: number; end: number }>()
  for (const [index, message] of messages.entries()) {
    if (message === undefined) continue
    const range = ranges.get(message)
    if (range) range.end = index + 1
    else ranges.set(message, { start: index, end: index + 1 })
  }
  return ranges
}

/** Returns the text with which the template opens the first reply; '' if it cannot be found. */
function generationPrompt({
  input,
  roles,
  template,
}: Pick<ConversationTokens, 'input' | 'roles' | 'template'>): string {
  const first = roles.indexOf('assistant')
  const before = input.messages.slice(0, first === -1 ? undefined : first)
  if (before.length === 0) return ''
  const rendered = orTemplateFailure(() =>
    [true, false].map((addGenerationPrompt) => template.render({ ...input, messages: before, addGenerationPrompt })),
  )
  if (!rendered.ok) return ''
  const [open = '', closed = ''] = rendered.value
  return open.startsWith(closed) ? open.slice(closed.length) : ''
}
