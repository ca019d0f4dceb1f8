/**
 * One reply of /v1/chat/completions, whole, read as one of /generate is: the same checks of its ids, logprobs and counts.
 * Without the ids that the server has read and written it is of no use here, and refused.
 */

import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import { type ChatCall, chatBody } from '#lib/trajectory/messages/chat-call.ts'
import { foreignText, isUnknownPath, SglangError } from '../client/errors.ts'
import { type Server, tried } from '../client/retry.ts'
import { type ChatReply, chatReply, type GenerateReply } from '../server/schema.ts'
import type { ServerIdentity } from '../server/server-identity.ts'
import { jsonOf, parsed } from './json-reply.ts'
import { type Chunk, type End, replyReader } from './reply.ts'

export interface ChatRequest extends ChatCall {
  /** Request id of fixed length. */
  readonly rid: string
  /** Ids must be smaller: others are of another tokenizer. */
  readonly vocabularySize: number
  /** What the server was when the run began. Undefined: whatever answers. */
  readonly expected?: ServerIdentity
}

export interface ChatAnswer {
  /** Id of the request that is answered, where it is another than asked for. */
  readonly rid?: string
  /** What the server has read: its template over the messages, tokenized. */
  readonly promptIds: readonly number[]
  readonly tokens: Chunk['tokens']
  /** As the server made it from the tokens. */
  readonly message: ChatReply['choices'][number]['message']
  readonly end: Omit<End, 'text'>
  readonly problems: readonly Problem[]
}

/** Throws SglangError, or the reason of the signal. */
export async function chat(server: Server, request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer> {
  const asked = chatBody(request)
  const posting = () => ({
    path: PATH,
    body: (rid: string) => JSON.stringify({ ...asked, rid }),
    rid: request.rid,
    expected: request.expected,
  })
  try {
    const answers = tried(
      server,
      posting,
      async function* (reply) {
        const value = parsed(await jsonOf(reply, server.apiKey), chatReply, PATH, server.apiKey)
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
  told: (text: string) => string,
): ChatAnswer {
  const { message, prompt_token_ids: promptIds, response_token_ids: ids } = choice as ChatReply['choices'][number]
  if (!promptIds || !ids)
    throw new SglangError('CHAT_UNSUPPORTED', `the reply to ${PATH} has no ids of what the server read and wrote`)
  const odd = promptIds.find((id) => id >= vocabularySize)
  if (odd !== undefined)
    throw new SglangError(
      'TOKENIZER_MISMATCH',
      `the server read token id ${odd}, and the chosen tokenizer has no such token: its last is ${vocabularySize - 1}`,
    )
  const logprobs = choice?.logprobs?.content
  if (logprobs && logprobs.length !== ids.length)
    throw new SglangError('INCONSISTENT', `the server sent ${logprobs.length} logprobs for ${ids.length} tokens`)
  const reader = replyReader({ vocabularySize, inputIds: promptIds }, told)
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
  message: 'The server gave no logprobs (choices[].logprobs).',
  column: 'logprobs',
}

/** The endpoint's words for what /generate says; a reply with calls ended at a stop. */
function finishReason(
  reason: string | null | undefined,
  matched: number | string | null | undefined,
): GenerateReply['meta_info']['finish_reason'] {
  return { type: reason === 'tool_calls' ? 'stop' : (reason ?? 'none'), ...(matched !== null && { matched }) }
}
