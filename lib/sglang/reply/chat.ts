/** The form of SGLang's /v1/chat/completions: ids of the prompt and the reply are fields of the choice. */
import { finishReasonOf, type ReadChat, readChatReply, requestChat } from '#lib/engine/chat.ts'
import type { ChatAnswer, ChatRequest } from '#lib/engine/engine.ts'
import { foreignText } from '#lib/engine/http/errors.ts'
import type { Server } from '#lib/engine/http/retry.ts'
import { chatBody } from '#lib/trajectory/messages/chat-call.ts'
import { type ChatReply, chatReplySchema } from '../server/schema.ts'
import { engineReply } from './engine-reply.ts'

/** Sends a chat request. Throws EngineError, or the reason of the signal. */
export function chat(server: Server, request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer> {
  const read = (reply: ChatReply) => readChat(reply, server.apiKey)
  return requestChat(
    server,
    request,
    { body: chatBody(request), ridField: 'rid', schema: chatReplySchema, read },
    signal,
  )
}

/** Returns the answer in the JSON of a whole reply. Throws EngineError. */
export const chatAnswerIn = (value: unknown, vocabularySize: number, apiKey: string | undefined): ChatAnswer =>
  readChatReply(value, { schema: chatReplySchema, read: (reply) => readChat(reply, apiKey) }, vocabularySize, apiKey)

function readChat({ choices: [choice], usage, metadata }: ChatReply, apiKey: string | undefined): ReadChat {
  const { matched_stop: matched } = choice
  return {
    promptIds: choice.prompt_token_ids,
    ids: choice.response_token_ids,
    logprobs: choice.logprobs?.content?.map(({ logprob }) => logprob),
    message: choice.message,
    part: (ids, logprobs) =>
      engineReply(
        {
          output_ids: [...ids],
          meta_info: {
            finish_reason: { type: finishReasonOf(choice.finish_reason), ...(matched !== null && { matched }) },
            prompt_tokens: usage?.prompt_tokens,
            completion_tokens: usage?.completion_tokens,
            cached_tokens: usage?.prompt_tokens_details?.cached_tokens,
            ...metadata,
          },
        },
        { output: { ids, logprobs } },
        (text) => foreignText(text, apiKey),
      ),
  }
}
