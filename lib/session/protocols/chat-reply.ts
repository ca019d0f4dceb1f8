/** Writes replies as OpenAI chat completions: the whole body, or chunks that add up to it. */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ArrivedTokens } from '#lib/rollout/record/record.ts'
import type { Finish } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ReplyChoice, ReplyDelta, ReplyHead, ReplyUsage, SessionCall, SessionReply } from '../call.ts'
import { logprobEntries } from './logprobs.ts'
import type { BytesOfToken, ReplyStream } from './protocol.ts'
import { openAiError } from './refusal.ts'
import { BETWEEN_THOUGHTS, joinedTokens } from './reply-parts.ts'

/** Returns the body of an answer. */
export function wholeChatReply(reply: SessionReply, call: SessionCall, bytes: BytesOfToken): JsonObject {
  return {
    ...headOf(reply, 'chat.completion'),
    choices: reply.choices.map((choice, index) => ({
      index,
      message: messageOf(choice),
      logprobs: logprobsOf(choice.tokens, call.logprobs, bytes),
      finish_reason: finishReason(
        choice.finish,
        choice.parts.some(({ kind }) => kind === 'call'),
      ),
    })),
    usage: usageOf(reply.usage),
  }
}

function messageOf({ parts }: ReplyChoice): JsonObject {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const thoughts = parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : []))
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part] : []))
  return {
    role: 'assistant',
    content: texts.length === 0 && calls.length > 0 ? null : texts.join(''),
    refusal: null,
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join(BETWEEN_THOUGHTS) }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      })),
    }),
  }
}

/** Returns the writer of a streamed answer. */
export function chatStream(head: ReplyHead, call: SessionCall, bytes: BytesOfToken): ReplyStream {
  const about = headOf(head, 'chat.completion.chunk')
  const choices = Array.from(
    { length: call.n },
    (): StreamedChoice => ({ tokens: [], lastKind: undefined, hasThoughts: false, hasCalls: false }),
  )
  const event = (body: JsonObject): string => `data: ${JSON.stringify(body)}\n\n`
  /** With include_usage, every chunk has the field; only the last has counts. */
  const noUsage = call.includeUsage ? { usage: null } : {}

  const chunk = (index: number, delta: JsonObject, finish: string | null = null): string => {
    const tokens = joinedTokens(elementAt(choices, index).tokens.splice(0))
    const logprobs = logprobsOf(tokens, call.logprobs, bytes)
    return event({ ...about, choices: [{ index, delta, logprobs, finish_reason: finish }], ...noUsage })
  }

  return {
    begin: () => choices.map((_, index) => chunk(index, { role: 'assistant', content: '' })).join(''),
    write(delta) {
      if (delta.kind === 'usage')
        return `${call.includeUsage ? event({ ...about, choices: [], usage: usageOf(delta.usage) }) : ''}${DONE}`
      const choice = elementAt(choices, delta.choice)
      const previous = choice.lastKind
      if (delta.kind !== 'tokens') choice.lastKind = delta.kind
      switch (delta.kind) {
        case 'tokens':
          choice.tokens.push(delta.tokens)
          return ''
        case 'reasoning': {
          const isNext = choice.hasThoughts && previous !== 'reasoning'
          choice.hasThoughts = true
          return chunk(delta.choice, { reasoning_content: (isNext ? BETWEEN_THOUGHTS : '') + delta.text })
        }
        case 'text':
          return chunk(delta.choice, { content: delta.text })
        case 'call': {
          choice.hasCalls = true
          const called = { name: delta.name, arguments: '' }
          const started = { index: delta.call, id: delta.id, type: 'function', function: called }
          return chunk(delta.choice, { tool_calls: [started] })
        }
        case 'arguments':
          return chunk(delta.choice, { tool_calls: [{ index: delta.call, function: { arguments: delta.text } }] })
        case 'finish':
          return chunk(delta.choice, {}, finishReason(delta.finish, choice.hasCalls))
      }
    },
    fail: (failure) => event({ error: openAiError(failure, 'messages') }) + DONE,
    keepAlive: () => ': waiting\n\n',
  }
}

const DONE = 'data: [DONE]\n\n'

interface StreamedChoice {
  /** Tokens whose logprobs no chunk has yet. */
  readonly tokens: ArrivedTokens[]
  lastKind: ReplyDelta['kind'] | undefined
  hasThoughts: boolean
  hasCalls: boolean
}

const headOf = ({ id, createdAt, model }: ReplyHead, object: string): JsonObject => ({
  id: `chatcmpl-${id}`,
  object,
  created: Math.floor(createdAt / 1000),
  model,
})

/** OpenAI has no reason for an aborted reply; SGLang's word is used. */
function finishReason(finish: Finish, hasCalls: boolean): string {
  if (finish.kind === 'stop') return hasCalls ? 'tool_calls' : 'stop'
  return finish.kind === 'length' ? 'length' : 'abort'
}

/** Returns token counts in the form of chat completions. */
const usageOf = ({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: ReplyUsage): JsonObject => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens },
})

/**
 * Returns the logprobs of all tokens, including those of reasoning, calls and the stop token; null if there are none. `count` is the
 * number of alternatives, undefined if the client wants no logprobs.
 */
const logprobsOf = (tokens: ArrivedTokens, count: number | undefined, bytes: BytesOfToken): JsonObject | null =>
  count === undefined || tokens.ids.length === 0
    ? null
    : { content: logprobEntries(tokens, count, bytes), refusal: null }
