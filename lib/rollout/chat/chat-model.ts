/**
 * A Strands model over a chat endpoint, as a pipeline has it that keeps text: each turn it sends the messages that the SDK
 * holds, and the SDK gets what the server's parsers made of the reply. The record keeps the ids.
 */

import type { Message, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import type { ChatMessage } from '#lib/trajectory/messages/chat-call.ts'
import { AgentModel } from '../loop/agent-model.ts'
import type { Recorder } from '../loop/recorder.ts'
import { chatMessages } from './messages.ts'
import { messageCalls } from './reply-message.ts'

/** Sends messages and returns the recorded response; throws RunEnded. `news`: those of the record that are new. */
export type CallChatModel = (news: readonly Message[], sent: readonly ChatMessage[]) => Promise<ResponseSegment>

/** `question`: what is new to the record at the first call; later the results of the calls before. */
export function chatModel(recorder: Recorder, question: readonly Message[], call: CallChatModel): AgentModel {
  let news = question
  return new AgentModel(recorder, async (messages, options) => {
    const system = typeof options?.systemPrompt === 'string' ? options.systemPrompt : undefined
    const response = await call(news, chatMessages(system, messages))
    const { message } = response
    const calls = messageCalls(message)
    news = calls.map(({ id }): Message => ({ role: 'tool', callId: id }))
    return {
      response,
      ...(typeof message?.content === 'string' && { text: message.content }),
      calls: calls.map(({ id, name, input }) => ({ id, name, input: JSON.parse(input) })),
    }
  })
}
