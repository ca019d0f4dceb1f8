/** Requests to /v1/chat/completions in vLLM's form. */
import { type ChatCall, type ChatMessage, chatBody } from '#lib/trajectory/messages/chat-call.ts'

/** Returns the body without a request id, which has another name in vLLM. */
export function vllmChatBody(call: ChatCall): Record<string, unknown> {
  const { rid: _, ...body } = chatBody({ ...call, messages: call.messages.map(withReasoning) })
  return body
}

/** Returns a message with its reasoning under both names: new versions of vLLM read the new name only. */
const withReasoning = (message: ChatMessage): ChatMessage =>
  typeof message.reasoning_content === 'string' ? { ...message, reasoning: message.reasoning_content } : message
