/** Requests to /v1/chat/completions in vLLM's form. */
import type { ChatMessage } from '#lib/trajectory/messages/chat-call.ts'

/** Returns a message with its reasoning under both names: new versions of vLLM read the new name only. */
export const withReasoning = (message: ChatMessage): ChatMessage =>
  typeof message.reasoning_content === 'string' ? { ...message, reasoning: message.reasoning_content } : message
