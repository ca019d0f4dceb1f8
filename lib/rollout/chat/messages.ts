/**
 * The messages of a chat request, as Strands' own OpenAI provider writes them from the agent's messages: content is trimmed,
 * empty replies are left out, arguments are serialized again by JSON.stringify, failed results follow [ERROR], and thinking
 * is written as text. The provider does not export its functions; messages.test.ts compares these with the provider itself.
 */
import type { ContentBlock, Message as SdkMessage, ToolResultBlock } from '@strands-agents/sdk'
import type { ChatMessage } from '#lib/trajectory/messages/chat-call.ts'
import { RunEnded } from '../loop/run-ended.ts'

/** Returns the messages of a request. Throws RunEnded where the provider throws: for an empty tool result. */
export function toChatMessages(system: string | undefined, messages: readonly SdkMessage[]): readonly ChatMessage[] {
  return [
    ...(system === undefined || system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    ...messages.flatMap(({ role, content }) => (role === 'user' ? fromUser(content) : fromAssistant(content))),
  ]
}

/** Returns the results first, because they must follow their calls. */
function fromUser(content: readonly ContentBlock[]): readonly ChatMessage[] {
  const texts = content.flatMap((block) => (block.type === 'textBlock' ? [{ type: 'text', text: block.text }] : []))
  return [
    ...content.flatMap((block) => (block.type === 'toolResultBlock' ? [toolMessage(block)] : [])),
    ...(texts.length > 0 ? [{ role: 'user', content: texts }] : []),
  ]
}

function toolMessage({ toolUseId, status, content }: ToolResultBlock): ChatMessage {
  const text = content
    .map((part) => {
      if (part.type === 'textBlock') return part.text
      return part.type === 'jsonBlock' ? JSON.stringify(part.json) : ''
    })
    .join('')
  if (text.trim() === '')
    throw new RunEnded({
      kind: 'failed',
      code: 'EMPTY_RESULT',
      message: `the result of the call ${toolUseId} is empty, and Strands’ OpenAI provider sends no empty tool messages`,
      hint: 'Let the tool return a text, such as “done”.',
    })
  return { role: 'tool', tool_call_id: toolUseId, content: status === 'error' ? `[ERROR] ${text}` : text }
}

function fromAssistant(content: readonly ContentBlock[]): readonly ChatMessage[] {
  const calls = content.flatMap((block) =>
    block.type === 'toolUseBlock'
      ? [
          {
            id: block.toolUseId,
            type: 'function',
            function: { name: block.name, arguments: JSON.stringify(block.input) },
          },
        ]
      : [],
  )
  const text = content
    .map((block) => {
      if (block.type === 'textBlock') return block.text
      return block.type === 'reasoningBlock' ? (block.text ?? '') : ''
    })
    .join('')
    .trim()
  if (text === '' && calls.length === 0) return []
  return [{ role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }]
}
