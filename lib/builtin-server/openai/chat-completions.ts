/**
 * Serves /v1/chat/completions: converts messages to a prompt (chat-prompt.ts), generates as /generate does, and converts the text to a
 * message, complete (chat-message.ts) or as a stream (chat-stream.ts).
 */
import type { CallForm } from '#lib/builtin-server/engine/job.ts'
import type { GenerateBody } from '#lib/builtin-server/generate/generate-body.ts'
import type { GenerateServing } from '#lib/builtin-server/generate/generate-endpoint.ts'
import type { ReplyJson } from '#lib/builtin-server/generate/reply.ts'
import { bodyText, parseJsonObject } from '#lib/builtin-server/http/json-body.ts'
import { chatMessage, newCallId } from '#lib/builtin-server/messages/chat-message.ts'
import { QWEN3 } from '#lib/builtin-server/messages/reasoning.ts'
import type { ServedParsers } from '#lib/builtin-server/messages/served-parsers.ts'
import type { AnnouncedTool } from '#lib/builtin-server/messages/tool-specs.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { answerOpenAi } from './answer.ts'
import { type ChatBody, calledTools, readChatBody } from './chat-body.ts'
import { chatPrompt, type RepeatableComputation } from './chat-prompt.ts'
import { type Chat, chatEvents } from './chat-stream.ts'
import { chatLogprobs, createdSeconds, ending, totalUsage, weights } from './openai-reply.ts'

interface ChatServing extends GenerateServing {
  readonly tokenizer: LoadedTokenizer
  readonly settled: RepeatableComputation
  readonly parsers: ServedParsers
}

/** Answers a request. Throws HttpRefusal. */
export async function answerChatCompletion(request: Request, ready: () => Promise<ChatServing>): Promise<Response> {
  const text = await bodyText(request)
  const json = parseJsonObject(text, request, 'fields')
  const serving = await ready()
  const { contextLength } = serving.limits
  const body = readChatBody(json, contextLength, serving.parsers)
  const promptIds =
    body.inputIds ?? (await serving.settled(serving.tokenizer, (tokenizer) => chatPrompt(text, body, tokenizer)))
  const generateBody = generateBodyOf(body, promptIds, serving)
  const chat: Chat = { body, promptIds, vocabulary: serving.vocabulary, count: counterOf(body, serving.tokenizer) }
  return answerOpenAi(generateBody, serving, request.signal, {
    stream: body.stream,
    whole: (replies) => completion(replies, chat),
    events: (growing, streamRequest) => chatEvents(growing, chat, streamRequest),
  })
}

const counterOf = (body: ChatBody, { tokenizer }: LoadedTokenizer): Chat['count'] =>
  body.thinks ? () => reasoningCounter(tokenizer.addedTokens) : () => () => 0

function generateBodyOf(
  body: ChatBody,
  promptIds: readonly number[],
  { limits, tokenizer: { tokenizer } }: ChatServing,
): GenerateBody {
  const room = limits.contextLength - promptIds.length
  return {
    stream: body.stream !== undefined,
    text: undefined,
    rid: body.rid,
    inputIds: promptIds,
    sampling: { ...body.sampling, max_new_tokens: body.sampling.max_new_tokens ?? Math.max(1, room) },
    bound: {
      calls: body.mustCall.map(callForm),
      behind: body.thinks ? tokenizer.encode(QWEN3.close) : [],
    },
    unsupported: [],
    return_logprob: body.returnsLogprobs,
    logprob_start_len: undefined,
    top_logprobs_num: body.topLogprobs,
    token_ids_logprob: undefined,
    return_text_in_logprobs: true,
    return_prompt_token_ids: false,
  }
}

function completion(replies: readonly ReplyJson[], chat: Chat): object {
  const { body, promptIds } = chat
  const { returns } = body
  const [first] = replies as readonly [ReplyJson]
  const reasoning = replies.map(({ output_ids }) => chat.count()(output_ids))
  const counts = replies.map((reply, index) => ({
    prompt: promptIds.length,
    completion: reply.output_ids.length,
    reasoning: elementAt(reasoning, index),
  }))
  return {
    id: first.meta_info.id,
    object: 'chat.completion',
    created: createdSeconds(),
    model: body.model,
    choices: replies.map((reply, index) => choice(reply, index, elementAt(reasoning, index), chat)),
    usage: totalUsage(counts, body.count),
    metadata: weights(first),
    ...((returns.extensionInputIds || returns.extensionOutputIds) && {
      sglext: {
        ...(returns.extensionInputIds && { input_ids: promptIds }),
        ...(returns.extensionOutputIds && { output_ids: replies.map(({ output_ids }) => output_ids) }),
      },
    }),
  }
}

function choice(reply: ReplyJson, index: number, reasoningTokens: number, chat: Chat): object {
  const { body, promptIds, vocabulary } = chat
  const { returns } = body
  const { content, reasoning, calls } = chatMessage(reply.text, body.reasoning, calledTools(body))
  const isCall = calls.length > 0 && reply.meta_info.finish_reason?.type === 'stop'
  return {
    index,
    message: {
      role: 'assistant',
      content,
      reasoning_content: reasoning ?? null,
      ...(calls.length > 0 && {
        tool_calls: calls.map((call, place) => ({ id: newCallId(), index: place, type: 'function', function: call })),
      }),
    },
    logprobs: body.returnsLogprobs ? chatLogprobs(reply, vocabulary) : null,
    ...(isCall ? { finish_reason: 'tool_calls', matched_stop: null } : ending(reply)),
    ...(returns.promptIds && { prompt_token_ids: promptIds }),
    ...(returns.replyIds && { response_token_ids: reply.output_ids }),
    ...(returns.metaInfo && { meta_info: { ...reply.meta_info, reasoning_tokens: reasoningTokens } }),
  }
}

/** Returns a counter of the reply's tokens up to the one that closes its reasoning; it counts all if no token does. */
function reasoningCounter(
  addedTokens: readonly { readonly content: string; readonly id: number }[],
): (ids: readonly number[]) => number {
  const close = addedTokens.find(({ content }) => content === '</think>')?.id
  let count = 0
  let isClosed = false
  return (ids) => {
    for (const id of ids) {
      if (isClosed) break
      count++
      isClosed = id === close
    }
    return count
  }
}

/** Returns the form of a call for SGLang's `--tool-call-parser qwen`: arguments are any object, unless the tool is strict. */
const callForm = ({ name, inputSchema, isStrict }: AnnouncedTool): CallForm => ({
  begin: `<tool_call>\n{"name":${JSON.stringify(name)}, "arguments":`,
  schema: JSON.stringify(isStrict ? inputSchema : { type: 'object' }),
  end: '}\n</tool_call>',
})
