/**
 * Requests to /v1/chat/completions for one whole reply, which is read with the same checks of ids, logprobs and counts as a reply to
 * token ids. A reply without the ids of prompt and completion is refused.
 */
import * as z from 'zod'
import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import type { ChatAnswer, ChatRequest } from './engine.ts'
import { EngineError, isUnknownPath } from './http/errors.ts'
import { jsonOf, parseReply } from './http/json-reply.ts'
import { type Server, tryRepeatedly } from './http/retry.ts'
import { type EngineReply, replyReader } from './reply.ts'

/** The path of the endpoint. */
export const CHAT_PATH = '/v1/chat/completions'

/** Fields of a choice that all engines have. */
export const chatChoiceShape = {
  message: z.looseObject({
    content: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    tool_calls: z
      .array(
        z.looseObject({
          id: z.string().nullish(),
          function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }),
        }),
      )
      .nullish(),
  }),
  logprobs: z.looseObject({ content: z.array(z.looseObject({ logprob: z.number().nullable() })).nullish() }).nullish(),
  finish_reason: z.string().nullish(),
}

/** How an engine writes requests and replies. */
export interface ChatForm<Reply> {
  /** The body without the request id. */
  readonly body: Readonly<Record<string, unknown>>
  /** The field with the request id. */
  readonly ridField: 'rid' | 'request_id'
  readonly schema: z.ZodType<Reply>
  readonly read: (reply: Reply) => ReadChat
}

/** A reply in the form that all engines share. */
export interface ReadChat {
  readonly promptIds: readonly number[] | null | undefined
  readonly ids: readonly number[] | null | undefined
  /** One logprob for each id; undefined if there are none. */
  readonly logprobs: readonly (number | null)[] | undefined
  readonly message: ChatAnswer['message']
  /** Returns the reply as a part. Without logprobs, `logprobs` are null. */
  readonly part: (
    ids: readonly number[],
    logprobs: readonly (number | null)[],
    promptIds: readonly number[],
  ) => EngineReply
}

/** Sends a chat request. Throws EngineError, or the reason of the signal. */
export async function requestChat<Reply>(
  server: Server,
  request: ChatRequest,
  { body, ridField, schema, read }: ChatForm<Reply>,
  signal: AbortSignal,
): Promise<ChatAnswer> {
  const posting = () => ({
    path: CHAT_PATH,
    body: (rid: string) => JSON.stringify({ ...body, [ridField]: rid }),
    rid: request.rid,
    expected: request.expected,
  })
  try {
    const answers = tryRepeatedly(
      server,
      posting,
      async function* (reply) {
        const value = parseReply(await jsonOf(reply, server.apiKey), schema, CHAT_PATH, server.apiKey)
        yield answerOf(read(value), request.vocabularySize)
      },
      signal,
    )
    for await (const answer of answers) return answer
  } catch (error) {
    if (!isUnknownPath(error)) throw error
    throw new EngineError('CHAT_UNSUPPORTED', `the server has no ${CHAT_PATH}`, { cause: error })
  }
  throw new Error('a whole reply is one answer')
}

/** Returns the answer in a whole reply that another program requested. Throws EngineError. */
export const readChatReply = <Reply>(
  value: unknown,
  { schema, read }: Pick<ChatForm<Reply>, 'schema' | 'read'>,
  vocabularySize: number,
  apiKey: string | undefined,
): ChatAnswer => answerOf(read(parseReply(value, schema, CHAT_PATH, apiKey)), vocabularySize)

function answerOf({ promptIds, ids, logprobs, message, part }: ReadChat, vocabularySize: number): ChatAnswer {
  if (!promptIds || !ids)
    throw new EngineError(
      'CHAT_UNSUPPORTED',
      `the reply to ${CHAT_PATH} has no token ids of the prompt and the completion`,
    )
  const odd = promptIds.find((id) => id >= vocabularySize)
  if (odd !== undefined)
    throw new EngineError(
      'TOKENIZER_MISMATCH',
      `the server read token id ${odd}, but the last id of the chosen tokenizer is ${vocabularySize - 1}`,
    )
  if (logprobs && logprobs.length !== ids.length)
    throw new EngineError('INCONSISTENT', `the server sent ${logprobs.length} logprobs for ${ids.length} tokens`)
  const reader = replyReader({ vocabularySize, inputIds: promptIds })
  const { tokens, end, problems } = reader.read(part(ids, logprobs ?? ids.map(() => null), promptIds))
  if (!end) throw new Error('a reply with a finish reason has an end')
  const { text: _, ...known } = end
  return { promptIds, tokens, message, end: known, problems: logprobs ? problems : [NO_LOGPROBS] }
}

const NO_LOGPROBS: Problem = {
  kind: 'missing',
  message: 'The server returned no logprobs (choices[].logprobs).',
  column: 'logprobs',
}

/** Returns the finish reason of a reply to token ids: one with calls ended at a stop. */
export const finishReasonOf = (reason: string | null | undefined): string =>
  reason === 'tool_calls' ? 'stop' : (reason ?? 'none')
