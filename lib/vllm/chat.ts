/**
 * Reads one whole reply of /v1/chat/completions: vLLM puts the ids of the prompt beside the choices, and those of the reply in the
 * choice. Reasoning is `reasoning` in new versions and `reasoning_content` in older ones.
 */
import * as z from 'zod'
import type { ChatAnswer, ChatRequest } from '#lib/engine/engine.ts'
import { EngineError, isUnknownPath } from '#lib/engine/http/errors.ts'
import { jsonOf, parseReply } from '#lib/engine/http/json-reply.ts'
import { type Server, tryRepeatedly } from '#lib/engine/http/retry.ts'
import { replyReader } from '#lib/engine/reply.ts'
import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import { chatBody } from '#lib/trajectory/messages/chat-call.ts'
import type { Target } from './completion.ts'
import { replyPart, usageSchema } from './reply.ts'

const PATH = '/v1/chat/completions'
const idsSchema = z.array(z.int().min(0))

const choiceSchema = z.looseObject({
  message: z.looseObject({
    content: z.string().nullish(),
    reasoning: z.string().nullish(),
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
  stop_reason: z.union([z.int(), z.string()]).nullish(),
  token_ids: idsSchema.nullish(),
})

/** Schema of a whole reply of /v1/chat/completions. */
export const chatReplySchema = z.looseObject({
  prompt_token_ids: idsSchema.nullish(),
  choices: z.tuple([choiceSchema]).rest(choiceSchema),
  usage: usageSchema.nullish(),
})
type ChatReply = z.infer<typeof chatReplySchema>

/** Sends a chat request. Throws EngineError, or the reason of the signal. */
export async function chat(
  server: Server,
  request: ChatRequest,
  { model, engine }: Target,
  signal: AbortSignal,
): Promise<ChatAnswer> {
  const { adapter, ...rest } = request
  const { rid: _, ...asked } = chatBody({
    ...rest,
    model: adapter ?? model,
    messages: request.messages.map(withReasoning),
    sampling: sentChatSampling(request.sampling, engine),
  })
  const posting = () => ({
    path: PATH,
    body: (rid: string) => JSON.stringify({ ...asked, request_id: rid }),
    rid: request.rid,
    expected: request.expected,
  })
  try {
    const answers = tryRepeatedly(
      server,
      posting,
      async function* (reply) {
        const value = parseReply(await jsonOf(reply, server.apiKey), chatReplySchema, PATH, server.apiKey)
        yield answerOf(value, request, server.apiKey)
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

/** Parameters of OpenAI's own chat endpoint. The others that a run sends to any server are the neutral defaults of samplers. */
const OF_OPENAI: ReadonlySet<string> = new Set([
  ...['max_completion_tokens', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'stop'],
  'seed',
])

/** Returns the parameters in the engine's form: grammars are in one object of vLLM, which ignores SGLang's names silently. */
function sentChatSampling({ regex, ebnf, ...sampling }: ChatRequest['sampling'], engine: Target['engine']) {
  if (engine === 'openai') return Object.fromEntries(Object.entries(sampling).filter(([name]) => OF_OPENAI.has(name)))
  const structured = { ...(regex !== undefined && { regex }), ...(ebnf !== undefined && { grammar: ebnf }) }
  return { ...sampling, ...(Object.keys(structured).length > 0 && { structured_outputs: structured }) }
}

/** New versions read reasoning under its new name only, so a message has both. */
const withReasoning = (message: ChatRequest['messages'][number]): ChatRequest['messages'][number] =>
  typeof message.reasoning_content === 'string' ? { ...message, reasoning: message.reasoning_content } : message

function answerOf(
  { choices, prompt_token_ids: promptIds, usage }: ChatReply,
  { vocabularySize }: ChatRequest,
  apiKey: string | undefined,
): ChatAnswer {
  const [{ message, token_ids: ids, logprobs: listed, finish_reason: reason, stop_reason: stop }] = choices
  if (!promptIds || !ids)
    throw new EngineError('CHAT_UNSUPPORTED', `the reply to ${PATH} has no token ids of the prompt and the completion`)
  const odd = promptIds.find((id) => id >= vocabularySize)
  if (odd !== undefined)
    throw new EngineError(
      'TOKENIZER_MISMATCH',
      `the server read token id ${odd}, but the last id of the chosen tokenizer is ${vocabularySize - 1}`,
    )
  const logprobs = listed?.content?.map(({ logprob }) => logprob)
  const choice = {
    index: 0,
    token_ids: ids,
    logprobs: { token_logprobs: logprobs ?? ids.map(() => null) },
    // A reply with calls ended at a stop.
    finish_reason: reason === 'tool_calls' ? 'stop' : (reason ?? 'none'),
    stop_reason: stop,
  }
  const reader = replyReader({ vocabularySize, inputIds: promptIds })
  const requested = { inputIds: promptIds, topLogprobsNum: 0, apiKey }
  const { tokens, end, problems } = reader.read(replyPart({ choices: [choice], usage }, requested, false))
  if (!end) throw new Error('a reply with a finish reason has an end')
  const { text: __, ...known } = end
  const { reasoning, reasoning_content: old, ...others } = message
  const thinking = old ?? reasoning
  return {
    promptIds,
    tokens,
    message: { ...others, ...(typeof thinking === 'string' && { reasoning_content: thinking }) },
    end: known,
    problems: logprobs ? problems : [NO_LOGPROBS],
  }
}

const NO_LOGPROBS: Problem = {
  kind: 'missing',
  message: 'The server returned no logprobs (choices[].logprobs).',
  column: 'logprobs',
}
