/**
 * Reads one whole reply of /v1/chat/completions: vLLM puts the ids of the prompt beside the choices, and those of the reply in the
 * choice. Reasoning is `reasoning` in new versions and `reasoning_content` in older ones.
 */
import * as z from 'zod'
import { chatChoiceShape, finishReasonOf, type ReadChat, readChatReply, requestChat } from '#lib/engine/chat.ts'
import type { ChatAnswer, ChatRequest } from '#lib/engine/engine.ts'
import type { Server } from '#lib/engine/http/retry.ts'
import { vllmChatBody } from './chat-form.ts'
import type { CompletionTarget } from './completion.ts'
import { engineReply, usageSchema } from './reply.ts'

const idsSchema = z.array(z.int().min(0))

const choiceSchema = z.looseObject({
  ...chatChoiceShape,
  message: chatChoiceShape.message.extend({ reasoning: z.string().nullish() }),
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
export function chat(
  server: Server,
  request: ChatRequest,
  { model, engine }: CompletionTarget,
  signal: AbortSignal,
): Promise<ChatAnswer> {
  const { adapter, ...rest } = request
  const body = vllmChatBody({
    ...rest,
    model: adapter ?? model,
    sampling: sentChatSampling(request.sampling, engine),
  })
  const read = (reply: ChatReply) => readChat(reply, server.apiKey)
  return requestChat(server, request, { body, ridField: 'request_id', schema: chatReplySchema, read }, signal)
}

/** Returns the answer in the JSON of a whole reply. Throws EngineError. */
export const chatAnswerIn = (value: unknown, vocabularySize: number, apiKey: string | undefined): ChatAnswer =>
  readChatReply(value, { schema: chatReplySchema, read: (reply) => readChat(reply, apiKey) }, vocabularySize, apiKey)

/** Parameters of OpenAI's own chat endpoint. The others that a run sends to any server are the neutral defaults of samplers. */
const OF_OPENAI: ReadonlySet<string> = new Set([
  ...['max_completion_tokens', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'stop'],
  'seed',
])

/** Returns the parameters in the engine's form: grammars are in one object of vLLM, which ignores SGLang's names silently. */
function sentChatSampling({ regex, ebnf, ...sampling }: ChatRequest['sampling'], engine: CompletionTarget['engine']) {
  if (engine === 'openai') return Object.fromEntries(Object.entries(sampling).filter(([name]) => OF_OPENAI.has(name)))
  const structured = { ...(regex !== undefined && { regex }), ...(ebnf !== undefined && { grammar: ebnf }) }
  return { ...sampling, ...(Object.keys(structured).length > 0 && { structured_outputs: structured }) }
}

function readChat({ choices, prompt_token_ids: promptIds, usage }: ChatReply, apiKey: string | undefined): ReadChat {
  const [{ message, token_ids: ids, logprobs: listed, finish_reason: reason, stop_reason: stop }] = choices
  const { reasoning, reasoning_content: old, ...others } = message
  const thinking = old ?? reasoning
  return {
    promptIds,
    ids,
    logprobs: listed?.content?.map(({ logprob }) => logprob),
    message: { ...others, ...(typeof thinking === 'string' && { reasoning_content: thinking }) },
    part: (outputIds, logprobs, inputIds) => {
      const choice = {
        index: 0,
        token_ids: [...outputIds],
        logprobs: { token_logprobs: [...logprobs] },
        finish_reason: finishReasonOf(reason),
        stop_reason: stop,
      }
      return engineReply({ choices: [choice], usage }, { inputIds, topLogprobsNum: 0, apiKey }, false)
    },
  }
}
