/** Writes replies as OpenAI responses: the whole body, or numbered events that add up to it. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { ArrivedTokens } from '#lib/rollout/record/record.ts'
import type { Finish, Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ReplyDelta, ReplyHead, ReplyPart, ReplyUsage, SessionCall, SessionReply } from '../call.ts'
import { logprobEntries } from './logprobs.ts'
import type { BytesOfToken, ReplyStream } from './protocol.ts'
import { type CallFailure, openAiCode, openAiMessage } from './refusal.ts'
import { joinedTokens, sliceTokens } from './reply-parts.ts'

/** Returns the body of an answer. */
export function wholeResponsesReply(reply: SessionReply, call: SessionCall, bytes: BytesOfToken): JsonObject {
  const { parts, finish, tokens } = elementAt(reply.choices, 0)
  const items = parts.map((part, index) => {
    const logprobs =
      part.kind === 'text' && part.tokens ? logprobsOf(sliceTokens(tokens, part.tokens), call, bytes) : []
    return itemOf(part, itemId(part.kind, reply.id, index), 'completed', logprobs)
  })
  return response(reply, call, { finish, items, usage: reply.usage })
}

type Status = 'in_progress' | 'completed'

const PREFIXES: Readonly<Record<ReplyPart['kind'], string>> = { reasoning: 'rs', text: 'msg', call: 'fc' }

const itemId = (kind: ReplyPart['kind'], id: string, index: number): string => `${PREFIXES[kind]}_${id}_${index}`

/** Returns the logprobs of tokens; none if the client wants none. */
const logprobsOf = (tokens: ArrivedTokens, { logprobs }: SessionCall, bytes: BytesOfToken): readonly JsonObject[] =>
  logprobs === undefined ? [] : logprobEntries(tokens, logprobs, bytes)

/** Returns a part as an output item. An item in progress has no content yet. `logprobs` are those of a text. */
function itemOf(part: ReplyPart, id: string, status: Status, logprobs: readonly JsonObject[] = []): JsonObject {
  const isWhole = status === 'completed'
  switch (part.kind) {
    case 'reasoning':
      return {
        id,
        type: 'reasoning',
        summary: [],
        content: isWhole ? [contentOf(part)] : [],
        encrypted_content: null,
        status,
      }
    case 'text':
      return { id, type: 'message', role: 'assistant', status, content: isWhole ? [contentOf(part, logprobs)] : [] }
    case 'call':
      return {
        id,
        type: 'function_call',
        call_id: part.id,
        name: part.name,
        arguments: part.arguments,
        status,
      }
  }
}

const contentOf = (
  { kind, text }: Exclude<ReplyPart, { kind: 'call' }>,
  logprobs: readonly JsonObject[] = [],
): JsonObject =>
  kind === 'reasoning' ? { type: 'reasoning_text', text } : { type: 'output_text', text, annotations: [], logprobs }

interface Progress {
  readonly finish: Finish | undefined
  readonly items: readonly JsonObject[]
  /** Undefined before the end. */
  readonly usage: ReplyUsage | undefined
  readonly failure?: CallFailure
}

/** Returns the response object, which repeats the settings of its request. */
function response(head: ReplyHead, { body, sampling, logprobs }: SessionCall, progress: Progress): JsonObject {
  const { status, incomplete, error = null } = statusOf(progress)
  const createdAt = Math.floor(head.createdAt / 1000)
  return {
    id: `resp_${head.id}`,
    object: 'response',
    created_at: createdAt,
    status,
    background: false,
    completed_at: status === 'completed' ? createdAt : null,
    error,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    instructions: body.instructions ?? null,
    max_output_tokens: sampling.max_new_tokens ?? null,
    model: head.model,
    output: progress.items,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null, ...(isObject(body.reasoning) && body.reasoning) },
    service_tier: 'default',
    store: true,
    temperature: sampling.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: logprobs ?? 0,
    top_p: sampling.top_p ?? 1,
    truncation: 'disabled',
    usage: progress.usage ? usageOf(progress.usage) : null,
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  }
}

interface ResponseStatus {
  readonly status: string
  /** Why the response is incomplete. Undefined: it is not. */
  readonly incomplete?: string
  /** What failed. Undefined: nothing did. */
  readonly error?: { readonly code: string; readonly message: string }
}

function statusOf({ finish, usage, failure }: Progress): ResponseStatus {
  if (failure) return { status: 'failed', error: responseError(failure) }
  if (!usage) return { status: 'in_progress' }
  if (finish?.kind === 'stop') return { status: 'completed' }
  if (finish?.kind === 'length') return { status: 'incomplete', incomplete: 'max_output_tokens' }
  return { status: 'failed', error: { code: SERVER_ERROR, message: failureText(finish) } }
}

const SERVER_ERROR = 'server_error'

const responseError = (failure: CallFailure) => ({
  code: openAiCode(failure) ?? SERVER_ERROR,
  message: openAiMessage(failure),
})

