/** Messages as agents of Strands hold them. */
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from './again.ts'

export interface StrandsConversation {
  /** What an agent is given as its messages. */
  readonly history: readonly object[]
  /** What it is asked then; undefined where the last message is no question: it goes on from the history. */
  readonly question: string | undefined
}

/** `messages`: without those of the system. */
export function strandsMessages(messages: readonly Message[]): StrandsConversation {
  const last = messages.at(-1)
  const isAsked = last?.role === 'user'
  return {
    history: grouped(isAsked ? messages.slice(0, -1) : messages),
    question: isAsked ? textOf(last) : undefined,
  }
}

/** Results that follow each other are one message of the user. */
function grouped(messages: readonly Message[]): readonly object[] {
  const all: { readonly role: string; readonly content: object[] }[] = []
  let isAfterResult = false
  for (const message of messages) {
    const isResult = message.role === 'tool'
    const block = isResult
      ? { toolResult: { toolUseId: message.callId ?? 'call', status: 'success', content: [{ text: textOf(message) }] } }
      : { text: textOf(message) }
    if (isResult && isAfterResult) all.at(-1)?.content.push(block)
    else all.push({ role: message.role === 'assistant' ? 'assistant' : 'user', content: [block] })
    isAfterResult = isResult
  }
  return all
}
