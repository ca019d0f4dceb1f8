/**
 * The SDK's history of a token-in/token-out trajectory, which only shows whose turn it is. Nothing is rendered from it.
 */
import { type ContentBlock, Message as SdkMessage, TextBlock, ToolResultBlock, ToolUseBlock } from '@strands-agents/sdk'
import { MALFORMED_CALL } from '#lib/rollout/prompt/prompt.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { responseText } from '#lib/trajectory/messages/conversation.ts'
import { findCall } from '../tools/tool-calls.ts'
import { sdkText } from './sdk-text.ts'

/** Returns the conversation so far. */
export function sdkHistory(trajectory: Trajectory): SdkMessage[] {
  return trajectory.segments.flatMap((segment): SdkMessage[] => {
    if (segment.kind === 'prompt') {
      const content = segment.messages.flatMap((message): ContentBlock[] => {
        if (message.role === 'tool' && message.callId !== undefined) return [resultBlock(message.callId, trajectory)]
        return message.role === 'user' ? [new TextBlock(sdkText(() => textContent(message)))] : []
      })
      return content.length > 0 ? [new SdkMessage({ role: 'user', content })] : []
    }
    const uses = segment.toolCalls
      .filter(({ result }) => result !== undefined)
      .map((call) => new ToolUseBlock({ name: call.name ?? MALFORMED_CALL, toolUseId: call.id, input: {} }))
    return [
      new SdkMessage({
        role: 'assistant',
        content: [new TextBlock(sdkText(() => responseText(segment, trajectory))), ...uses],
      }),
    ]
  })
}

/**
 * Returns the history of a resumed run: the conversation before the response, and the message that it answers. A run that answers
 * the last prompt has no response yet.
 */
export function sdkResumption(trajectory: Trajectory) {
  const { segments } = trajectory
  const before = segments.at(-1)?.kind === 'response' ? segments.slice(0, -1) : segments
  const messages = sdkHistory({ ...trajectory, segments: before })
  const question = messages.at(-1)?.role === 'user' ? messages.slice(-1) : []
  return { messages: messages.slice(0, messages.length - question.length), question }
}

/** Returns the first messages of a run: unread results, and those of the user. */
export function sdkQuestion(newMessages: readonly Message[], trajectory: Trajectory): ContentBlock[] {
  const results = newMessages.flatMap((message) =>
    message.role === 'tool' && message.callId ? [resultBlock(message.callId, trajectory)] : [],
  )
  return [
    ...results,
    ...newMessages
      .filter(({ role }) => role === 'user')
      .map((message) => new TextBlock(sdkText(() => textContent(message)))),
  ]
}

function resultBlock(callId: string, trajectory: Trajectory): ToolResultBlock {
  const result = findCall(trajectory, callId)?.result
  return new ToolResultBlock({
    toolUseId: callId,
    status: result?.status === 'success' ? 'success' : 'error',
    content: [new TextBlock(sdkText(() => result?.text ?? ''))],
  })
}

/** Returns the text of a message. Parts without text count as ''. */
export const textContent = ({ content = '' }: Message): string =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('')
