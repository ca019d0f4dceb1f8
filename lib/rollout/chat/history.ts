/** Builds the SDK's messages of a trajectory that ran over a chat endpoint; the next request sends them. */
import {
  type ContentBlock,
  type JSONValue,
  ReasoningBlock,
  Message as SdkMessage,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '@strands-agents/sdk'
import type { Message, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textContent } from '../loop/sdk-history.ts'
import { findCall } from '../tools/tool-calls.ts'
import { messageCalls } from './reply-message.ts'

/** A conversation as the SDK takes it: the system prompt apart from the other messages. */
export interface SdkConversation {
  readonly system: string | undefined
  readonly messages: readonly SdkMessage[]
}

/** Returns the trajectory's messages, followed by `news`, which no request has sent yet. */
export function conversationOf(trajectory: Trajectory, newMessages: readonly Message[]): SdkConversation {
  const allMessages = [
    ...trajectory.segments.flatMap((segment) => (segment.kind === 'prompt' ? segment.messages : [])),
    ...newMessages,
  ]
  const system = allMessages.filter(isSystem).map(textContent)
  const blocks = [
    ...trajectory.segments.flatMap((segment): readonly Turn[] =>
      segment.kind === 'prompt'
        ? turnsOf(segment.messages, trajectory)
        : [{ role: 'assistant', content: replyBlocks(segment) }],
    ),
    ...turnsOf(newMessages, trajectory),
  ]
  return { system: system.length > 0 ? system.join('\n') : undefined, messages: joinTurns(blocks) }
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly ContentBlock[]
}

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

function turnsOf(messages: readonly Message[], trajectory: Trajectory): readonly Turn[] {
  return messages.flatMap((message): readonly Turn[] => {
    switch (message.role) {
      case 'assistant':
        return [
          {
            role: 'assistant',
            content: [
              ...(message.reasoning === undefined ? [] : [new ReasoningBlock({ text: message.reasoning })]),
              new TextBlock(textContent(message)),
              ...(message.toolCalls ?? []).map(
                ({ id = '', name, input }) => new ToolUseBlock({ toolUseId: id, name, input: input as JSONValue }),
              ),
            ],
          },
        ]
      case 'tool': {
        const result = message.callId === undefined ? undefined : findCall(trajectory, message.callId)?.result
        const text = message.content === undefined ? (result?.text ?? '') : textContent(message)
        const status = result && result.status !== 'success' ? 'error' : 'success'
        return [
          {
            role: 'user',
            content: [new ToolResultBlock({ toolUseId: message.callId ?? '', status, content: [new TextBlock(text)] })],
          },
        ]
      }
      case 'user':
        return [{ role: 'user', content: [new TextBlock(textContent(message))] }]
      default:
        return []
    }
  })
}

/** Returns a reply as the SDK has it: the content that the server reported, and its calls. */
function replyBlocks({ message }: ResponseSegment): readonly ContentBlock[] {
  const content = typeof message?.content === 'string' && message.content !== '' ? [new TextBlock(message.content)] : []
  return [
    ...content,
    ...messageCalls(message).map(
      ({ id, name, input = {} }) => new ToolUseBlock({ toolUseId: id, name, input: input as JSONValue }),
    ),
  ]
}

/** Joins neighbours of one role to one message, as the agent does with the results of one response. */
function joinTurns(turns: readonly Turn[]): readonly SdkMessage[] {
  const merged: { role: Turn['role']; content: ContentBlock[] }[] = []
  for (const { role, content } of turns) {
    const last = merged.at(-1)
    const follows = role === 'user' && last?.role === 'user' && last.content.every(({ type }) => type !== 'textBlock')
    if (follows) last.content.push(...content)
    else merged.push({ role, content: [...content] })
  }
  return merged.map((turn) => new SdkMessage(turn))
}
