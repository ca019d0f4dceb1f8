/**
 * The mask of verl's multi-turn rollouts (`AsyncRolloutRequest`): each message is rendered after a constant base conversation, the tokens
 * of the base are cut off by their number, and the rest is appended. All of an assistant message is trained, including what follows its end
 * of turn. If the ids do not end with the generation prompt, it is appended before the message, untrained.
 */

import type { RenderInput } from '#lib/templates/chat-template.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ReadInput } from '../document/input.ts'
import type { ConversationTokens } from './conversation.ts'
import { type MaskedPart, maskedTokensBuilder, replyParts } from './masked-tokens.ts'
import { brokenPrefix, failedRender, type OwnTokens, type RenderedPart, renderPart } from './renders.ts'
import type { Break, TokenRange } from './report.ts'

const BASE: RenderInput['messages'] = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'I am a user.' },
]

/** Computes the mask. Fails if the template refuses the base conversation or the first prompt. */
export function fixedBaseDifference(conversation: ConversationTokens): ReadInput<OwnTokens> {
  const { input, roles, tokenizer, endOfTurnId } = conversation
  const base = renderPart(conversation, BASE, false)
  if (!base.ok) return base
  const opened = renderPart(conversation, BASE, true)
  if (!opened.ok) return opened

  const firstReply = roles.indexOf('assistant')
  const prompt = input.messages.slice(0, firstReply === -1 ? undefined : firstReply)
  const bare = prompt.length > 0 ? renderPart(conversation, prompt, false) : base
  if (!bare.ok) return bare
  const first = prompt.length > 0 ? renderPart(conversation, prompt, true) : opened
  if (!first.ok) return first
  const generationPrompt = first.value.ids.slice(bare.value.ids.length)

  const bytes = (id: number): Uint8Array => tokenizer.bytes(id)
  const own = maskedTokensBuilder(bytes)
  const breaks: Break[] = []
  const merged: TokenRange[] = []
  let isOpen = false
  const openReply = (message: number | undefined): void => {
    if (!isOpen) own.add(generationPrompt, { trained: false, part: 'header', message })
    isOpen = true
  }
  /** Returns the ids that the base conversation with these messages has beyond the base. */
  const delta = (messages: RenderInput['messages'], message: number, from: RenderedPart): readonly number[] => {
    const extended = renderPart(conversation, [...BASE, ...messages], false)
    if (!extended.ok) {
      breaks.push(failedRender(message, 'after the base conversation this message cannot be rendered', extended.error))
      return []
    }
    if (commonIds(from.ids, extended.value.ids) < from.ids.length) {
      const isMerge = extended.value.text.startsWith(from.text)
      breaks.push(brokenPrefix(conversation, message, isMerge ? MERGED : REWRITTEN, from, extended.value))
      if (isMerge && from === opened.value) merged.push({ start: own.length() - 1, end: own.length() })
    }
    return extended.value.ids.slice(from.ids.length)
  }

  if (prompt.length > 0)
    own.add(first.value.ids.slice(0, bare.value.ids.length), { trained: false, part: 'context', message: undefined })
  for (let message = prompt.length; message < roles.length; ) {
    const role = elementAt(roles, message)
    const end = role === 'tool' ? endOfResults(roles, message) : message + 1
    const messages = input.messages.slice(message, end)
    if (role === 'assistant') {
      openReply(message)
      const ids = delta(messages, message, opened.value)
      const parts = replyParts(ids, bytes, endOfTurnId)
      own.add(ids, (index) => ({ trained: true, part: parts[index] ?? 'reply', message }))
    } else {
      const part: MaskedPart = role === 'tool' ? 'tool' : 'context'
      own.add(delta(messages, message, base.value), { trained: false, part, message })
    }
    isOpen = false
    message = end
  }
  if (input.addGenerationPrompt) openReply(undefined)
  return { ok: true, value: { ...own.build(), breaks, merged } }
}

const MERGED = 'one token contains the end of the base conversation and the start of this message'
const REWRITTEN = 'after the base conversation this message changes the text before it'

/** Returns the end of the results of one turn, which are rendered together. */
function endOfResults(roles: readonly string[], start: number): number {
  let end = start
  while (roles[end] === 'tool') end++
  return end
}
