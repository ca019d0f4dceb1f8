/**
 * Reads one whole reply of /v1/chat/completions like one of /generate, with the same checks of ids, logprobs and
 * counts. A reply without the token ids of prompt and completion is refused.
 */

import type { ChatAnswer, ChatRequest } from '#lib/engine/engine.ts'
import { EngineError, foreignText, isUnknownPath } from '#lib/engine/http/errors.ts'
import { jsonOf, parseReply } from '#lib/engine/http/json-reply.ts'
import { type Server, tryRepeatedly } from '#lib/engine/http/retry.ts'
import { type End, replyReader } from '#lib/engine/reply.ts'
import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import { chatBody } from '#lib/trajectory/messages/chat-call.ts'
import { type ChatReply, chatReplySchema, type GenerateReply } from '../server/schema.ts'
import { replyPart } from './reply-part.ts'

/** Sends a chat request. Throws EngineError, or the reason of the signal. */
export async function chat(server: Server, request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer> {
  const asked = chatBody(request)
  const posting = () => ({
    path: PATH,
    body: (rid: string) => JSON.stringify({ ...asked, rid }),
    rid: request.rid,
    expected: request.expected,
  })
  try {
    const answers = tryRepeatedly(
      server,
      posting,
      async function* (reply) {
        const value = parseReply(await jsonOf(reply, server.apiKey), chatReplySchema, PATH, server.apiKey)
        yield answerOf(value, request, (text) => foreignText(text, server.apiKey))
      },
      signal,
    )
    for await (const answer of answers) return answer
  } catch (error) {
    if (!isUnknownPath(error)) throw error
    throw new EngineError('CHAT_UNSUPPORTED', `the server has no ${PATH}`, { cause: error })
  }
  throw new Error('a whole reply is one answer')
}

const PATH = '/v1/chat/completions'

function answerOf(
  { choices: [choice], usage, metadata }: ChatReply,
  { vocabularySize }: ChatRequest,
  redact: (text: string) => string,
): ChatAnswer {
  const { message, prompt_token_ids: promptIds, response_token_ids: ids } = choice as ChatReply['choices'][number]
  if (!promptIds || !ids)
    throw new EngineError('CHAT_UNSUPPORTED', `the reply to ${PATH} has no token ids of the prompt and the completion`)
  const odd = promptIds.find((id) => id >= vocabularySize)
  if (odd !== undefined)
    throw new EngineError(
      'TOKENIZER_MISMATCH',
      `the server read token id ${odd}, but the last id of the chosen tokenizer is ${vocabularySize - 1}`,
    )
  const logprobs = choice?.logprobs?.content
  if (logprobs && logprobs.length !== ids.length)
    throw new EngineError('INCONSISTENT', `the server sent ${logprobs.length} logprobs for ${ids.length} tokens`)
  const { tokens, end, problems } = replyReader({ vocabularySize, inputIds: promptIds }).read(
    replyPart(
      {
        output_ids: ids,
        meta_info: {
          finish_reason: finishReason(choice?.finish_reason, choice?.matched_stop),
          prompt_tokens: usage?.prompt_tokens,
          completion_tokens: usage?.completion_tokens,
          cached_tokens: usage?.prompt_tokens_details?.cached_tokens,
          ...metadata,
        },
      },
      { output: { ids, logprobs: ids.map((_, index) => logprobs?.[index]?.logprob ?? null) } },
      redact,
    ),
  )
  const { text: _, ...known } = end as End
  return { promptIds, tokens, message, end: known, problems: logprobs ? problems : [NO_LOGPROBS] }
}

const NO_LOGPROBS: Problem = {
  kind: 'missing',
  message: 'The server returned no logprobs (choices[].logprobs).',
  column: 'logprobs',
}

/** Maps the endpoint's finish reason to that of /generate: a reply with calls ended at a stop. */
function finishReason(
  reason: string | null | undefined,
  matched: number | string | null | undefined,
): GenerateReply['meta_info']['finish_reason'] {
  return { type: reason === 'tool_calls' ? 'stop' : (reason ?? 'none'), ...(matched !== null && { matched }) }
}