/** An aborted reply has tokens, but no end. */
const failureText = (finish: Finish | undefined): string =>
  finish && 'message' in finish && typeof finish.message === 'string'
    ? `The reply was aborted: ${finish.message}`
    : 'The reply was aborted.'

const usageOf = ({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: ReplyUsage): JsonObject => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
  output_tokens: completionTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: promptTokens + completionTokens,
})

/** Returns the writer of a streamed answer. */
export function responsesStream(head: ReplyHead, call: SessionCall, bytes: BytesOfToken): ReplyStream {
  const items: JsonObject[] = []
  const arrived = createTokenQueue()
  /** Logprobs of the open text. */
  let logprobs: JsonObject[] = []
  let sequence = 0
  let open: ReplyPart | undefined
  let finish: Finish | undefined
  const event = (type: string, body: JsonObject): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...body })}\n\n`
  const whole = (type: string, usage?: ReplyUsage, failure?: CallFailure): string =>
    event(type, { response: response(head, call, { finish, items, usage, ...(failure && { failure }) }) })

  /** Place of the open item in events. */
  const place = (kind: ReplyPart['kind']) => ({
    item_id: itemId(kind, head.id, items.length),
    output_index: items.length,
  })

  const start = (part: ReplyPart): string => {
    const closed = close()
    open = part
    logprobs = []
    const { item_id, output_index } = place(part.kind)
    const added = event('response.output_item.added', { output_index, item: itemOf(part, item_id, 'in_progress') })
    if (part.kind === 'call') return closed + added
    const content = { item_id, output_index, content_index: 0, part: contentOf(part) }
    return closed + added + event('response.content_part.added', content)
  }

  const close = (): string => {
    const part = open
    if (!part) return ''
    open = undefined
    const at = place(part.kind)
    const item = itemOf(part, at.item_id, 'completed', logprobs)
    items.push(item)
    const done = () => event('response.output_item.done', { output_index: at.output_index, item })
    if (part.kind === 'call')
      return (
        event('response.function_call_arguments.done', { ...at, name: part.name, arguments: part.arguments }) + done()
      )
    const content = { ...at, content_index: 0 }
    const text =
      part.kind === 'text'
        ? event('response.output_text.done', { ...content, text: part.text, logprobs })
        : event('response.reasoning_text.done', { ...content, text: part.text })
    return text + event('response.content_part.done', { ...content, part: contentOf(part, logprobs) }) + done()
  }

  const addText = (kind: 'reasoning' | 'text', delta: string, span: Span | undefined): string => {
    const earlier = open?.kind === kind ? open.text : undefined
    const started = earlier === undefined ? start({ kind, text: '' }) : ''
    open = { kind, text: (earlier ?? '') + delta }
    const content = { ...place(kind), content_index: 0, delta }
    const own = span && kind === 'text' ? logprobsOf(arrived.take(span), call, bytes) : []
    for (const one of own) logprobs.push(one)
    return (
      started +
      (kind === 'text'
        ? event('response.output_text.delta', { ...content, logprobs: own })
        : event('response.reasoning_text.delta', content))
    )
  }

  const addArguments = (delta: string): string => {
    if (open?.kind !== 'call') throw new Error('arguments follow the start of their call')
    open = { ...open, arguments: open.arguments + delta }
    return event('response.function_call_arguments.delta', { ...place('call'), delta })
  }

  const write = (delta: ReplyDelta): string => {
    switch (delta.kind) {
      case 'tokens':
        arrived.add(delta.tokens)
        return ''
      case 'reasoning':
      case 'text':
        return addText(delta.kind, delta.text, delta.tokens)
      case 'call':
        return start({ kind: 'call', id: delta.id, name: delta.name, arguments: '' })
      case 'arguments':
        return addArguments(delta.text)
      case 'finish':
        finish = delta.finish
        return close()
      case 'usage': {
        const closed = close()
        const { status } = statusOf({ finish, items, usage: delta.usage })
        return closed + whole(`response.${status}`, delta.usage)
      }
    }
  }

  return {
    begin: () => whole('response.created') + whole('response.in_progress'),
    write,
    fail: (failure) => close() + whole('response.failed', undefined, failure),
    keepAlive: () => ': waiting\n\n',
  }
}

/** Tokens that arrived, of which texts take theirs in order. */
function createTokenQueue() {
  let waiting: ArrivedTokens[] = []
  /** Index in the reply of the first waiting token. */
  let first = 0
  return {
    add(tokens: ArrivedTokens): void {
      waiting.push(tokens)
    },
    /** Returns the tokens of a span. Those before its end do not wait any longer. */
    take({ start, end }: Span): ArrivedTokens {
      const all = joinedTokens(waiting)
      const taken = sliceTokens(all, { start: Math.max(0, start - first), end: Math.max(0, end - first) })
      waiting = [sliceTokens(all, { start: Math.max(0, end - first), end: all.ids.length })]
      first = Math.max(first, end)
      return taken
    },
  }
}
