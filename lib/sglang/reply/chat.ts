/**
 * Reads one whole reply of /v1/chat/completions like one of /generate, with the same checks of ids, logprobs and
 * counts. A reply without the token ids of prompt and completion is refused.
 */

import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import { type ChatCall, chatBody } from '#lib/trajectory/messages/chat-call.ts'
import { foreignText, isUnknownPath, SglangError } from '../client/errors.ts'
import { type Server, tryRepeatedly } from '../client/retry.ts'
import { type ChatReply, chatReplySchema, type GenerateReply } from '../server/schema.ts'
import type { ServerIdentity } from '../server/server-identity.ts'
import { jsonOf, parseReply } from './json-reply.ts'
import { type Chunk, type End, replyReader } from './reply.ts'

/** A request to /v1/chat/completions. */
export interface ChatRequest extends ChatCall {
  /** The request id, which has a fixed length. */
  readonly rid: string
  /** The size of the vocabulary. Larger ids belong to another tokenizer. */
  readonly vocabularySize: number
  /** The identity of the server when the run began. Undefined: any server may answer. */
  readonly expected?: ServerIdentity
}

/** The answer to a chat request. */
export interface ChatAnswer {
  /** The id of the request that was answered, if it differs from the requested id. */
  readonly rid?: string
  /** The ids that the server has read: its template applied to the messages, tokenized. */
  readonly promptIds: readonly number[]
  readonly tokens: Chunk['tokens']
  /** The message that the server parsed from the tokens. */
  readonly message: ChatReply['choices'][number]['message']
  readonly end: Omit<End, 'text'>
  readonly problems: readonly Problem[]
}

/** Sends a chat request. Throws SglangError, or the reason of the signal. */
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
    throw new SglangError('CHAT_UNSUPPORTED', `the server has no ${PATH}`, { cause: error })
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
    throw new SglangError('CHAT_UNSUPPORTED', `the reply to ${PATH} has no token ids of the prompt and the completion`)
  const odd = promptIds.find((id) => id >= vocabularySize)
  if (odd !== undefined)
    throw new SglangError(
      'TOKENIZER_MISMATCH',
      `the server read token id ${odd}, but the last id of the chosen tokenizer is ${vocabularySize - 1}`,
    )
  const logprobs = choice?.logprobs?.content
  if (logprobs && logprobs.length !== ids.length)
    throw new SglangError('INCONSISTENT', `the server sent ${logprobs.length} logprobs for ${ids.length} tokens`)
  const reader = replyReader({ vocabularySize, inputIds: promptIds }, redact)
  const { tokens, end, problems } = reader.read({
    output_ids: ids,
    meta_info: {
      finish_reason: finishReason(choice?.finish_reason, choice?.matched_stop),
      prompt_tokens: usage?.prompt_tokens,
      completion_tokens: usage?.completion_tokens,
      cached_tokens: usage?.prompt_tokens_details?.cached_tokens,
      ...metadata,
      output_token_logprobs: ids.map((id, index) => [logprobs?.[index]?.logprob ?? null, id]),
    },
  })
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
