/**
 * The conversation of a trajectory in the form of OpenAI's chat completions: thinking beside the content, calls with their
 * arguments as JSON text, and results with the id of their call.
 */

import type { JsonObject } from '#lib/json/json-object.ts'
import { compactArguments } from '#lib/parsers/reading/written-arguments.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message, ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { messageOfResponse, responseText, withResultText } from '#lib/trajectory/messages/conversation.ts'
import { partText, segmentMessages } from '#lib/trajectory/messages/message-parts.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** A message of chat completions. Only the model's messages have `reasoning_content` and `tool_calls`. */
export interface ExportedMessage {
  readonly role: string
  /** null if the texts of the tokens are unknown. */
  readonly content: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: readonly ChatToolCall[]
  readonly tool_call_id?: string
  readonly name?: string
}

/** A tool call of chat completions. */
interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Returns the messages of each segment, in the order of the segments. A response has one message. */
export function chatMessagesBySegment(trajectory: Trajectory): readonly (readonly ExportedMessage[])[] {
  const callIds = createCallIds(trajectory)
  return trajectory.segments.map((segment, index) =>
    segment.kind === 'prompt'
      ? segment.messages.map((message) => contextMessage(withResultText(message, trajectory), callIds))
      : [replyMessage(segment, index, trajectory, callIds)],
  )
}

type GivenCall = NonNullable<Extract<Message, { role: 'assistant' }>['toolCalls']>[number]

/** Ids for calls that have none. A result without the id of its call answers the next such call of the message before it. */
interface CallIds {
  of(calls: readonly GivenCall[]): readonly string[]
  ofResult(): string | undefined
}

function createCallIds(trajectory: Trajectory): CallIds {
  const known = new Set(
    trajectory.segments.flatMap((segment): readonly (string | undefined)[] => {
      if (segment.kind === 'prompt')
        return segment.messages.flatMap((message) => (message.role === 'assistant' ? idsOf(message.toolCalls) : []))
      return idsOf(messageOfResponse(segment, trajectory)?.toolCalls ?? segment.toolCalls)
    }),
  )
  let number = 0
  let unanswered: string[] = []
  const newId = (): string => {
    while (known.has(`call_${number}`)) number++
    return `call_${number++}`
  }
  return {
    of(calls) {
      const ids = calls.map(({ id }) => id ?? newId())
      unanswered = ids.filter((_, index) => calls[index]?.id === undefined)
      return ids
    },
    ofResult: () => unanswered.shift(),
  }
}

const idsOf = (calls: readonly { readonly id?: string | undefined }[] = []) => calls.map(({ id }) => id)

/** A message of chat completions whose content may have images. */
export type ImageMessage = Omit<ExportedMessage, 'content'> & {
  readonly content: ExportedMessage['content'] | readonly JsonObject[]
}

/** Returns the messages with the images of their parts as `image_url`, for formats that may contain them. */
export const imageMessagesBySegment = (trajectory: Trajectory): readonly (readonly ImageMessage[])[] =>
  chatMessagesBySegment(trajectory).map((messages, index) => {
    const segment = elementAt(trajectory.segments, index)
    return segment.kind === 'response'
      ? messages
      : messages.map((message, place) => withImages(message, elementAt(segment.messages, place)))
  })

function withImages(written: ExportedMessage, { content }: Message): ImageMessage {
  if (typeof content !== 'object' || content.every(({ image }) => image === undefined)) return written
  const parts = content.flatMap(({ text, image }): readonly JsonObject[] =>
    image !== undefined
      ? [{ type: 'image_url', image_url: { url: image } }]
      : text !== undefined
        ? [{ type: 'text', text }]
        : [],
  )
  return { ...written, content: parts }
}

/** Returns the tools in the form of chat completions. */
export const chatTools = (tools: readonly ToolSpec[]): readonly JsonObject[] =>
  tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
  }))

function contextMessage(message: Message, callIds: CallIds): ExportedMessage {
  const content = textOfContent(message.content)
  switch (message.role) {
    case 'tool': {
      const callId = message.callId ?? callIds.ofResult()
      return {
        role: 'tool',
        ...(callId !== undefined && { tool_call_id: callId }),
        ...(message.name !== undefined && { name: message.name }),
        content,
      }
    }
    case 'assistant': {
      const ids = callIds.of(message.toolCalls ?? [])
      return {
        role: 'assistant',
        content,
        ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }),
        ...(message.toolCalls && {
          tool_calls: message.toolCalls.map(({ name, input, json }, index) =>
            callOf(elementAt(ids, index), name, json ?? JSON.stringify(input)),
          ),
        }),
      }
    }
    default:
      return { role: message.role, ...(message.name !== undefined && { name: message.name }), content }
  }
}

const textOfContent = (content: Message['content'] = ''): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')

/** A malformed call stays text, since no reader could take its arguments. */
function replyMessage(
  segment: ResponseSegment,
  segmentIndex: number,
  trajectory: Trajectory,
  callIds: CallIds,
): ExportedMessage {
  const ownMessage = messageOfResponse(segment, trajectory)
  if (ownMessage) return contextMessage(ownMessage, callIds)
  callIds.of([])
  if (segment.ids.length === 0 || segment.ids.some((id) => !Object.hasOwn(trajectory.vocab, id)))
    return { role: 'assistant', content: null }
  const texts: string[] = []
  const thoughts: string[] = []
  const calls: ChatToolCall[] = []
  for (const { parts } of segmentMessages(trajectory, segmentIndex))
    for (const part of parts) {
      const parsed = part.kind === 'call' && part.call.kind === 'parsed' ? part.call : undefined
      if (parsed)
        calls.push(callOf(parsed.id, parsed.name, compactArguments(parsed, responseText(segment, trajectory))))
      else (part.kind === 'thinking' ? thoughts : texts).push(partText(part, segment, trajectory))
    }
  return {
    role: 'assistant',
    content: texts.join('\n'),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

const callOf = (id: string, name: string, text: string): ChatToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})
