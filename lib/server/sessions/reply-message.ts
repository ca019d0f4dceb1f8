import { exactText } from '#lib/json/written-json.ts'
import type { ReplyPart } from '#lib/session/call.ts'
import { BETWEEN_THOUGHTS } from '#lib/session/protocols/reply-parts.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'

type AssistantMessage = Extract<Message, { role: 'assistant' }>

/** Returns the message that a client sends back for a reply with these parts. */
export function toClientMessage(parts: readonly ReplyPart[]): AssistantMessage {
  const textOf = (kind: 'reasoning' | 'text', between: string) =>
    parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join(between)
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [callOf(part)] : []))
  const reasoning = textOf('reasoning', BETWEEN_THOUGHTS)
  return {
    role: 'assistant',
    content: textOf('text', ''),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { toolCalls: calls }),
  }
}

function callOf({ id, name, arguments: text }: Extract<ReplyPart, { kind: 'call' }>) {
  const input = inputOf(text)
  return { id, name, input, ...exactText(text, input) }
}

/** Returns arguments as clients send them back: parsed, or as their text if a call was begun and became malformed. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
