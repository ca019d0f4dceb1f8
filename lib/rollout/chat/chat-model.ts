/**
 * A Strands model over a chat endpoint, like that of a pipeline that keeps text: each turn it sends the SDK's messages,
 * and the SDK gets the reply as the server's parsers read it. The record keeps the ids.
 */

import type { Message, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import type { ChatMessage } from '#lib/trajectory/messages/chat-call.ts'
import { AgentModel } from '../loop/agent-model.ts'
import type { Recorder } from '../loop/recorder.ts'
import { toChatMessages } from './messages.ts'
import { messageCalls } from './reply-message.ts'

/**
 * Sends messages and returns the recorded response; throws RunEnded. `news` are the messages that are new in the
 * record.
 */
export type CallChatModel = (newMessages: readonly Message[], sent: readonly ChatMessage[]) => Promise<ResponseSegment>

/**
 * Creates the model. `question` is new in the record at the first call; later calls add the results of earlier calls.
 */
export function chatModel(recorder: Recorder, question: readonly Message[], call: CallChatModel): AgentModel {
  let newMessages = question
  return new AgentModel(recorder, async (messages, options) => {
    const system = typeof options?.systemPrompt === 'string' ? options.systemPrompt : undefined
    const response = await call(newMessages, toChatMessages(system, messages))
    const { message } = response
    const calls = messageCalls(message)
    newMessages = calls.map(({ id }): Message => ({ role: 'tool', callId: id }))
    return {
      response,
      ...(typeof message?.content === 'string' && { text: message.content }),
      // A call whose arguments cannot be read is refused before its tool runs.
      calls: calls.map(({ id, name, input = {} }) => ({ id, name, input })),
    }
  })
}
